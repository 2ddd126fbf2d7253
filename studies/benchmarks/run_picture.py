"""The figure of a run with a bend, a model and failures, as docs/show.md has it.

    python studies/benchmarks/run_picture.py     # writes docs/images/run.png, and prints what `thalweg show` prints

A simulation is imitated by Rosenbrock's function in dimension 6, which takes about a hundredth of a second and fails where a
variable is above 1.5.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
from shared import make_parser

import thalweg
from thalweg import plots
from thalweg.cli.show import describe
from thalweg.plots.recorded import read
from thalweg_studies.report.files import save_figure

D = 6
SPACE = thalweg.Space(
    **{name: thalweg.Real(-2, 2, x0=-1.0) for name in ("inlet", "outlet", "chord", "twist", "sweep", "camber")}
)
PAUSE = 0.01
"""Mean duration of an evaluation, in seconds."""


def simulation(point: dict[str, float]) -> float:
    """Return the value of Rosenbrock's function after some time; fail where a variable is large."""
    x = np.array([*point.values()])
    time.sleep(PAUSE * (0.5 + abs(np.sin(1e4 * x.sum()))))
    if x.max() > 1.5:
        raise RuntimeError("the flow separates")
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--figure", type=Path, default=Path("docs/images/run"), help="file to write as PNG, without a suffix")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.ckpt")
        thalweg.minimize(simulation, SPACE, model="quadratic", seed=1, checkpoint=path)
        run = read(path)
    print(describe(run))
    save_figure(plots.run(run), options.figure)[1].unlink()  # as SVG it is larger


if __name__ == "__main__":
    main()
