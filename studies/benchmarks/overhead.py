"""How much of the workers' time is spent in the objective; and, by simulation, how many workers one process can keep busy.

    OMP_NUM_THREADS=1 python studies/benchmarks/overhead.py --out studies/benchmarks/results/overhead.json

Whole runs of `minimize` with two workers and a log, d = 10, N = 20. The share counts from the end of the first generation, when
programs are compiled and workers have started: seconds inside the objective, as the workers measured them, over twice the time
that passed. The objective sleeps, or is busy for as long, which on two cores competes with the process that waits.
The simulation takes the measured costs and no processes: one server hands out points and takes values, one at a time, and works
alone at the end of each generation. About four minutes.
"""

import argparse
import heapq
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import thalweg
from thalweg.evaluate import Evaluator
from thalweg.storage.log import read_log
from thalweg_studies.report.files import markdown

D, N, WORKERS = 10, 20, 2
BAR = 0.9
ENGINES: dict[str, Callable[[], Any]] = {
    "processes": lambda: WORKERS,
    "ray": lambda: thalweg.Ray(workers=WORKERS),
    "dask": lambda: thalweg.Dask(workers=WORKERS),
}
CASES = (("processes", 0.01, "sleeps"), ("processes", 0.01, "busy"), ("ray", 0.1, "sleeps"), ("dask", 0.1, "sleeps"))
SIZES = (10, 30, 100, 300, 1000, 3000)
"""Numbers of simulated workers, and as many points in a generation."""
SECONDS = (0.1, 1.0, 60.0)
"""Of a simulated evaluation, in the mean."""


def objective(seconds: float, kind: str) -> Callable[[Any], float]:
    """By value, as this script is no module."""

    def fun(x: Any) -> float:
        end = time.perf_counter() + seconds
        if kind == "sleeps":
            time.sleep(seconds)
        while time.perf_counter() < end:
            pass
        return float(x @ x)

    return fun


def share(engine: str, seconds: float, kind: str) -> float:
    """One run of some seconds."""
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
    """Seconds of the waiting process, all its threads, for one evaluation."""
    with Evaluator(objective(0.0, "sleeps"), workers=ENGINES[engine]()) as evaluate:
        evaluate(np.ones((N, D)))
        started = time.process_time()
        evaluate(np.ones((number, D)))
        return (time.process_time() - started) / number


def cost_of_a_generation(n: int) -> float:
    """Seconds for ask and tell."""
    es = thalweg.Optimizer(np.ones(D), popsize=n, seed=1, max_iter=10**9)
    taken: list[float] = []
    for _ in range(12):
        started = time.perf_counter()
        X = es.ask()
        es.tell(X, np.sum(X**2, 1))
        taken.append(time.perf_counter() - started)
    return float(np.median(taken[2:]))


def simulate(times: np.ndarray, evaluation: float, generation: float, *, asynchronous: bool) -> float:
    """The share of the workers' time spent in evaluations; as many workers as `times` has columns, a generation a row.

    The server takes half the cost of an evaluation to send a point, half to take its value. Asynchronously a generation's
    work comes as often, but only the worker that waits for the next point is held up by it.
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
            if (seconds := next(left, None)) is None:  # from here on workers would have nothing to do
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


def simulated(evaluation: float, generations: dict[int, float], rows: int = 8) -> Iterator[dict[str, Any]]:
    for workers in SIZES:
        equal = np.ones((rows, workers))
        rng = np.random.default_rng(workers)
        varied = rng.lognormal(-0.5, 1.0, (rows, workers))  # of mean 1
        for seconds in SECONDS:
            costs = (evaluation, generations[workers])
            yield {
                "workers": workers,
                "seconds": seconds,
                "equal": simulate(seconds * equal, *costs, asynchronous=False),
                "varied": simulate(seconds * varied, *costs, asynchronous=False),
                "asynchronous": simulate(seconds * varied, *costs, asynchronous=True),
            }


def measure(repeats: int) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for engine, seconds, kind in CASES:
        shares = [share(engine, seconds, kind) for _ in range(repeats)]
        rows.append({"engine": engine, "seconds": seconds, "kind": kind, "shares": shares})
        print(line(rows[-1]), flush=True)
    evaluation = {engine: cost_of_an_evaluation(engine) for engine in ENGINES}
    generations = {n: cost_of_a_generation(n) for n in SIZES}
    names = ("thalweg", "jax", "numpy", "cloudpickle", "ray", "distributed")
    return {
        "about": {"d": D, "n": N, "workers": WORKERS, "cores": os.cpu_count(), "versions": versions(names)},
        "rows": rows,
        "evaluation": evaluation,
        "generations": {str(n): seconds for n, seconds in generations.items()},
        "simulated": list(simulated(evaluation["processes"], generations)),
    }


def versions(names: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from the source tree
            found[name] = thalweg.__version__
    return found


def line(row: dict[str, Any]) -> list[str]:
    low, middle, high = np.min(row["shares"]), np.median(row["shares"]), np.max(row["shares"])
    each = f"{1e3 * row['seconds']:g} ms, {row['kind']}"
    return [row["engine"], each, f"{middle:.1%}", f"{low:.1%} to {high:.1%}", "yes" if middle >= BAR else "no"]


def show(report: dict[str, Any]) -> str:
    """Two tables: what was measured, and what was simulated."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, help="where to write the numbers, as JSON")
    parser.add_argument("--show", type=Path, help="print the tables of such a file, and measure nothing")
    options = parser.parse_args()
    report = json.loads(options.show.read_text()) if options.show else json.loads(json.dumps(measure(options.repeats)))
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(show(report))


if __name__ == "__main__":
    main()
