"""What it costs to learn from late points, and what it saves: the asynchronous loop against the synchronous one.

    python studies/benchmarks/asynchronous.py --out studies/benchmarks/results/asynchronous.json
    python studies/benchmarks/asynchronous.py --out studies/benchmarks/results/asynchronous.json --real

Eight workers whose evaluations take log-normal times (sigma 1), in simulated time: sphere and Rosenbrock's function, moved by
U[-2, 2]^d, x0 = 0, sigma0 = 1, d = 10, N = 10 and 20, `cma` and `gnn-cma`, report seeds 1000 to 1029. `share` is how much of
the present draw goes into that of a late point, docs/math.md (31): 0.3 is what the library does. Evaluations to 1e-8 and the
evaluations per unit of time, as ratios to the synchronous loop: of means over the seeds that both solve, with 95% bootstrap
intervals over pairs. A core needs some minutes. `--real` adds how much faster evaluations come in with eight real processes
that sleep: three runs, median and range.
"""

import argparse
import heapq
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from battery import REPORT, TARGET
from sample_efficiency import markdown
from valley_study import put

import thalweg
from thalweg.objectives.valleys import chain
from thalweg.search import pending as flight

WORKERS, D, SIZES, METHODS = 8, 10, (10, 20), ("cma", "gnn-cma")
SHARES = (flight.NOW, 0.0, 1.0)
FUNCTIONS: dict[str, Callable[[np.ndarray], float]] = {
    "sphere": lambda x: float(x @ x),
    "Rosenbrock": lambda x: float(chain(x, 100.0)),
}
MOST = 40_000
"""Evaluations of a run."""


class Run(NamedTuple):
    """Evaluations to the target, and the time that all evaluations took."""

    evaluations: float
    time: float
    all: int


def optimiser(method: str, n: int, seed: int) -> thalweg.Optimizer:
    return thalweg.Optimizer(np.zeros(D), 1.0, method=method, popsize=n, seed=seed, max_evals=MOST)


def synchronous(es: thalweg.Optimizer, fun: Callable[[np.ndarray], float], rng: np.random.Generator) -> Run:
    """Whole generations: each worker takes the next point when it is free, all wait for the last."""
    clock = 0.0
    while es.best.f > TARGET and not es.stop():
        X = es.ask()
        free = [clock] * WORKERS
        for _ in X:
            heapq.heappush(free, heapq.heappop(free) + rng.lognormal())
        clock = max(free)
        es.tell(X, [fun(x) for x in X])
    return ended(es, clock)


def asynchronous(es: thalweg.Optimizer, fun: Callable[[np.ndarray], float], rng: np.random.Generator) -> Run:
    """Every worker always has a point, drawn from what is known when it begins."""
    clock = 0.0
    busy = [(rng.lognormal(), i, es.ask(1)) for i in range(WORKERS)]
    heapq.heapify(busy)
    while es.best.f > TARGET and not es.stop():
        clock, i, X = heapq.heappop(busy)
        es.tell(X, [fun(X[0])])
        heapq.heappush(busy, (clock + rng.lognormal(), i, es.ask(1)))
    return ended(es, clock)


def ended(es: thalweg.Optimizer, clock: float) -> Run:
    return Run(es.best.nfev if es.best.f <= TARGET else np.inf, clock, es.nfev)


def ratio(ours: np.ndarray, theirs: np.ndarray) -> list[float]:
    """The ratio of means with its 95% bootstrap interval over pairs."""
    rng = np.random.default_rng(1)
    draws = rng.integers(len(ours), size=(2000, len(ours)))
    low, high = np.quantile(ours[draws].mean(1) / theirs[draws].mean(1), [0.025, 0.975])
    return [round(float(value), 3) for value in (ours.mean() / theirs.mean(), low, high)]


def row(name: str, method: str, n: int, share: float, seeds: list[int], baseline: list[Run]) -> dict[str, Any]:
    """One setting over all seeds."""
    flight.NOW = share
    runs = [asynchronous(optimiser(method, n, seed), moved(name, seed), np.random.default_rng(seed)) for seed in seeds]
    both = np.array([np.isfinite(a.evaluations + b.evaluations) for a, b in zip(runs, baseline, strict=True)])
    needed, base = (np.array([run.evaluations for run in each])[both] for each in (runs, baseline))
    speed, before = (np.array([run.all / run.time for run in each]) for each in (runs, baseline))
    return {
        "function": name,
        "method": method,
        "n": n,
        "share": share,
        "evaluations": ratio(needed, base),
        "speed": ratio(speed, before),
        "solved": [int(sum(np.isfinite(run.evaluations) for run in each)) for each in (runs, baseline)],
    }


def moved(name: str, seed: int) -> Callable[[np.ndarray], float]:
    shift = np.random.default_rng([seed, 1]).uniform(-2, 2, D)
    return lambda x: FUNCTIONS[name](x - shift)


def sleepy(x: np.ndarray) -> float:
    """The sphere in 50 ms at the median, log-normal, the same time for the same point."""
    time.sleep(0.05 * np.random.default_rng(list(x.tobytes())).lognormal())
    return float(x @ x)


def real(n: int, repeats: int = 3) -> list[float]:
    """Evaluations per second of `minimize` with eight processes, asynchronous over synchronous: median, lowest, highest."""
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
            (first, before), (last, after) = times[2], times[-1]  # without the start of the processes
            speeds.append((after - before) / (last - first))
        ratios.append(speeds[0] / speeds[1])
    return [round(float(value), 3) for value in (np.median(ratios), min(ratios), max(ratios))]


def table(rows: list[dict[str, Any]]) -> str:
    lines = [["function", "method", "N", "share", "evaluations to 1e-8", "evaluations per time", "solved"], ["---"] * 7]
    for each in rows:
        needed, speed = (f"{a:.2f} [{b:.2f}, {c:.2f}]" for a, b, c in (each["evaluations"], each["speed"]))
        cells = [each["function"], f"`{each['method']}`", each["n"], f"{each['share']:g}", needed, speed]
        lines.append([*map(str, cells), "{} of {}".format(*each["solved"])])
    return markdown(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where the JSON file goes")
    parser.add_argument("--seeds", type=int, default=30)
    page = "only write the table of --out between the markers of this page"
    parser.add_argument("--table", type=Path, metavar="PAGE", help=page)
    parser.add_argument("--real", action="store_true", help="only measure real time, with eight processes, into --out")
    options = parser.parse_args()
    if options.real:
        saved = json.loads(options.out.read_text())
        saved["meta"]["real"] = {f"n={n}": real(n) for n in SIZES}
        print(saved["meta"]["real"])
        write(options.out, saved["meta"], saved["rows"])
        return
    if options.table:
        put(options.table, "asynchronous", table(json.loads(options.out.read_text())["rows"]))
        return
    began, seeds, rows = time.perf_counter(), list(REPORT[: options.seeds]), []
    for name in FUNCTIONS:
        for method in METHODS:
            for n in SIZES:
                generators = [np.random.default_rng(seed) for seed in seeds]
                runs = [
                    synchronous(optimiser(method, n, s), moved(name, s), rng) for s, rng in zip(seeds, generators, strict=True)
                ]
                rows += [row(name, method, n, share, seeds, runs) for share in (SHARES if n == SIZES[0] else SHARES[:1])]
                print(json.dumps(rows[-1]), flush=True)
    meta = {
        "command": "python studies/benchmarks/asynchronous.py",
        "seeds": [seeds[0], seeds[-1]],
        "workers": WORKERS,
        "d": D,
        "versions": {"thalweg": thalweg.__version__, "jax": jax.__version__, "numpy": np.__version__},
        "python": platform.python_version(),
        "seconds": round(time.perf_counter() - began),
    }
    if options.out:
        write(options.out, meta, rows)
    print(table(rows))


def write(path: Path, meta: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(each) for each in rows)
    path.write_text(f'{{"meta": {json.dumps(meta)},\n"rows": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
