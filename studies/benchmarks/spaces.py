"""Variables of different sizes: the evaluations that twelve decades between them cost, beside scaling the problem by hand.

    python studies/benchmarks/spaces.py                            # into results/spaces.json
    python studies/benchmarks/spaces.py --table docs/variables.md  # runs nothing, writes the table into a page

Each problem is a function of u, of order 1 in all coordinates. By hand: its argument is u. By its own units: the argument is
w u with w from 1e-6 to 1e6, as a `thalweg.Space` of ranges, as logarithms of ranges, or as `scale` without bounds. Landscapes,
seeds, start and first steps are the same in units of w; evaluations count until the target is reached. Report landscapes are
1000 to 1019, in dimension 10 with a model 1000 to 1009; development landscapes 0 to 63.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from battery import DEVELOPMENT, REPORT
from shared import (
    Row,
    add_table,
    deliver,
    infinite,
    interval,
    load_rows,
    make_parser,
    markdown,
    mean_ratio,
    provenance,
    read_rows,
    save_rows,
)

import thalweg
from thalweg import Real, Space
from thalweg.objectives.problems import random_rotation

TARGET = 1e-8
BUDGET = 3000
"""Evaluations at most, for each coordinate."""
ALGORITHMS = (("cma", None), ("gnn-cma", None), ("cma", "quadratic"), ("gnn-cma", "quadratic"))
DIMENSIONS = (5, 10)

Values = Callable[[np.ndarray], float]


def widths(d: int) -> np.ndarray:
    """Return the sizes of the variables, over twelve decades."""
    return 10.0 ** np.linspace(-6, 6, d)


def ellipsoid(d: int, seed: int) -> Values:
    """Return a rotated ellipsoid of condition 1e3 with its minimum in the middle half of the unit box."""
    rng = np.random.default_rng((seed, d))
    R, centre, axes = random_rotation(rng, d), rng.uniform(0.25, 0.75, d), 10 ** np.linspace(0, 3, d)
    return lambda u: float(axes @ (R @ (u - centre)) ** 2)


def rosenbrock(d: int, seed: int) -> Values:
    """Return Rosenbrock's function with its minimum moved."""
    shift = np.random.default_rng((seed, d)).uniform(-0.5, 0.5, d)

    def values(u: np.ndarray) -> float:
        z = u - shift + 1
        return float(100 * np.sum((z[1:] - z[:-1] ** 2) ** 2) + np.sum((1 - z[:-1]) ** 2))

    return values


def pairs(problem: str, d: int, seed: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the arguments of `minimize` by hand, and in units of the variables."""
    w = widths(d)
    if problem == "open, `scale`":
        inside = rosenbrock(d, seed)
        by_hand = (inside, np.zeros(d), {"sigma0": 0.5})
        return by_hand, (lambda x: inside(x / w), np.zeros(d), {"sigma0": 0.5, "scale": w})
    inside = ellipsoid(d, seed)
    by_hand = (inside, None, {"bounds": [(0, 1)] * d})
    if problem == "ranges":
        space = Space([Real(0, each) for each in w.tolist()])
        return by_hand, (lambda x: inside(x / w), space, {})
    # all variables together over the twelve decades: each has a range of two, one beside the other
    space = Space([Real(each / 10, each * 10, log=True) for each in w.tolist()])
    return by_hand, (lambda x: inside((np.log10(x / w) + 1) / 2), space, {})


PROBLEMS = ("ranges", "logarithms", "open, `scale`")


def evaluations(arguments: tuple[Any, ...], method: str, model: str | None, d: int, seed: int) -> float | None:
    """Return the evaluations to the target; None if it was not reached."""
    fun, x0, settings = arguments
    settings = {**settings, "method": method, "model": model, "seed": seed, "ftarget": TARGET, "max_evals": BUDGET * d}
    found = thalweg.minimize(fun, x0, **settings)
    return found.nfev if found.fun <= TARGET else None


def measure(problem: str, d: int, method: str, model: str | None, seeds: Sequence[int]) -> Row:
    """Return a row: evaluations by hand and in units, one for each seed."""
    both = [[evaluations(each, method, model, d, seed) for each in pairs(problem, d, seed)] for seed in seeds]
    by_hand, units = zip(*both, strict=True)
    return {"problem": problem, "d": d, "method": method, "model": model, "by_hand": list(by_hand), "units": list(units)}


def show(rows: Sequence[Row]) -> str:
    """Return a table: runs that reach the target, mean evaluations of those that do both ways, and their ratio."""
    lines: list[list[str]] = []
    for row in rows:
        one, two = infinite(row["by_hand"]), infinite(row["units"])
        both = np.isfinite(one) & np.isfinite(two)
        name = f"`{row['method']}`" + (", model" if row["model"] else "")
        solved = f"{np.isfinite(one).sum()} and {np.isfinite(two).sum()} of {len(one)}"
        means = [f"{each[both].mean():,.0f}" for each in (one, two)]
        lines.append([row["problem"], str(row["d"]), name, solved, *means, interval(mean_ratio(two, one))])
    head = ["described by", "d", "method", "solved by hand and in units", "evaluations by hand", "in units", "ratio"]
    return markdown(head, lines)


def main() -> None:
    parser = make_parser(__doc__, "spaces")
    parser.add_argument(
        "--number", type=int, default=20, help="number of landscapes; in dimension 10 with a model half (default: 20)"
    )
    parser.add_argument("--development", action="store_true", help="use development landscapes instead of report landscapes")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        known = DEVELOPMENT if options.development else REPORT
        meta = provenance("spaces", number=options.number, first=known[0], target=TARGET, budget=BUDGET)
        rows = load_rows(options.out, meta)
        done = {(row["problem"], row["d"], row["method"], row["model"]) for row in rows}
        for d in DIMENSIONS:
            for method, model in ALGORITHMS:
                seeds = known[: options.number // 2 if model and d == 10 else options.number]
                for problem in PROBLEMS:
                    if (problem, d, method, model) not in done:
                        rows.append(measure(problem, d, method, model, seeds))
                        save_rows(options.out, meta, rows)
    deliver(show(read_rows(options.out)), options.table, "spaces")


if __name__ == "__main__":
    main()
