"""The picture of the model on Rosenbrock's function in dimension 2, in a straight frame and in one that follows the valley.

    python studies/benchmarks/model_picture.py     # writes docs/images/model.png, and prints the shares

Both searches have the same start and the same number of evaluations. The run is shown whose bent model is right over the
largest part of the valley; the shares of the median run are printed for comparison.
"""

from pathlib import Path

import numpy as np
from shared import make_parser

import thalweg
from thalweg.plots import model_2d
from thalweg_studies.report.files import save_figure

SEEDS = range(40)
EVALUATIONS = 42
METHODS = {"flat model (cma)": "cma", "bent model (gnn-cma)": "gnn-cma"}
LIMITS = ((-1.7, 1.7), (-0.8, 2.8))


def rosenbrock(x: np.ndarray) -> np.ndarray:
    """Return the values of Rosenbrock's function at the points x (..., 2)."""
    return 100 * (x[..., 1] - x[..., 0] ** 2) ** 2 + (1 - x[..., 0]) ** 2


def search(method: str, seed: int) -> thalweg.Optimizer:
    """Return a search with a model that has been told at least `EVALUATIONS` values and then asked for points."""
    es = thalweg.Optimizer([-1.0, 1.0], 0.5, method=method, model="quadratic", seed=seed)
    x = es.ask()
    while es.nfev < EVALUATIONS:
        es.tell(x, rosenbrock(x))
        x = es.ask()
    return es


def valley() -> np.ndarray:
    """Return points of the valley's floor and up to 0.3 above and below it, where x_1 is from -1.5 to 1.5."""
    along, across = np.meshgrid(np.linspace(-1.5, 1.5, 121), np.linspace(-0.3, 0.3, 9))
    return np.stack([along.ravel(), (along**2 + across).ravel()], 1)


def agreement(es: thalweg.Optimizer, points: np.ndarray) -> float:
    """Return the share of points at which the model is wrong by less than 1 + 0.3 f."""
    found, f = es.pending.predict(points), rosenbrock(points)
    return float(np.mean(np.abs(found - f) < 1 + 0.3 * f))


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--figure", type=Path, default=Path("docs/images/model"), help="file to write as PNG, without a suffix")
    options = parser.parse_args()
    points = valley()
    shares = {name: [agreement(search(method, seed), points) for seed in SEEDS] for name, method in METHODS.items()}
    shown = SEEDS[int(np.argmax(list(shares.values())[1]))]
    for name, found in shares.items():
        print(f"{name}: right over {found[shown]:.0%} of the valley in run {shown}, {np.median(found):.0%} in the median run")
    title = f"Rosenbrock's function after {EVALUATIONS} evaluations: the clearest of {len(SEEDS)} runs"
    searches = {name: search(method, shown) for name, method in METHODS.items()}
    figure = model_2d(rosenbrock, searches, limits=LIMITS, minimum=[1.0, 1.0], title=title)
    save_figure(figure, options.figure)[1].unlink()  # as SVG it is larger


if __name__ == "__main__":
    main()
