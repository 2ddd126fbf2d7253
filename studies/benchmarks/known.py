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
from shared import Row, add_table, deliver, interval, load_rows, make_parser, markdown, mean_ratio, provenance, read_rows, save_rows

import thalweg
from thalweg.objectives.problems import random_rotation

Function = Callable[[np.ndarray], float]
Table = tuple[np.ndarray, np.ndarray]

FUNCTIONS = ("sphere", "ellipsoid", "rosenbrock", "rastrigin")
DIMENSIONS = (5, 10)
SOURCES = {"hypercube, 10 d": 10, "hypercube, 100 d": 100, "run, 20 d": 20, "run, 100 d": 100}
"""Known points: their number in units of d."""
KINDS = ("itself", "similar", "misleading")
ALGORITHMS = ("cma", "gnn-cma", "cma+quadratic", "gnn-cma+quadratic", "cmaes")
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
        X, F = np.empty((0, self.d)), np.empty(0)
        while len(F) < n and not es.stop():
            asked = es.ask()
            values = np.array([f(x) for x in asked])
            es.tell(asked, values)
            X, F = np.concatenate([X, asked]), np.concatenate([F, values])
        return X[:n], F[:n]


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
