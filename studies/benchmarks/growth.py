r"""Growth of the cost of a generation with the dimension, the population, and the width and depth of the flow.

    OMP_NUM_THREADS=1 python studies/benchmarks/growth.py \
        --out studies/benchmarks/results/growth.json --figure docs/images/growth

A generation of a compiled run on one core, on a sum of squares. Time is the median over rounds that all sizes of a series share
in turn. Memory is what the compiler reserves for a generation: state in and out, and temporary arrays. Operations are the
compiler's count, in which LAPACK's (eigenvalues, factors) are missing. Exponents are slopes of straight lines in the doubly
logarithmic plot, over the upper half of the sizes. This takes about five minutes.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import jax
import numpy as np
from per_generation import functions
from shared import Report, Row, cost_report, measure_or_show

import thalweg
from thalweg import NICE
from thalweg_studies.report.files import markdown, save_figure

Size = int
Make = Callable[[Size], tuple[Any, int]]
"""Function from a size to a strategy and its dimension."""

ROUNDS = 5
PLAIN = (2, 10, 50, 100, 200, 400)
DIAGONAL = (2, 10, 50, 200, 500, 1000)
LARGE = (20, 50, 100, 200, 500, 1000)
"""Dimensions with default populations."""


def by_dimension(method: str, popsize: int | None = 100) -> Make:
    return lambda d: (thalweg.make_strategy(method, popsize=popsize), d)


def by_population(method: str) -> Make:
    return lambda n: (thalweg.make_strategy(method, popsize=n), 20)


def by_flow(name: str) -> Make:
    def make(size: int) -> tuple[Any, int]:
        return replace(thalweg.make_strategy("gnn-cma", popsize=200), flow=NICE(**{name: size})), 20

    return make


SERIES: dict[str, dict[str, tuple[Make, tuple[Size, ...]]]] = {
    "dimension d, default N": {m: (by_dimension(m, None), LARGE) for m in ("gnn-cma", "cma", "gnn-sep-cma", "sep-cma")},
    "dimension d, N = 100": {
        **{m: (by_dimension(m), PLAIN) for m in ("gnn-cma", "cma")},
        **{m: (by_dimension(m), DIAGONAL) for m in ("gnn-sep-cma", "sep-cma", "gnn-snes")},
    },
    "population N, d = 20": {m: (by_population(m), (20, 100, 500, 1000, 5000)) for m in ("gnn-cma", "cma")},
    "size of the flow, d = 20, N = 200": {
        "hidden units": (by_flow("width"), (4, 16, 64, 128, 256)),
        "couplings": (by_flow("couplings"), (2, 3, 6, 12)),
    },
}


def cost(make: Make, size: Size) -> tuple[dict[str, float], Callable[[], None], int]:
    """Return the compiler's counts for a generation, a call that makes some generations, and their number."""
    strategy, d = make(size)
    init, generation = functions(strategy, d)

    def run(length: Any, state: Any) -> Any:  # the length is an argument: the compiler counts one generation
        return jax.lax.fori_loop(0, length, lambda _, state: generation(state), state)

    with jax.enable_x64(True):
        state = jax.jit(init)()
        compiled: Any = jax.jit(run).lower(1, state).compile()
    memory = compiled.memory_analysis()
    reserved = memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes
    length = max(20, ceil(d / 10))  # as many as there are from one step of the flow to the next

    def call() -> None:
        with jax.enable_x64(True):
            jax.block_until_ready(compiled(length, state))

    return {"flop": compiled.cost_analysis()["flops"], "bytes": reserved}, call, length


def timed(calls: dict[str, tuple[Callable[[], None], int]], rounds: int) -> dict[str, list[float]]:
    """Return milliseconds a generation for each round, after one to warm up; each call makes a number of generations."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for i in range(rounds + 1):
        for name, (call, length) in calls.items():
            start = time.perf_counter()
            call()
            if i:
                taken[name].append(1e3 * (time.perf_counter() - start) / length)
    return taken


def measure(rounds: int) -> Report:
    rows: list[Row] = []
    for series, lines in SERIES.items():
        for line, (make, sizes) in lines.items():
            print(f"{series}: {line}", flush=True)
            made = {str(size): cost(make, size) for size in sizes}
            taken = timed({name: (call, length) for name, (_, call, length) in made.items()}, rounds)
            for size in sizes:
                known, times = made[str(size)][0], taken[str(size)]
                rows.append({"series": series, "line": line, "size": size, "ms": float(np.median(times)), **known})
    return cost_report(("jax", "numpy"), rounds, rows)


def exponent(sizes: list[int], costs: list[float]) -> float:
    """Return the slope in the doubly logarithmic plot, over the upper half of the sizes."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(costs[half:]), 1)[0])


def lines_of(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """Return the rows of each line of the figure, in the order in which they were measured."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["series"], row["line"]), []).append(row)
    return lines


def show(report: Report) -> str:
    """Return a table of the costs at the largest sizes and of the exponents."""
    body: list[list[str]] = []
    for (series, line), rows in lines_of(report["rows"]).items():
        sizes, last = [row["size"] for row in rows], rows[-1]
        slopes = [f"{exponent(sizes, [row[key] for row in rows]):.2f}" for key in ("ms", "flop", "bytes")]
        largest = [f"{last['size']:,}", f"{last['ms']:.3g}", f"{last['flop'] / 1e6:.3g}", f"{last['bytes'] / 2**20:.3g}"]
        body.append([series, line, *largest, *slopes])
    head = ["with", "of", "largest", "ms", "MFLOP", "MiB", "exponent of time", "of operations", "of memory"]
    return markdown(head, body)


def draw(report: Report, path: Path) -> None:
    """Draw time by all sizes, and memory by the dimension, doubly logarithmic."""
    from matplotlib.figure import Figure

    from thalweg_studies.report.style import COLOURS, LINES

    figure = Figure(figsize=(9.6, 10.8), layout="constrained", dpi=110)
    grid = figure.subplots(3, 2)
    grid.flat[-1].set_axis_off()
    lines = lines_of(report["rows"])
    panels = [(series, "ms", "time of a generation (ms)") for series in SERIES]
    panels.append((next(iter(SERIES)), "bytes", "memory (bytes)"))
    for axes, (series, key, label) in zip(grid.flat, panels, strict=False):
        for i, ((_, line), rows) in enumerate((name, rows) for name, rows in lines.items() if name[0] == series):
            sizes, costs = [row["size"] for row in rows], [row[key] for row in rows]
            name = f"{line}, exponent {exponent(sizes, costs):.2f}"
            axes.loglog(sizes, costs, color=COLOURS[i], linestyle=LINES[i], marker="os^Dv"[i], markersize=4, label=name)
        axes.set_xlabel(series)
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    save_figure(figure, path)


if __name__ == "__main__":
    measure_or_show(__doc__, measure, show, ROUNDS, draw)
