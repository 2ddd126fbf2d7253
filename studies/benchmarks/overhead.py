"""Share of the workers' time spent in the objective; and, by simulation, the number of workers that one process can keep busy.

    OMP_NUM_THREADS=1 python studies/benchmarks/overhead.py --out studies/benchmarks/results/overhead.json

Runs of `minimize` with two workers and a log, d = 10, N = 20. The share counts from the end of the first generation, when
programs are compiled and workers have started: seconds inside the objective, as the workers measured them, over twice the time
that passed. The objective sleeps, or is busy for as long, which on two cores competes with the process that waits.
The simulation uses the measured costs and no processes: one server hands out points and takes values, one at a time, and works
alone at the end of each generation. This takes about four minutes.
"""

import heapq
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
from shared import Report, Row, measure_or_show, versions

import thalweg
from thalweg.evaluate import Evaluator
from thalweg.storage.log import read_log
from thalweg_studies.report.files import markdown

D, N, WORKERS = 10, 20, 2
BAR = 0.9
"""Goal: smallest share."""
ENGINES: dict[str, Callable[[], Any]] = {
    "processes": lambda: WORKERS,
    "ray": lambda: thalweg.Ray(workers=WORKERS),
    "dask": lambda: thalweg.Dask(workers=WORKERS),
}
CASES = (("processes", 0.01, "sleeps"), ("processes", 0.01, "busy"), ("ray", 0.1, "sleeps"), ("dask", 0.1, "sleeps"))
SIZES = (10, 30, 100, 300, 1000, 3000)
"""Numbers of simulated workers; a generation has as many points."""
SECONDS = (0.1, 1.0, 60.0)
"""Mean times of a simulated evaluation."""


def objective(seconds: float, kind: str) -> Callable[[Any], float]:
    """Return a closure, which is sent to workers by value: they cannot import this script."""

    def fun(x: Any) -> float:
        end = time.perf_counter() + seconds
        if kind == "sleeps":
            time.sleep(seconds)
        while time.perf_counter() < end:
            pass
        return float(x @ x)

    return fun


def share(engine: str, seconds: float, kind: str) -> float:
    """Return the share of the workers' time spent in the objective in one run of some seconds."""
    moments: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        thalweg.minimize(
            objective(seconds, kind),
            np.ones(D),
            popsize=N,
            seed=1,
            max_iter=max(6, round(5.0 / (seconds * N / WORKERS))),
            workers=ENGINES[engine](),
            callback=lambda intermediate_result: moments.append(time.perf_counter()),
            log=path,
        )
        inside = sum(row.seconds or 0.0 for row in read_log(path) if row.generation > 0)
    return inside / WORKERS / (moments[-1] - moments[0])


def cost_of_an_evaluation(engine: str, number: int = 300) -> float:
    """Return the CPU seconds of the waiting process, all its threads, for one evaluation."""
    with Evaluator(objective(0.0, "sleeps"), workers=ENGINES[engine]()) as evaluate:
        evaluate(np.ones((N, D)))
        started = time.process_time()
        evaluate(np.ones((number, D)))
        return (time.process_time() - started) / number


def cost_of_a_generation(n: int) -> float:
    """Return the seconds for ask and tell."""
    es = thalweg.Optimizer(np.ones(D), popsize=n, seed=1, max_iter=10**9)
    taken: list[float] = []
    for _ in range(12):
        started = time.perf_counter()
        X = es.ask()
        es.tell(X, np.sum(X**2, 1))
        taken.append(time.perf_counter() - started)
    return float(np.median(taken[2:]))


def simulate(times: np.ndarray, evaluation: float, generation: float, *, asynchronous: bool) -> float:
    """Return the share of the workers' time spent in evaluations.

    `times` has a row for each generation and a column for each worker. The server takes half the cost of an evaluation to send
    a point, half to take its value. In the asynchronous loop a generation's work is done as often, but only the worker that
    waits for the next point is held up by it.
    """
    workers = times.shape[1]
    clock = 0.0
    ends: list[tuple[float, int]] = []
    left = iter(times.ravel())
    if asynchronous:
        for worker in range(workers):
            clock += evaluation / 2
            heapq.heappush(ends, (clock + next(left), worker))
        for count in range(1, times.size + 1):
            end, worker = heapq.heappop(ends)
            clock = max(clock, end) + evaluation / 2 + (generation if count % workers == 0 else 0.0)
            if (seconds := next(left, None)) is None:  # the remaining workers have nothing to do
                break
            clock += evaluation / 2
            heapq.heappush(ends, (clock + seconds, worker))
        outstanding = sum(max(0.0, end - clock) for end, _ in ends)
        return float((times.sum() - outstanding) / workers / clock)
    for row in times:
        for seconds in row:
            clock += evaluation / 2
            heapq.heappush(ends, (clock + seconds, 0))
        while ends:
            clock = max(clock, heapq.heappop(ends)[0]) + evaluation / 2
        clock += generation
    return float(times.sum() / workers / clock)


def simulated(evaluation: float, generations: dict[int, float], rows: int = 8) -> Iterator[Row]:
    for workers in SIZES:
        equal = np.ones((rows, workers))
        rng = np.random.default_rng(workers)
        varied = rng.lognormal(-0.5, 1.0, (rows, workers))  # mean 1
        for seconds in SECONDS:
            costs = (evaluation, generations[workers])
            yield {
                "workers": workers,
                "seconds": seconds,
                "equal": simulate(seconds * equal, *costs, asynchronous=False),
                "varied": simulate(seconds * varied, *costs, asynchronous=False),
                "asynchronous": simulate(seconds * varied, *costs, asynchronous=True),
            }


def measure(rounds: int) -> Report:
    rows: list[Row] = []
    for engine, seconds, kind in CASES:
        shares = [share(engine, seconds, kind) for _ in range(rounds)]
        rows.append({"engine": engine, "seconds": seconds, "kind": kind, "shares": shares})
        print(*line(rows[-1]), sep=", ", flush=True)
    evaluation = {engine: cost_of_an_evaluation(engine) for engine in ENGINES}
    generations = {n: cost_of_a_generation(n) for n in SIZES}
    packages = versions("thalweg", "jax", "numpy", "cloudpickle", "ray", "distributed")
    return {
        "about": {"d": D, "n": N, "workers": WORKERS, "cores": os.cpu_count(), "versions": packages},
        "rows": rows,
        "evaluation": evaluation,
        "generations": {str(n): seconds for n, seconds in generations.items()},
        "simulated": list(simulated(evaluation["processes"], generations)),
    }


def line(row: Row) -> list[str]:
    low, middle, high = np.min(row["shares"]), np.median(row["shares"]), np.max(row["shares"])
    each = f"{1e3 * row['seconds']:g} ms, {row['kind']}"
    return [row["engine"], each, f"{middle:.1%}", f"{low:.1%} to {high:.1%}", "yes" if middle >= BAR else "no"]


def show(report: Report) -> str:
    """Return a table of measured shares and one of simulated shares."""
    measured = markdown(
        ["engine", "objective", "share, median", f"range of {len(report['rows'][0]['shares'])}", f"{BAR:.0%}"],
        [line(row) for row in report["rows"]],
    )
    costs = ", ".join(f"{1e3 * seconds:.2g} ms with {engine}" for engine, seconds in report["evaluation"].items())
    head = ["workers", "a generation (ms)"]
    head += [f"{kind}, {seconds:g} s" for seconds in SECONDS for kind in ("equal", "varied", "asynchronous")]
    cells = {(row["workers"], row["seconds"]): row for row in report["simulated"]}
    body = [
        [str(n), f"{1e3 * report['generations'][str(n)]:.2g}"]
        + [f"{cells[n, s][kind]:.0%}" for s in SECONDS for kind in ("equal", "varied", "asynchronous")]
        for n in SIZES
    ]
    return f"{measured}\n\nThe waiting process takes for an evaluation {costs}.\n\n{markdown(head, body)}"


if __name__ == "__main__":
    measure_or_show(__doc__, measure, show, rounds=5)
