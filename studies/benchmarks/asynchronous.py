"""The asynchronous loop against the synchronous one: the cost of learning from late points, and the time saved.

    python studies/benchmarks/asynchronous.py --out studies/benchmarks/results/asynchronous.json
    python studies/benchmarks/asynchronous.py --out studies/benchmarks/results/asynchronous.json --real

Eight workers whose evaluations take log-normal times (sigma 1), in simulated time: sphere and Rosenbrock's function, moved by
U[-2, 2]^d, x0 = 0, sigma0 = 1, d = 10, N = 10 and 20, `cma` and `gnn-cma`, report seeds 1000 to 1029. `share` is the share of
the present draw in that of a late point, docs/math.md (31); the library takes 0.3. The tables hold evaluations to 1e-8 and
evaluations per unit of time, as ratios to the synchronous loop: of means over the seeds that both solve, with 95% bootstrap
intervals over pairs. This takes some minutes on one core. `--real` adds the speed-up of eight real processes whose evaluations
sleep: three runs, median and range.
"""

import heapq
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from battery import REPORT, TARGET
from shared import Row, make_parser, markdown, mean_ratio, provenance, read_rows, save_rows, write_between

import thalweg
from thalweg.objectives.functions import chain
from thalweg.search import pending

WORKERS, D, SIZES, METHODS = 8, 10, (10, 20), ("cma", "gnn-cma")
SHARES = (pending.NOW, 0.0, 1.0)
FUNCTIONS: dict[str, Callable[[np.ndarray], float]] = {
    "sphere": lambda x: float(x @ x),
    "Rosenbrock": lambda x: float(chain(x, 100.0)),
}
MOST = 40_000
"""Largest number of evaluations of a run."""


class Run(NamedTuple):
    """Costs of a simulated run."""

    to_target: float
    """Evaluations to the target, infinity if it was not reached."""
    time: float
    """Simulated time of all evaluations."""
    evaluations: int
    """Number of all evaluations."""


def optimiser(method: str, n: int, seed: int) -> thalweg.Optimizer:
    return thalweg.Optimizer(np.zeros(D), 1.0, method=method, popsize=n, seed=seed, max_evals=MOST)


def synchronous(es: thalweg.Optimizer, fun: Callable[[np.ndarray], float], rng: np.random.Generator) -> Run:
    """Simulate the synchronous loop: a free worker takes the next point, and all wait for the last of a generation."""
    clock = 0.0
    while es.best.f > TARGET and not es.stop():
        X = es.ask()
        free = [clock] * WORKERS
        for _ in X:
            heapq.heappush(free, heapq.heappop(free) + rng.lognormal())
        clock = max(free)
        es.tell(X, [fun(x) for x in X])
    return finished(es, clock)


def asynchronous(es: thalweg.Optimizer, fun: Callable[[np.ndarray], float], rng: np.random.Generator) -> Run:
    """Simulate the asynchronous loop: a free worker takes a new point at once."""
    clock = 0.0
    busy = [(rng.lognormal(), i, es.ask(1)) for i in range(WORKERS)]
    heapq.heapify(busy)
    while es.best.f > TARGET and not es.stop():
        clock, i, X = heapq.heappop(busy)
        es.tell(X, [fun(X[0])])
        heapq.heappush(busy, (clock + rng.lognormal(), i, es.ask(1)))
    return finished(es, clock)


def finished(es: thalweg.Optimizer, clock: float) -> Run:
    return Run(es.best.nfev if es.best.f <= TARGET else np.inf, clock, es.nfev)


def ratio(ours: np.ndarray, theirs: np.ndarray) -> list[float]:
    """Return the ratio of means with its 95% bootstrap interval, rounded."""
    return [round(value, 3) for value in mean_ratio(ours, theirs, seed=1) or [np.nan] * 3]


def row(name: str, method: str, n: int, share: float, seeds: list[int], baseline: list[Run]) -> Row:
    """Compare the asynchronous loop with synchronous runs of the same seeds."""
    pending.NOW = share
    runs = [asynchronous(optimiser(method, n, seed), moved(name, seed), np.random.default_rng(seed)) for seed in seeds]
    needed, base = (np.array([run.to_target for run in each], float) for each in (runs, baseline))
    speed, before = (np.array([run.evaluations / run.time for run in each]) for each in (runs, baseline))
    return {
        "function": name,
        "method": method,
        "n": n,
        "share": share,
        "evaluations": ratio(needed, base),
        "speed": ratio(speed, before),
        "solved": [int(np.isfinite(each).sum()) for each in (needed, base)],
    }


def moved(name: str, seed: int) -> Callable[[np.ndarray], float]:
    shift = np.random.default_rng([seed, 1]).uniform(-2, 2, D)
    return lambda x: FUNCTIONS[name](x - shift)


def sleepy(x: np.ndarray) -> float:
    """Return the sphere's value after a log-normal time of 50 ms in the median, the same for the same point."""
    time.sleep(0.05 * np.random.default_rng(list(x.tobytes())).lognormal())
    return float(x @ x)


def real(n: int, repeats: int = 3) -> list[float]:
    """Return evaluations per second of `minimize` with processes, asynchronous over synchronous: median, lowest, highest."""
    ratios: list[float] = []
    for seed in range(repeats):
        speeds: list[float] = []
        for asynchronous in (True, False):
            times: list[tuple[float, int]] = []
            thalweg.minimize(
                sleepy,
                np.ones(D),
                method="cma",
                popsize=n,
                seed=REPORT[seed],
                workers=WORKERS,
                asynchronous=asynchronous,
                max_evals=400,
                callback=lambda seen, times=times: times.append((time.perf_counter(), seen.nfev)),
            )
            (first, before), (last, after) = times[2], times[-1]  # leaves out the start of the processes
            speeds.append((after - before) / (last - first))
        ratios.append(speeds[0] / speeds[1])
    return [round(float(value), 3) for value in (np.median(ratios), min(ratios), max(ratios))]


def table(rows: list[Row]) -> str:
    head = ["function", "method", "N", "share", "evaluations to 1e-8", "evaluations per time", "solved"]
    lines: list[list[str]] = []
    for each in rows:
        needed, speed = (f"{a:.2f} [{b:.2f}, {c:.2f}]" for a, b, c in (each["evaluations"], each["speed"]))
        cells = [each["function"], f"`{each['method']}`", each["n"], f"{each['share']:g}", needed, speed]
        lines.append([*map(str, cells), "{} of {}".format(*each["solved"])])
    return markdown(head, lines)


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--out", type=Path, help="JSON file")
    parser.add_argument("--seeds", type=int, default=30, help="number of report seeds (default: 30)")
    text = "run nothing, write the table of --out between the markers of PAGE"
    parser.add_argument("--table", type=Path, metavar="PAGE", help=text)
    parser.add_argument("--real", action="store_true", help="measure only real time, with eight processes, and add it to --out")
    options = parser.parse_args()
    if options.real:
        saved = json.loads(options.out.read_text())
        saved["meta"]["real"] = {f"n={n}": real(n) for n in SIZES}
        print(saved["meta"]["real"])
        save_rows(options.out, saved["meta"], saved["rows"])
        return
    if options.table:
        write_between(options.table, "asynchronous", table(read_rows(options.out)))
        return
    began, seeds, rows = time.perf_counter(), list(REPORT[: options.seeds]), []
    for name in FUNCTIONS:
        for method in METHODS:
            for n in SIZES:
                runs = [synchronous(optimiser(method, n, s), moved(name, s), np.random.default_rng(s)) for s in seeds]
                rows += [row(name, method, n, share, seeds, runs) for share in (SHARES if n == SIZES[0] else SHARES[:1])]
                print(json.dumps(rows[-1]), flush=True)
    if options.out:
        more = {"workers": WORKERS, "d": D, "seconds": round(time.perf_counter() - began)}
        save_rows(options.out, provenance("asynchronous", seeds=[seeds[0], seeds[-1]], **more), rows)
    print(table(rows))


if __name__ == "__main__":
    main()
