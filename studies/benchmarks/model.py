"""Evaluations that the quadratic model saves, beside pycma's lq-CMA-ES in the same run; its cost; and its batches.

    python studies/benchmarks/model.py                          # evaluations to 1e-8, into results/model_evaluations.json
    python studies/benchmarks/model.py batches                  # the same with 1, 2, 4, 8 points at a time
    OMP_NUM_THREADS=1 python studies/benchmarks/model.py cost   # wall time for each true evaluation, on one core
    python studies/benchmarks/model.py --table                  # runs nothing, prints the tables of the file

Ten functions (`model_landscapes.py`) on report landscapes 1000 to 1049, on which nothing was tuned, or with --development on
those from 0. x0 = 0, sigma0 = 1, default population, no restarts, a budget of 1e4 d evaluations. Evaluations are counted until
the first value at or below 1e-8, and medians are over all runs, with infinity for those that do not get there. Ratios of
medians have 95% bootstrap intervals over pairs of runs on the same landscape. Rows that --out holds already are not run again,
so that a later call can add algorithms, functions and dimensions, these with another --number of landscapes too.
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np
from battery import DEVELOPMENT, REPORT, TARGET
from model_landscapes import FUNCTIONS
from model_runs import ALGORITHMS, FURTHER, LQ, OURS, Outcome, Task, run
from shared import (
    RESULTS,
    Row,
    add_table,
    deliver,
    finite,
    infinite,
    interval,
    load_rows,
    make_parser,
    markdown,
    median_ratio,
    provenance,
    read_rows,
    save_rows,
)

MODES = ("evaluations", "batches", "cost")
DIMS = {"evaluations": (2, 5, 10, 20), "batches": (2, 5, 10), "cost": (2, 5, 10, 20, 40)}
BATCHES = (1, 2, 4, 8)
BATCHED = ("ellipsoid", "bent-cigar", "banana-1e2", "banana-1e4")
"""Functions of the mode `batches`."""

AIMS: dict[str, dict[int, float]] = {
    "sphere": {10: 40},
    "ellipsoid": {2: 12, 5: 36, 10: 110, 20: 380},
    "discus": {2: 12, 5: 36, 10: 110, 20: 380},
    "banana-1e2": {2: 80, 5: 320, 10: 1000, 20: 4500},
    "banana-1e4": {2: 200, 5: 780, 10: 2300},
}
"""The largest medians aimed at, by function and dimension."""

RATIOS = {"banana-1e2": 0.85, "banana-1e3": 0.6, "banana-1e4": 0.6, "banana-1e5": 0.6}
"""The largest ratios to lq-CMA-ES aimed at; 1 on the other functions."""

Map = Callable[[Callable[[Task], Outcome], Iterable[Task]], Iterable[Outcome]]


def cells(options: argparse.Namespace) -> list[Row]:
    """Return what is to be run: function, dimension, algorithm and points at a time, small dimensions first."""
    batches = options.mode == "batches"
    return [
        {"function": function, "d": d, "algorithm": algorithm, "batch": batch}
        for d in options.dims
        for function in options.functions
        for algorithm in options.algorithms
        for batch in (BATCHES if batches else (0,))
    ]


def describe(options: argparse.Namespace) -> Row:
    """Return what the rows of a file have in common."""
    return provenance(
        "model",
        ("thalweg", "jax", "numpy", "cma"),
        mode=options.mode,
        first=options.seeds[0],
        budget=options.budget,
        target=TARGET,
    )


def measure(options: argparse.Namespace) -> None:
    """Make the runs that the file does not hold, those of a cell side by side, and add a row for each cell."""
    meta = describe(options)
    rows = load_rows(options.out, meta)
    done = [{key: row[key] for key in ("function", "d", "algorithm", "batch")} for row in rows]
    with ExitStack() as stack:
        make: Map = map
        if options.workers > 1:
            make = partial(stack.enter_context(multiprocessing.get_context("spawn").Pool(options.workers)).map, chunksize=1)
        for cell in cells(options):
            if cell in done:
                continue
            began, budget = time.perf_counter(), round(options.budget * cell["d"])
            tasks = [Task(cell["algorithm"], cell["function"], cell["d"], s, budget, cell["batch"]) for s in options.seeds]
            found = list(make(run, tasks))
            evaluations, best, seconds = (np.asarray(part) for part in zip(*found, strict=True))
            rows.append(
                {
                    **cell,
                    "median": finite(np.median(evaluations)),
                    "solved": float(np.isfinite(evaluations).mean()),
                    "seconds": round(float(np.median(seconds)), 3),
                    "evaluations": [finite(number) for number in evaluations],
                    "best": [float(f"{value:.2g}") for value in best],
                }
            )
            save_rows(options.out, meta, rows)
            shown = " ".join(map(str, cell.values()))
            print(f"{shown}: {count(rows[-1])}, {time.perf_counter() - began:.0f} s", flush=True)


def count(row: Row | None) -> str:
    """Format a median, with the share of solved runs where it is below 1."""
    if row is None:
        return ""
    share = f" ({row['solved']:.0%})" if row["solved"] < 1 else ""
    return ("-" if row["median"] is None else f"{row['median']:,.0f}") + share


def ratio(row: Row | None, other: Row | None) -> str:
    """Format the ratio of two medians on the same landscapes with its interval."""
    if row is None or other is None:
        return ""
    number = min(len(row["evaluations"]), len(other["evaluations"]))  # of the landscapes that both have
    one, two = (infinite(each["evaluations"][:number]) for each in (row, other))
    return interval(median_ratio(one, two, np.random.default_rng(0)))


def evaluations_table(rows: Sequence[Row]) -> str:
    """Return a table of medians, ratios to lq-CMA-ES, and ratios of the bent model to the flat one, with what is aimed at."""
    found = {(row["function"], row["d"], row["algorithm"]): row for row in rows}
    algorithms = [name for name in (*ALGORITHMS, *FURTHER) if any(row["algorithm"] == name for row in rows)]
    ours = [name for name in OURS if name in algorithms]
    head = ["function", "d", "runs", *(f"`{name}`" for name in algorithms), *(f"`{name}` / lq" for name in ours)]
    head += [*(["bent / flat"] if len(ours) > 1 else []), "aim: median, ratio to lq"]
    lines: list[list[str]] = []
    for function, d in dict.fromkeys((row["function"], row["d"]) for row in sorted(rows, key=order)):
        cell = [found.get((function, d, name)) for name in algorithms]
        lq = found.get((function, d, LQ))
        aim = AIMS.get(function, {}).get(d)
        aims = f"{'-' if aim is None else f'{aim:,.0f}'}, {RATIOS.get(function, 1.0):g}"
        own = [found.get((function, d, name)) for name in ours]
        ratios = [*(ratio(row, lq) for row in own), *([ratio(own[1], own[0])] if len(ours) > 1 else [])]
        runs = dict.fromkeys(str(len(row["evaluations"])) for row in cell if row is not None)
        lines.append([function.replace("-", " "), str(d), ", ".join(runs), *map(count, cell), *ratios, aims])
    return markdown(head, lines)


def batches_table(rows: Sequence[Row]) -> str:
    """Return a table of medians with one point at a time, and of the ratios that larger batches cost."""
    found = {(row["function"], row["d"], row["algorithm"], row["batch"]): row for row in rows}
    head = ["function", "d", "algorithm", "1 at a time", *(f"{batch} / 1" for batch in BATCHES[1:])]
    lines: list[list[str]] = []
    for key in dict.fromkeys((row["function"], row["d"], row["algorithm"]) for row in sorted(rows, key=order)):
        one = found.get((*key, 1))
        more = []
        for batch in BATCHES[1:]:
            row = found.get((*key, batch))
            share = f" ({row['solved']:.0%})" if row and row["solved"] < 1 else ""
            more.append(ratio(row, one) + share)
        lines.append([key[0].replace("-", " "), str(key[1]), f"`{key[2]}`", count(one), *more])
    return markdown(head, lines)


def order(row: Row) -> tuple[int, int]:
    """Sort by function, then by dimension."""
    return FUNCTIONS.index(row["function"]), row["d"]


def tables(rows: Sequence[Row]) -> str:
    """Return the table of the rows of either mode."""
    return batches_table(rows) if any(row["batch"] for row in rows) else evaluations_table(rows)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line, and fill in what depends on the mode."""
    parser = make_parser(__doc__)
    parser.add_argument("mode", nargs="?", choices=MODES, default="evaluations", help="what to measure (default: evaluations)")
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, help="functions (default: all; four for batches)")
    parser.add_argument(
        "--dims", nargs="+", type=int, help="dimensions (default: 2 5 10 20; 2 5 10 for batches; to 40 for cost)"
    )
    text = f"algorithms (default: {' '.join(ALGORITHMS)}; ours for batches; ours and lq for cost)"
    parser.add_argument("--algorithms", nargs="+", choices=(*ALGORITHMS, *FURTHER), help=text)
    parser.add_argument("--number", type=int, help="number of landscapes (default: 50), or of rounds for cost (default: 11)")
    parser.add_argument("--development", action="store_true", help="landscapes from 0, into out/ instead of the results")
    parser.add_argument("--budget", type=float, default=1e4, help="evaluations of a run as a multiple of d (default: 1e4)")
    parser.add_argument("--workers", type=int, default=2, help="processes with one thread each (default: 2); cost has one")
    text = "JSON file (default: studies/benchmarks/results/model_MODE.json)"
    parser.add_argument("--out", type=Path, help=text)
    add_table(parser)
    options = parser.parse_args(arguments)
    known = DEVELOPMENT if options.development else REPORT
    if options.number is None:
        options.number = 11 if options.mode == "cost" else 50
    if not 1 <= options.number <= len(known):
        parser.error(f"--number must be from 1 to {len(known)}, got {options.number}")
    options.seeds = known[: options.number]
    batches = options.mode == "batches"
    options.functions = options.functions or (BATCHED if batches else FUNCTIONS)
    options.dims = options.dims or DIMS[options.mode]
    options.algorithms = options.algorithms or {"evaluations": ALGORITHMS, "batches": OURS, "cost": (*OURS, LQ)}[options.mode]
    if batches and not set(options.algorithms).isdisjoint(("pycma", LQ)):
        parser.error("--algorithms must be ours for batches, as pycma's have none; leave out those of pycma")
    folder = Path("out") if options.development else RESULTS
    options.out = options.out or folder / f"model_{options.mode}.json"
    return options


def main() -> None:
    options = parse()
    if options.mode == "cost":
        import model_cost  # pins the process to a core

        model_cost.carry_out(options)
        return
    if options.table is None:
        measure(options)
    deliver(tables(read_rows(options.out)), options.table, f"model_{options.mode}")


if __name__ == "__main__":
    main()
