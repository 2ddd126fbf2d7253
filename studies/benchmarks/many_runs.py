"""Many runs at once on one accelerator, against one CPU core and against pycma in a loop, on the same machine.

    python studies/benchmarks/many_runs.py --out studies/benchmarks/results/many_runs.json

Translated Rosenbrock, d = 10, N = 100, 200 generations, report seeds. Every part has a process of its own, with one core where
it says so. The first call of a shape compiles. The tables show later calls, from seeds to trajectories on the host: the best of
three calls up to 1,000 runs on the accelerator, else a single one, and for pycma the mean of ten runs. The peak of memory is
the allocator's, sizes going up. This takes about eight minutes on an H200 and its host.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from shared import Row, add_show, make_parser, provenance, read_rows, write_json

from thalweg_studies.report.files import markdown

D, N, GENERATIONS, LONG = 10, 100, 200, 400
FIRST_SEED, TARGET = 1000, 1e-8
RUNS = (10, 100, 1000, 10_000)
LANES = (1000, 2500)
"""Numbers of lanes (runs side by side) for the largest number of runs."""
QUEUE = 8
"""Runs for each lane where the next run takes the lane of one that has ended."""
PARTS = ("pycma", "cpu cma", "cpu gnn-cma", *(f"gpu {m} {p}" for m in ("gnn-cma", "cma") for p in ("float64", "float32")))


def pycma(sizes: "Sizes") -> Iterator[Row]:
    """Measure pycma in a loop; every run makes all generations, whatever its own stop criteria say."""
    import cma

    from thalweg.objectives import translated

    def run(seed: int) -> float:
        f, best = translated("rosenbrock", D, seed), np.inf
        es = cma.CMAEvolutionStrategy(np.zeros(D), 1.0, {"popsize": N, "verbose": -9, "seed": seed})
        for _ in range(sizes.generations):
            x = es.ask()
            values = f(np.asarray(x))
            es.tell(x, values)
            best = min(best, float(values.min()))
        return best

    run(0)
    start = time.perf_counter()
    final = [run(FIRST_SEED + i) for i in range(sizes.alone)]
    yield row("pycma", "1 core", "float64", sizes.alone, 1, time.perf_counter() - start, final=np.asarray(final))


def ours(method: str, dtype: str, sizes: "Sizes", *, core: bool) -> Iterator[Row]:
    """Measure run_many, on one core or on the accelerator."""
    import jax

    import thalweg
    from thalweg.objectives import make_problems

    fun, landscapes = make_problems("rosenbrock", D, range(FIRST_SEED, FIRST_SEED + max(*sizes.runs, QUEUE * sizes.lanes[0])))
    strategy = thalweg.make_strategy(method, popsize=N)
    where = "1 core" if core else jax.devices()[0].device_kind

    def run(runs: int, lanes: int | None = None, generations: int = sizes.generations, first: int = 0, **more: Any) -> Any:
        part = slice(first, first + runs)
        seeds = np.arange(FIRST_SEED + first, FIRST_SEED + first + runs)
        own = (jax.tree.map(lambda leaf: leaf[part], landscapes),)
        more = {"seeds": seeds, "generations": generations, "args": own, "batch_size": lanes, "dtype": dtype, **more}
        return thalweg.run_many(strategy, fun, np.zeros(D), 1.0, **more)

    def throughput(runs: int, lanes: int | None) -> Row:
        compile_s, seconds, result = timed(lambda: run(runs, lanes), 1 if core or runs > 1000 else 3)
        numbers = row(method, where, dtype, runs, result.work.lanes, seconds, compile_s, final=result.fun)
        return {**numbers, "peak": peak()}

    def peak() -> int | None:
        stats = jax.devices()[0].memory_stats()
        return stats and stats.get("peak_bytes_in_use")

    if core:
        yield throughput(sizes.alone, 1)
        yield throughput(sizes.alone, None)
        return
    most = max(sizes.runs)
    for runs, lanes in [*((runs, None) for runs in sizes.runs[:-1]), *((most, lanes) for lanes in sizes.lanes), (most, None)]:
        if method == "gnn-cma" or (runs >= 1000 and lanes is None):
            yield throughput(runs, lanes)
    if method != "gnn-cma":
        return

    # the next run takes the lane of one that has ended, against batches that wait for their last run, against all generations
    width, total = sizes.lanes[0], QUEUE * sizes.lanes[0]
    for ended in ("refilled", "waited for", "not at all"):
        target = -np.inf if ended == "not at all" else TARGET
        if ended == "refilled":
            calls = [lambda: run(total, width, sizes.long, ftarget=TARGET)]
        else:
            firsts = range(0, total if ended == "waited for" else width, width)
            calls = [lambda i=i, t=target: run(width, None, sizes.long, i, ftarget=t) for i in firsts]
        calls[0]()
        start = time.perf_counter()
        results = [call() for call in calls]
        seconds = time.perf_counter() - start
        final = np.concatenate([result.fun for result in results])
        made = sum(int(result.work.generations.sum()) for result in results)
        offered = sum(result.work.lanes * result.work.rounds for result in results)
        numbers = row(method, where, dtype, len(final), width, seconds, final=final)
        yield {
            **numbers,
            "ended": ended,
            "generations": sizes.long,
            "idle": 1 - made / offered,
            "mean_length": made / len(final),
        }


def timed(call: Callable[[], Any], repeats: int) -> tuple[float, float, Any]:
    """Return seconds to compile, seconds of the best call after that, and the result."""
    start = time.perf_counter()
    result = call()
    first, seconds = time.perf_counter() - start, []
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return first - min(seconds), min(seconds), result


def row(
    method: str, where: str, dtype: str, runs: int, lanes: int, seconds: float, compile_s: float = 0.0, *, final: np.ndarray
) -> Row:
    """Return the entries that every measurement has; result files name the lanes "slots"."""
    return {
        "method": method,
        "where": where,
        "dtype": dtype,
        "runs": runs,
        "slots": lanes,
        "seconds": seconds,
        "compile_seconds": compile_s,
        "runs_per_second": runs / seconds,
        "final": {str(q): float(np.quantile(final, q)) for q in (0.05, 0.25, 0.5, 0.75)},
        "solved": float(np.mean(final <= TARGET)),
    }


class Sizes(argparse.Namespace):
    """Numbers of runs, lanes and generations."""

    runs: tuple[int, ...]
    lanes: tuple[int, ...]
    generations: int
    long: int
    alone: int
    """Number of runs on one core."""


def measure(part: str, sizes: Sizes) -> Iterator[Row]:
    """Return the rows of one part."""
    place, *what = part.split()
    if place == "pycma":
        return pycma(sizes)
    return ours(what[0], what[1] if len(what) > 1 else "float64", sizes, core=place == "cpu")


def run_part(part: str, options: argparse.Namespace) -> list[Row]:
    """Run a part in a process of its own, on one core unless it is for the accelerator."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    core = not part.startswith("gpu")
    if core:
        flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        environment |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    command = [sys.executable, __file__, "--part", part, *(["--tiny"] if options.tiny else [])]
    pin = (lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) if core else None
    done = subprocess.run(command, env=environment, preexec_fn=pin, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(f"{part}: failed with status {done.returncode}", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def size(count: float | None) -> str:
    """Format a number of bytes."""
    return "-" if not count else f"{count / 2**20:,.0f} MiB"


def throughput_table(rows: list[Row]) -> str:
    """Return a table of runs per second, relative to pycma's."""
    base = next(row for row in rows if row["method"] == "pycma")["runs_per_second"]
    head = ("method", "where", "precision", "runs", "side by side", "runs / s", "x pycma", "compile", "peak memory")
    lines = [
        (
            *(row["method"], row["where"], row["dtype"], f"{row['runs']:,}", f"{row['slots']:,}"),
            *(
                f"{rate:,.3g}" if rate < 1000 else f"{rate:,.0f}"
                for rate in (row["runs_per_second"], row["runs_per_second"] / base)
            ),
            f"{row['compile_seconds']:.0f} s" if row["method"] != "pycma" else "-",
            size(row.get("peak")),
        )
        for row in rows
        if "ended" not in row
    ]
    return markdown(head, lines)


def refill_table(rows: list[Row]) -> str:
    """Return a table of the gain from giving the lane of an ended run to the next."""
    head = (
        "precision",
        "ended runs are",
        "runs",
        "side by side",
        "runs / s",
        "idle",
        "generations, mean",
        f"reached {TARGET:g}",
    )
    lines = [
        (
            *(row["dtype"], row["ended"], f"{row['runs']:,}", f"{row['slots']:,}", f"{row['runs_per_second']:,.0f}"),
            *(f"{row['idle']:.1%}", f"{row['mean_length']:.0f}", f"{row['solved']:.1%}"),
        )
        for row in rows
        if "ended" in row
    ]
    return markdown(head, lines)


def precision_table(rows: list[Row]) -> str:
    """Return a table of final values in both precisions, where no run was ended early."""
    quantiles = ("best 5%", "best quarter", "median", "worst quarter")
    head = ("method", "precision", "runs", "generations", *quantiles, f"<= {TARGET:g}")
    chosen = [row for row in rows if row["runs"] >= 1000 and row.get("ended", "not at all") == "not at all"]
    lines = [
        (
            *(row["method"], row["dtype"], f"{row['runs']:,}", str(row.get("generations", GENERATIONS))),
            *(f"{value:.1e}" for value in row["final"].values()),
            f"{row['solved']:.1%}",
        )
        for row in chosen
        if row["slots"] == row["runs"]
    ]
    return markdown(head, lines)


def tables(rows: list[Row]) -> str:
    """Return all three tables."""
    return "\n\n".join((throughput_table(rows), refill_table(rows), precision_table(rows)))


def main() -> None:
    parser = make_parser(__doc__, "many_runs")
    parser.add_argument("--tiny", action="store_true", help="sizes too small to mean anything, to try the script")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="parts to run (default: all)")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    add_show(parser)
    options = parser.parse_args()
    if options.part:
        sizes = Sizes(runs=RUNS, lanes=LANES, generations=GENERATIONS, long=LONG, alone=10)
        if options.tiny:
            sizes = Sizes(runs=(2, 4), lanes=(2,), generations=3, long=4, alone=2)
        for each in measure(options.part, sizes):
            print(json.dumps(each), flush=True)
        return
    if not options.show:
        problem = {"d": D, "popsize": N, "generations": GENERATIONS, "first_seed": FIRST_SEED}
        about, rows = provenance("many_runs", ("jax", "numpy"), problem=problem, cores=os.cpu_count()), []
        for part in options.parts:
            start = time.perf_counter()
            rows += run_part(part, options)
            print(f"{part}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
            write_json(options.out, {"about": about, "rows": rows})
    print(tables(read_rows(options.out)))


if __name__ == "__main__":
    main()
