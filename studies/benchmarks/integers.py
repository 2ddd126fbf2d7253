"""Whole and real variables together: COCO's suite `bbob-mixint`, beside pycma and the CMA-ES with Margin of `cmaes`.

    python studies/benchmarks/integers.py                            # about 40 minutes on one core, into results/integers.json
    python studies/benchmarks/integers.py --table docs/integers.md   # runs nothing, writes the table into a page

24 functions in d = 5, 10, 20; of five variables four are whole numbers, with 2, 4, 8 and 16 values, and one is real. Every
entrant starts in the middle of the ranges with standard deviations of 0.3 times their widths, begins again with twice the
population at a random point whenever a run ends, and has 300 d evaluations in all. Counted are the 51 targets 10^2, 10^1.8,
..., 10^-8 above the minimum. Instances 1 to 5 and 11 to 15 are those of the development, 6 to 10 those
of the report.
"""

import contextlib
import multiprocessing
import os
import tempfile
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product, starmap
from typing import Any

import cma
import cmaes
import cocoex
import numpy as np
from shared import Row, add_table, deliver, load_rows, make_parser, markdown, provenance, read_rows, save_rows

import thalweg

DIMENSIONS = (5, 10, 20)
FUNCTIONS = range(1, 25)
REPORT = range(6, 11)
BUDGET = 300
"""Evaluations per dimension."""
TARGETS = 10.0 ** np.linspace(2, -8, 51)
SHARE = 0.3
"""The first standard deviation of a variable as a share of the width of its range."""


class Enough(Exception):  # noqa: N818
    """Ends a search whose budget is spent or whose last target is reached."""


class Watched:
    """A problem of the suite that notes when its targets are reached, and ends the search by an exception."""

    def __init__(self, function: int, d: int, instance: int) -> None:
        self.suite = cocoex.Suite("bbob-mixint", f"instances: {instance}", f"function_indices: {function} dimensions: {d}")
        self.problem: Any = self.suite.get_problem(0)
        self.d, self.whole = d, self.problem.number_of_integer_variables
        self.low, self.high = np.array(self.problem.lower_bounds), np.array(self.problem.upper_bounds)
        self.least = self.problem(self._optimum())
        self.half = 0.5 * (np.arange(d) < self.whole)
        """Half a step of the whole numbers, by which their ranges are wider on each side."""
        self.width = self.high - self.low + 2 * self.half
        self.middle = np.array(self.problem.initial_solution)
        self.evaluations, self.hits = 0, list[int]()
        self.limit: float = BUDGET * d
        """Evaluations after which the search ends by an exception, for entrants that are not told; inf for none."""

    def _optimum(self) -> np.ndarray:
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # COCO writes it to a file in the present folder
            try:
                self.problem._best_parameter("print")
                return np.loadtxt("._bbob_problem_best_parameter.txt")
            finally:
                os.chdir(here)

    def __call__(self, x: Any) -> float:
        if self.evaluations >= self.limit or (len(self.hits) == len(TARGETS) and np.isfinite(self.limit)):
            raise Enough
        f = float(self.problem(np.asarray(x, float)))
        self.evaluations += 1
        while len(self.hits) < len(TARGETS) and f - self.least <= TARGETS[len(self.hits)]:
            self.hits.append(self.evaluations)
        return f

    def starts(self, seed: int) -> Any:
        """Yield the start of each run: the middle of the ranges, then random points."""
        rng = np.random.default_rng((seed, self.d))
        yield self.middle
        while True:
            x = rng.uniform(self.low - self.half, self.high + self.half)
            yield np.where(self.half > 0, np.clip(np.round(x), self.low, self.high), x)


def run_thalweg(problem: Watched, seed: int, method: str) -> None:
    bounds = list(zip(problem.low.tolist(), problem.high.tolist(), strict=True))
    whole = list(range(problem.whole))
    budget, problem.limit = problem.limit, np.inf  # it ends with the generation that reaches the budget, and counts until there
    target = problem.least + TARGETS[-1]
    thalweg.minimize(
        problem,
        problem.middle,
        bounds=bounds,
        integers=whole,
        method=method,
        restarts=99,
        max_evals=budget,
        ftarget=target,
        seed=seed,
    )


def run_pycma(problem: Watched, seed: int) -> None:
    popsize = 4 + int(3 * np.log(problem.d))
    for i, x0 in enumerate(problem.starts(seed)):
        options = {
            "integer_variables": list(range(problem.whole)),
            "bounds": [(problem.low - problem.half).tolist(), (problem.high + problem.half).tolist()],
            "CMA_stds": (SHARE * problem.width).tolist(),
            "popsize": popsize * 2**i,
            "seed": 1000 * seed + i + 1,
            "verbose": -9,
        }
        es: Any = cma.CMAEvolutionStrategy(x0, 1.0, options)
        while not es.stop():
            X = es.ask()
            es.tell(X, [problem(x) for x in X])


def run_cmaes(problem: Watched, seed: int) -> None:
    popsize = 4 + int(3 * np.log(problem.d))
    bounds = np.stack([problem.low, problem.high], 1)
    steps = 2 * problem.half
    covariance = np.diag((SHARE * problem.width) ** 2)
    for i, x0 in enumerate(problem.starts(seed)):
        n = popsize * 2**i
        es = cmaes.CMAwM(x0, 1.0, bounds, steps, seed=1000 * seed + i, population_size=n, cov=covariance)
        while not es.should_stop():
            told: list[tuple[np.ndarray, float]] = []
            for _ in range(n):
                evaluated, drawn = es.ask()
                told.append((drawn, problem(evaluated)))
            es.tell(told)


ENTRANTS: dict[str, Callable[[Watched, int], None]] = {
    "cma": lambda problem, seed: run_thalweg(problem, seed, "cma"),
    "gnn-cma": lambda problem, seed: run_thalweg(problem, seed, "gnn-cma"),
    "pycma": run_pycma,
    "cmaes": run_cmaes,
}


def measure(entrant: str, d: int, function: int, instance: int) -> Row:
    """Return a row: the evaluations after which each target was reached, of those that were."""
    problem = Watched(function, d, instance)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(Enough):
            ENTRANTS[entrant](problem, instance)
    return {"entrant": entrant, "d": d, "f": function, "instance": instance, "hits": problem.hits}


def fractions(rows: Sequence[Row], d: int, budget: float) -> dict[str, np.ndarray]:
    """Return the share of targets reached within `budget` d evaluations, for each problem that all entrants in d have."""
    found = {(row["entrant"], row["f"], row["instance"]): row["hits"] for row in rows if row["d"] == d}
    names = [name for name in ENTRANTS if any(name == entrant for entrant, _, _ in found)]
    problems = [(f, i) for f in FUNCTIONS for i in range(1, 16) if all((name, f, i) in found for name in names)]
    return {
        name: np.array([np.sum(np.asarray(found[name, *problem]) <= budget * d) for problem in problems]) / len(TARGETS)
        for name in names
    }


def show(rows: Sequence[Row]) -> str:
    """Return a table: shares of targets at three budgets, with differences to the better peer."""
    rng = np.random.default_rng(0)
    names = [f"`{name}`" for name in ENTRANTS]
    head = ["d", "problems", "evaluations", *names, "`cma` - better peer", "`gnn-cma` - better peer"]
    lines: list[list[str]] = []
    for d in DIMENSIONS:
        for budget in (BUDGET // 10, BUDGET // 3, BUDGET):
            found = fractions(rows, d, budget)
            if not {"cma", "pycma", "cmaes"} <= found.keys():
                continue
            better = max(("pycma", "cmaes"), key=lambda name, found=found: found[name].mean())
            cells = [f"{100 * found[name].mean():.1f} %" if name in found else "-" for name in ENTRANTS]
            for name in ("cma", "gnn-cma"):
                if name not in found:
                    cells.append("-")
                    continue
                difference = 100 * (found[name] - found[better])
                draws = difference[rng.integers(len(difference), size=(2000, len(difference)))].mean(1)
                low, high = np.percentile(draws, (2.5, 97.5))
                cells.append(f"{difference.mean():+.1f} [{low:+.1f}, {high:+.1f}]")
            lines.append([str(d), str(len(found["cma"])), f"{budget} d", *cells])
    return markdown(head, lines)


def main() -> None:
    parser = make_parser(__doc__, "integers")
    parser.add_argument("--instances", type=int, nargs="+", default=list(REPORT), help="instances (default: 6 to 10)")
    parser.add_argument("--entrants", nargs="+", default=list(ENTRANTS), choices=list(ENTRANTS), help="by default all")
    parser.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS), help="by default 5, 10, 20")
    parser.add_argument("--jobs", type=int, default=1, help="problems at the same time, each in a process (default: 1)")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        packages = ("thalweg", "jax", "numpy", "cma", "cmaes", "coco-experiment")
        meta = provenance("integers", packages, budget=f"{BUDGET} d")
        rows = load_rows(options.out, meta)
        done = {(row["entrant"], row["d"], row["f"], row["instance"]) for row in rows}
        wanted = product(options.instances, options.dimensions[::-1], options.entrants, FUNCTIONS)
        tasks = [(entrant, d, f, i) for i, d, entrant, f in wanted if (entrant, d, f, i) not in done]
        with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
            found = pool.map(measure, *zip(*tasks, strict=True)) if options.jobs > 1 and tasks else starmap(measure, tasks)
            for count, row in enumerate(found, 1):
                rows.append(row)
                if count % len(FUNCTIONS) == 0 or count == len(tasks):
                    save_rows(options.out, meta, rows)
    deliver(show(read_rows(options.out)), options.table, "integers")


if __name__ == "__main__":
    main()
