"""The field in one table: evaluations and time to 1e-8 of methods that people use, on four smooth landscapes in dimension 5.

    OMP_NUM_THREADS=1 python studies/benchmarks/field.py     # runs, writes results/field.json
    python studies/benchmarks/field.py --table README.md     # runs nothing, writes the table into a page

Landscapes of `model_landscapes.py` with report seeds 1000 to 1009, x0 = 0, a first standard deviation of 1, defaults else, and
no restarts; 10,000 evaluations at most. Optuna and differential evolution, which need ranges, search [-5, 5]^5, Optuna with the
same first standard deviation. L-BFGS-B takes finite differences. Times are those of whole runs, after one that compiles.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import numpy as np
from battery import REPORT
from model_landscapes import landscape
from model_runs import LQ, Task, run
from shared import Row, add_table, deliver, finite, infinite, load_rows, make_parser, markdown, provenance, read_rows, save_rows

from thalweg_studies.bbob.observed import FinishedError, ObservedProblem

D, BUDGET, RANGE = 5, 10_000, (-5.0, 5.0)
FUNCTIONS = {
    "ellipsoid": "ellipsoid, condition 1e6",
    "bent-cigar": "bent cigar",
    "banana-1e2": "Rosenbrock",
    "banana-1e4": "Rosenbrock, ten times narrower",
}


def optuna_cmaes(problem: ObservedProblem, seed: int) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.CmaEsSampler(sigma0=1 / (RANGE[1] - RANGE[0]), seed=seed))
    study.optimize(lambda trial: problem([trial.suggest_float(f"x{i}", *RANGE) for i in range(D)]), n_trials=BUDGET)


def by_scipy(method: str, **options: object) -> Callable[[ObservedProblem, int], None]:
    def minimise(problem: ObservedProblem, seed: int) -> None:
        from scipy.optimize import minimize

        minimize(problem, np.zeros(D), method=method, options=options)

    return minimise


def evolution(problem: ObservedProblem, seed: int) -> None:
    from scipy.optimize import differential_evolution

    differential_evolution(problem, [RANGE] * D, rng=seed, maxiter=BUDGET, tol=0.0, polish=False)


OTHERS: dict[str, Callable[[ObservedProblem, int], None]] = {
    "Optuna, `CmaEsSampler`": optuna_cmaes,
    "scipy, Nelder-Mead": by_scipy("Nelder-Mead", adaptive=True, xatol=0.0, fatol=1e-13, maxfev=BUDGET),
    "scipy, Powell": by_scipy("Powell", xtol=1e-10, ftol=1e-14, maxfev=BUDGET),
    "scipy, L-BFGS-B": by_scipy("L-BFGS-B", ftol=0.0, gtol=1e-12, maxfun=BUDGET),
    "scipy, differential evolution": evolution,
}
STUDIED = {
    "gnn-cma+quadratic": '**Thalweg, `model="quadratic"`**',
    "gnn-cma": "**Thalweg**",
    "pycma": "pycma",
    LQ: "pycma, lq-CMA-ES",
}


def measure(algorithm: str, function: str, seeds: Sequence[int]) -> list[Row]:
    """Return a row for each seed; of ours and pycma's after a run that is not counted."""
    rows: list[Row] = []
    warm_up = () if algorithm in OTHERS else (seeds[0],)  # ours compile once
    for i, seed in enumerate((*warm_up, *seeds), 1 - len(warm_up)):
        if algorithm in STUDIED:
            outcome = run(Task(algorithm, function, D, seed, BUDGET))
            evaluations, seconds = outcome.evaluations, outcome.seconds
        else:
            problem = ObservedProblem(landscape(function, D, seed), 0.0, D, BUDGET)
            began = time.perf_counter()
            with suppress(FinishedError), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                OTHERS[algorithm](problem, seed)
            evaluations, seconds = problem.hits[-1], time.perf_counter() - began
        if i:
            row = {"algorithm": algorithm, "function": function, "seed": seed, "evaluations": finite(evaluations)}
            rows.append({**row, "seconds": round(seconds, 4)})
    return rows


def show(rows: Sequence[Row]) -> str:
    """Return a table of medians with quartiles; runs that do not reach the target count as infinitely many evaluations."""
    lines: list[list[str]] = []
    for algorithm in dict.fromkeys(row["algorithm"] for row in rows):
        cells: list[str] = []
        for function in FUNCTIONS:
            chosen = [row for row in rows if (row["algorithm"], row["function"]) == (algorithm, function)]
            found = infinite([row["evaluations"] for row in chosen])
            low, median, high = np.quantile(found, (0.25, 0.5, 0.75), method="inverted_cdf")
            reached = int(np.isfinite(found).sum())
            upper = f"{high:,.0f}" if np.isfinite(high) else "∞"
            share = "" if reached == len(chosen) else f", {reached} of {len(chosen)}"
            cells.append(f"{median:,.0f} ({low:,.0f}\u2011{upper}){share}" if np.isfinite(median) else share.removeprefix(", "))
        seconds = np.median(
            [row["seconds"] for row in rows if (row["algorithm"], row["function"]) == (algorithm, "banana-1e2")]
        )
        lines.append([STUDIED.get(algorithm, algorithm), *cells, f"{seconds:.2f} s"])
    return markdown(["evaluations to 1e-8, d = 5", *FUNCTIONS.values(), "time, Rosenbrock"], lines)


def main() -> None:
    parser = make_parser(__doc__, "field")
    parser.add_argument("--number", type=int, default=10, help="number of landscapes (default: 10)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        packages = ("thalweg", "jax", "numpy", "scipy", "cma", "optuna", "cmaes")
        meta = provenance("field", packages, number=options.number, budget=BUDGET, d=D)
        rows = load_rows(options.out, meta)
        done = {(row["algorithm"], row["function"]) for row in rows}
        pairs = [(a, f) for a in (*STUDIED, *OTHERS) for f in FUNCTIONS if (a, f) not in done]
        with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
            for made in pool.map(measure, *zip(*pairs, strict=True), [REPORT[: options.number]] * len(pairs)):
                rows += made
                save_rows(options.out, meta, rows)
    deliver(show(read_rows(options.out)), options.table, "field")


if __name__ == "__main__":
    main()
