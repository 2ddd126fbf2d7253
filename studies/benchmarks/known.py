"""Known evaluations: evaluations to the target from a start with known points over those from the default start.

    python studies/benchmarks/known.py                          # into results/known.json; goes on where it was cut
    python studies/benchmarks/known.py --table docs/known.md    # runs nothing, writes the tables into a page

Box [-5, 5]^d with the default start, its middle and sigma0 = 3; minimum uniform in [-3, 3]^d, ellipsoid (condition 1e6) and
Rosenbrock's function rotated at random. Targets 1e-8. The known points are a Latin hypercube or the log of a run of `cma` with
another seed that was ended early. They are of the function itself; of a similar one, whose minimum is 0.3 sigma0 away in a
random direction and whose values are 3 f + 7; or mislead: of a function with its minimum 2 sigma0 away and larger values. The
reference, `cmaes` of that package, starts from `get_warm_start_mgd` in all three. Report seeds 1000 and up.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from battery import REPORT
from scipy.stats import qmc
from shared import (
    Row,
    add_table,
    deliver,
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
from thalweg.objectives.problems import random_rotation

Function = Callable[[np.ndarray], float]
Table = tuple[np.ndarray, np.ndarray]

FUNCTIONS = ("sphere", "ellipsoid", "rosenbrock", "rastrigin")
DIMENSIONS = (5, 10)
SOURCES = {"hypercube, 100 d": 100, "run, 20 d": 20, "run, 100 d": 100}
"""Known points: their number in units of d."""
CASES = (
    ("none", ""),
    ("itself", "hypercube, 100 d"),
    ("itself", "run, 20 d"),
    ("itself", "run, 100 d"),
    ("similar", "run, 100 d"),
    ("misleading", "run, 100 d"),
)
"""Kind and source of the known points."""
ALGORITHMS = ("cma", "gnn-cma", "gnn-cma+quadratic", "cmaes")
TARGET = 1e-8
BUDGET = 10_000
"""Evaluations of a run, in units of d."""


def function(name: str, d: int, shift: np.ndarray, R: np.ndarray) -> Function:
    """Return a function with its minimum 0 at `shift`."""
    axes = 10 ** np.linspace(0, 6, d)

    def f(x: np.ndarray) -> float:
        y = x - shift
        if name == "sphere":
            return float(y @ y)
        if name == "rastrigin":
            return float(10 * d + np.sum(y**2 - 10 * np.cos(2 * np.pi * y)))
        z = R @ y
        if name == "ellipsoid":
            return float(axes @ z**2)
        z = z + 1
        return float(np.sum(100 * (z[1:] - z[:-1] ** 2) ** 2 + (1 - z[:-1]) ** 2))

    return f


class Problem:
    """A function with its known points; the same for all algorithms."""

    def __init__(self, name: str, d: int, seed: int) -> None:
        rng = np.random.default_rng((seed, d))
        self.name, self.d, self.seed = name, d, seed
        self.shift, self.R = rng.uniform(-3, 3, d), random_rotation(rng, d)
        self.f = function(name, d, self.shift, self.R)
        self.direction = rng.standard_normal(d)
        self.direction /= np.linalg.norm(self.direction)

    def source(self, kind: str) -> Function:
        """Return the function that the known points are of."""
        if kind == "itself":
            return self.f
        # misleading: towards the centre and beyond it, so that the other minimum lies in the box
        direction = self.direction if kind == "similar" else -self.shift / np.linalg.norm(self.shift)
        moved = function(self.name, self.d, self.shift + (0.9 if kind == "similar" else 6.0) * direction, self.R)
        scale, constant = (3.0, 7.0) if kind == "similar" else (1.0, 1e3)
        return lambda x: scale * moved(x) + constant

    def known(self, kind: str, source: str) -> Table:
        """Return points and values."""
        f, n = self.source(kind), SOURCES[source] * self.d
        if source.startswith("hypercube"):
            X = 10 * qmc.LatinHypercube(self.d, rng=np.random.default_rng((self.seed, 7))).random(n) - 5
            return X, np.array([f(x) for x in X])
        es = thalweg.Optimizer(bounds=[(-5, 5)] * self.d, method="cma", seed=self.seed + 100_000, max_evals=n, ftarget=-np.inf)
        points, told = list[np.ndarray](), list[float]()
        while len(told) < n and not es.stop():
            asked = es.ask()
            values = [f(x) for x in asked]
            es.tell(asked, values)
            points, told = [*points, *asked], [*told, *values]
        return np.array(points[:n]), np.array(told[:n])


def run(problem: Problem, algorithm: str, known: Table | None, *, similar: bool, **more: Any) -> float | None:
    """Return the evaluations to the target over all runs of a search with restarts; None if the budget was used up."""
    budget = BUDGET * problem.d
    if algorithm == "cmaes":
        return run_cmaes(problem, known, budget)
    method, _, model = algorithm.partition("+")
    given = None if known is None else thalweg.Known(*known, similar=similar, **more)
    found = thalweg.minimize(
        problem.f,
        bounds=[(-5, 5)] * problem.d,
        method=method,
        model=model or None,
        known=given,
        seed=problem.seed,
        ftarget=TARGET,
        max_evals=budget,
        restarts=9,
    )
    return float(found.nfev) if found.fun <= TARGET else None


def run_cmaes(problem: Problem, known: Table | None, budget: int) -> float | None:
    """Do the same by the package `cmaes`, whose restarts (IPOP) begin at random points of the box."""
    from cmaes import CMA, get_warm_start_mgd

    d, rng = problem.d, np.random.default_rng(problem.seed)
    # in the unit cube, for which the defaults of the warm start are meant
    bounds = np.tile([0.0, 1.0], (d, 1))
    start: dict[str, Any] = {"mean": np.full(d, 0.5), "sigma": 0.3}
    if known is not None:
        solutions = [(x / 10 + 0.5, float(f)) for x, f in zip(*known, strict=True)]
        start = dict(zip(("mean", "sigma", "cov"), get_warm_start_mgd(solutions), strict=True))
    popsize, nfev = 4 + int(3 * np.log(d)), 0
    while nfev < budget:
        es = CMA(**start, bounds=bounds, seed=problem.seed, population_size=popsize)
        while nfev < budget and not es.should_stop():
            told: list[tuple[np.ndarray, float]] = []
            for _ in range(popsize):
                x = es.ask()
                nfev += 1
                told.append((x, problem.f(10 * (x - 0.5))))
            es.tell(told)
            if min(f for _, f in told) <= TARGET:
                return float(nfev)
        start, popsize = {"mean": rng.uniform(size=d), "sigma": 0.3}, 2 * popsize
    return None


def measure(name: str, d: int, algorithm: str, kind: str, source: str, seeds: Sequence[int], **more: Any) -> Row:
    """Return a row: the evaluations of each seed."""
    found: list[float | None] = []
    for seed in seeds:
        problem = Problem(name, d, seed)
        known = None if kind == "none" else problem.known(kind, source)
        found.append(run(problem, algorithm, known, similar=kind == "similar", **more))
    return {"function": name, "d": d, "algorithm": algorithm, "kind": kind, "source": source, "evaluations": found}


def plan() -> list[tuple[str, int, str, str, str]]:
    """Return what is measured: function, dimension, algorithm, kind and source; what matters most comes first."""
    return [
        (name, d, algorithm, *case)
        for d in DIMENSIONS
        for name in FUNCTIONS
        for case in CASES
        for algorithm in ALGORITHMS
        if name != "rastrigin" or (d == 5 and "+" not in algorithm)
    ]


def show(rows: Sequence[Row]) -> str:
    """Return a table: mean evaluations without known points, and with them over those without, with 95 % intervals."""
    found = {(r["function"], r["d"], r["algorithm"], r["kind"], r["source"]): r["evaluations"] for r in rows}
    head = ["function", "d", "method", "evaluations without", *(f"{kind}: {source}" for kind, source in CASES[1:])]
    lines: list[list[str]] = []
    for d in DIMENSIONS:
        for name in FUNCTIONS:
            for algorithm in ALGORITHMS:
                plain = found.get((name, d, algorithm, *CASES[0]))
                if plain is None or any((name, d, algorithm, *case) not in found for case in CASES):
                    continue  # not yet measured
                cells: list[str] = []
                for case in CASES[1:]:
                    one = found[name, d, algorithm, *case]
                    lost = sum(each is None for each in one)
                    ratio = mean_ratio(finite_or_nan(one), finite_or_nan(plain))
                    cells.append(interval(ratio) + (f", {lost} failed" if lost else ""))
                failed = sum(each is None for each in plain)
                count = f"{np.nanmean(finite_or_nan(plain)):,.0f}" + (f", {failed} failed" if failed else "")
                lines.append([name, str(d), f"`{algorithm}`", count, *cells])
    return markdown(head, lines)


def finite_or_nan(values: Sequence[float | None]) -> np.ndarray:
    """Return the values as numbers, NaN for None."""
    return np.array([np.nan if value is None else value for value in values])


def main() -> None:
    parser = make_parser(__doc__, "known")
    parser.add_argument("--number", type=int, default=10, help="number of problems of each kind (default: 10)")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        meta = provenance("known", ("thalweg", "jax", "numpy", "cmaes"), number=options.number, target=TARGET, budget=BUDGET)
        rows = load_rows(options.out, meta)
        done = {(r["function"], r["d"], r["algorithm"], r["kind"], r["source"]) for r in rows}
        for each in plan():
            if each not in done:
                rows.append(measure(*each, REPORT[: options.number]))
                save_rows(options.out, meta, rows)
    deliver(show(read_rows(options.out)), options.table, "known")


if __name__ == "__main__":
    main()
