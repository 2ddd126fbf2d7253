"""Cost of bending in a compiled run: operations, time, and the rate relative to plain matrix products of the same shapes.

    OMP_NUM_THREADS=1 python studies/benchmarks/flow_work.py --out studies/benchmarks/results/flow_work.json

On one core. The work of the flow is the cost of a generation of `gnn-cma` minus that of `cma`. Operations are the compiler's
count, in which tanh is no operation and LAPACK's are missing; time is the difference of medians over rounds that both share.
The matrix products are those of a coupling, (n, d/2) by (d/2, 16) and (n, 16) by (16, d/2), one after another in a compiled
loop. This takes about two minutes.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from per_generation import by_scan, functions, per_generation, same, scanned
from shared import Report, Row, cost_report, measure_or_show

import thalweg
from thalweg_studies.report.files import markdown

ROUNDS, WIDTH, PRODUCTS = 9, 16, 100
SIZES = ((2, 20), (10, 10), (10, 100), (40, 400), (100, 1000))
"""Dimension and population: those whose flow learns in each generation."""


def operations(method: str, d: int, n: int) -> float:
    """Return the operations of a generation by the compiler's count."""
    init, generation = functions(thalweg.make_strategy(method, popsize=n), d)
    with jax.enable_x64(True):
        compiled: Any = jax.jit(generation).lower(jax.eval_shape(init)).compile()
    return compiled.cost_analysis()["flops"]


def products(d: int, n: int) -> tuple[Any, float]:
    """Return a call that makes the products of `PRODUCTS` couplings, and its number of operations."""
    half = (d + 1) // 2
    with jax.enable_x64(True):
        into, out = jnp.full((half, WIDTH), 1e-3), jnp.full((WIDTH, half), 1e-3)
    return scanned(lambda: jnp.ones((n, half)), lambda x: (x @ into) @ out, PRODUCTS), PRODUCTS * 4.0 * n * half * WIDTH


def measure(rounds: int) -> Report:
    rows: list[Row] = []
    for d, n in SIZES:
        print(f"d = {d}, N = {n}", flush=True)
        length, (product, flop) = max(5, 20_000 // (d * n)), products(d, n)
        runs = {method: (same(by_scan(method, d, n, length)), length) for method in ("gnn-cma", "cma")}
        taken = per_generation(runs | {"products": (same(product), 1)}, rounds)
        work = operations("gnn-cma", d, n) - operations("cma", d, n)
        ms = {name: float(np.median(times)) for name, times in taken.items()}
        rows.append({"d": d, "n": n, "mflop": work / 1e6, "ms": ms, "plain": flop / ms["products"] / 1e6})
    return cost_report(("jax", "numpy"), rounds, rows)


def show(report: Report) -> str:
    """Return a table of the flow's work, its time, its rate, and the rate of plain products."""
    body: list[list[str]] = []
    for row in report["rows"]:
        extra = row["ms"]["gnn-cma"] - row["ms"]["cma"]
        rate = row["mflop"] / extra
        times = [f"{row['mflop']:.3g}", f"{row['ms']['cma']:.3g}", f"{row['ms']['gnn-cma']:.3g}"]
        body.append([f"{row['d']} / {row['n']}", *times, f"{rate:.2g}", f"{row['plain']:.2g}", f"{rate / row['plain']:.0%}"])
    head = ["d / N", "flow (MFLOP)", "cma (ms)", "gnn-cma (ms)", "flow (GFLOP/s)", "plain products (GFLOP/s)", "share"]
    return markdown(head, body)


if __name__ == "__main__":
    measure_or_show(__doc__, measure, show, ROUNDS)
