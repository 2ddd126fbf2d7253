"""Constraints: targets reached on COCO's bbob-constrained by Thalweg, pycma's fmin_con2 and scipy's COBYLA.

    python studies/benchmarks/constraints.py                          # instances 4 to 6
    python studies/benchmarks/constraints.py --table docs/constraints.md

Each entrant starts at the suite's feasible start with the first step 2, and begins anew until 500 d evaluations are spent: an
evolution strategy with twice the population. COBYLA has one call: scipy's takes milliseconds for each evaluation. An evaluation
is one of the function together with all constraints. A target is a distance of a *feasible* point's value from the optimum: 41
of them from 1e2 to 1e-6. Results are saved after each problem, so that a run that was cut goes on where it was.
"""

import argparse
import contextlib
import json
import logging
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from shared import Row, add_table, deliver, load_rows, make_parser, markdown, provenance, save_rows

DIMENSIONS = (2, 5, 10)
BUDGET = 500
"""Evaluations for each dimension."""
STEP = 2.0
TARGETS = 10.0 ** np.arange(2, -6.01, -0.2)
DEVELOPMENT = (1, 2, 3)
"""Instances on which the method was developed."""
REPORT = (4, 5, 6)
FUNCTIONS = [6 * kind + number + 1 for number in (2, 0, 5, 3, 1, 4) for kind in range(9)]
"""Nine functions with each number of constraints, in an order in which a cut leaves all nine."""


class SpentError(Exception):
    """Raised when the budget is spent."""


class Counted:
    """A problem of the suite, with a count of evaluations and the times when targets were reached."""

    def __init__(self, problem: Any) -> None:
        self.problem, self.d = problem, problem.dimension
        self.x0: np.ndarray = problem.initial_solution
        self.optimum = optimum_of(problem)
        self.left, self.best, self.used = BUDGET * self.d, np.inf, 0
        self.reached: list[int | None] = [None] * len(TARGETS)
        self.last: tuple[bytes, float, np.ndarray] | None = None

    def __call__(self, x: Any) -> tuple[float, np.ndarray]:
        """Return the value and the constraint values; a point that is asked for twice in a row counts once."""
        x = np.array(x, float)
        if self.last is None or self.last[0] != x.tobytes():
            if self.used >= self.left:
                raise SpentError
            self.used += 1
            self.last = (x.tobytes(), float(self.problem(x)), np.atleast_1d(self.problem.constraint(x)))
            if np.all(self.last[2] <= 0):
                self.best = min(self.best, self.last[1] - self.optimum)
                for i, target in enumerate(TARGETS):
                    if self.reached[i] is None and self.best <= target:
                        self.reached[i] = self.used
        return self.last[1:]

    def value(self, x: Any) -> float:
        """Return the value alone."""
        return self(x)[0]

    def limits(self, x: Any) -> np.ndarray:
        """Return the constraint values alone."""
        return self(x)[1]


def optimum_of(problem: Any) -> float:
    """Return the value at the best feasible point, which cocoex writes into a file."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        problem._best_parameter("print")
        return float(problem(np.loadtxt(next(Path().glob("*best_parameter*")), ndmin=1)))


def by_thalweg(method: str) -> Callable[[Counted, int], None]:
    """Return a run of `thalweg.minimize`."""

    def run(problem: Counted, seed: int) -> None:
        import thalweg

        def fun(x: np.ndarray) -> tuple[float, np.ndarray]:
            return problem(x)

        thalweg.minimize(fun, problem.x0, STEP, method=method, seed=seed, max_evals=problem.left, restarts=99)

    return run


def by_pycma(problem: Counted, seed: int) -> None:
    """Run fmin_con2 with its defaults, each time with twice the population."""
    import cma

    popsize, options = 4 + int(3 * np.log(problem.d)), {"verbose": -9, "verb_log": 0}
    for run in range(99):
        own = {"popsize": popsize * 2**run, "seed": 100 * seed + run + 1, "maxfevals": problem.left - problem.used}
        quiet = {"logging": 0}  # of the files that it would write
        cma.fmin_con2(
            problem.value, problem.x0, STEP, constraints=problem.limits, options={**options, **own}, kwargs_confit=quiet
        )


def by_cobyla(problem: Counted, seed: int) -> None:
    """Run COBYLA once, which has no random numbers."""
    from scipy.optimize import minimize

    limits = {"type": "ineq", "fun": lambda x: -problem.limits(x)}
    options = {"rhobeg": STEP, "maxiter": problem.left, "tol": 1e-9}
    minimize(problem.value, problem.x0, method="COBYLA", constraints=limits, options=options)


ENTRANTS: dict[str, Callable[[Counted, int], None]] = {
    "cma": by_thalweg("cma"),
    "fmin_con2": by_pycma,
    "gnn-cma": by_thalweg("gnn-cma"),
    "COBYLA": by_cobyla,
}
PEER = "fmin_con2"
"""Entrant that the others are compared with."""
NAMES = {"cma": "`cma`", "gnn-cma": "`gnn-cma`", "fmin_con2": "pycma `fmin_con2`", "COBYLA": "scipy COBYLA"}


def measure(options: argparse.Namespace) -> None:
    """Run all entrants on all problems that are not in the file yet."""
    import cocoex

    meta = provenance(
        "constraints",
        ("thalweg", "jax", "numpy", "scipy", "cma"),
        suite=f"bbob-constrained of cocoex {cocoex.__version__}",
        budget=BUDGET,
        step=STEP,
    )
    logging.getLogger("thalweg").setLevel(logging.ERROR)  # points beyond the budget count as failures
    rows = load_rows(options.out, meta)
    done = {(row["entrant"], row["function"], row["d"], row["instance"]) for row in rows}
    suite = cocoex.Suite("bbob-constrained", "", f"dimensions:{','.join(map(str, DIMENSIONS))}")
    started = time.monotonic()
    for instance in options.instances:
        for function in options.functions:
            for d in options.dimensions:
                for entrant in options.entrants:
                    if (entrant, function, d, instance) in done:
                        continue
                    if time.monotonic() - started > options.seconds:
                        return
                    problem = Counted(suite.get_problem_by_function_dimension_instance(function, d, instance))
                    with contextlib.suppress(SpentError), warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        ENTRANTS[entrant](problem, instance)
                    row = {"entrant": entrant, "function": function, "d": d, "instance": instance}
                    limits, gap = problem.problem.number_of_constraints, None if np.isinf(problem.best) else problem.best
                    rows.append({**row, "constraints": limits, "gap": gap, "reached": problem.reached})
                    save_rows(options.out, meta, rows)


def share(row: Row) -> float:
    """Return the share of targets reached."""
    return float(np.mean([each is not None for each in row["reached"]]))


def table(report: dict[str, Any]) -> str:
    """Return the shares of targets of each entrant beside those of pycma, over the problems that both have had."""
    shares: dict[str, dict[tuple[int, int, int], float]] = {name: {} for name in ENTRANTS}
    for row in report["rows"]:
        shares[row["entrant"]][row["d"], row["function"], row["instance"]] = share(row)
    lines: list[list[str]] = []
    for name in ENTRANTS:
        if name == PEER or not (problems := sorted(shares[name].keys() & shares[PEER].keys())):
            continue
        own, other = (np.array([shares[each][problem] for problem in problems]) for each in (name, PEER))
        dimension = np.array([problem[0] for problem in problems])
        pairs = [(own[dimension == d], other[dimension == d]) for d in DIMENSIONS]
        cells = [f"{a.mean():.3f} / {b.mean():.3f} ({len(a)})" if len(a) else "-" for a, b in (*pairs, (own, other))]
        index = np.random.default_rng(0).integers(len(own), size=(2000, len(own)))
        low, high = np.percentile((own - other)[index].mean(1), (2.5, 97.5))
        wins = f"{int(np.sum(own > other))} / {int(np.sum(own < other))}"
        lines.append([NAMES[name], *cells, f"{(own - other).mean():+.3f} [{low:+.3f}, {high:+.3f}]", wins])
    head = ["entrant / pycma (problems)", *(f"d = {d}" for d in DIMENSIONS), "all", "difference", "ahead / behind"]
    instances = ", ".join(map(str, sorted({row["instance"] for row in report["rows"]})))
    functions = len({row["function"] for row in report["rows"] if row["entrant"] == PEER})
    note = f"{functions} of the 54 functions, instance {instances}, {report['meta']['budget']} d evaluations each."
    return f"{markdown(head, lines)}\n\n{note}"


def main() -> None:
    """Measure, or show the table."""
    parser = make_parser(__doc__, "constraints")
    parser.add_argument("--instances", type=int, nargs="+", default=REPORT)
    parser.add_argument("--functions", type=int, nargs="+", default=FUNCTIONS)
    parser.add_argument("--dimensions", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--entrants", nargs="+", default=list(ENTRANTS), choices=list(ENTRANTS))
    parser.add_argument("--seconds", type=float, default=np.inf, help="begin nothing after this time")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        measure(options)
    else:
        deliver(table(json.loads(options.out.read_text())), options.table, "constraints")


if __name__ == "__main__":
    main()
