"""What bending costs in a compiled run: operations, time, and the rate against a plain matrix product of the same shapes.

    OMP_NUM_THREADS=1 python benchmarks/flow_work.py --out benchmarks/results/flow_work.json

On one core. The work of the flow is what a generation of `gnn-cma` costs more than one of `cma`: operations by the compiler's
count, in which tanh is no operation and LAPACK's are missing; time as the difference of medians over rounds that both share.
The matrix products are those of a coupling, (n, d/2) by (d/2, 16) and (n, 16) by (16, d/2), one after another in a compiled
loop. About two minutes.
"""

import argparse
import json
import os
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from per_generation import SIZES, by_scan, per_generation, scanned, sphere

import thalweg
from thalweg import stepping
from thalweg.report.files import markdown

ROUNDS, WIDTH, PRODUCTS = 9, 16, 100


def operations(method: str, d: int, n: int) -> float:
    """Of a generation, by the compiler's count."""
    strategy = thalweg.make_strategy(method, popsize=n)

    def step(state: Any) -> Any:
        e, x, state = strategy.ask(state)
        return strategy.tell(state, e, x, sphere(x))[0]

    with jax.enable_x64(True):
        state = jax.eval_shape(lambda: strategy.init(stepping.make_keys([1])[0], jnp.ones(d), 1.0))
        compiled: Any = jax.jit(step).lower(state).compile()
    return compiled.cost_analysis()["flops"]


def products(d: int, n: int) -> tuple[Any, float]:
    """A call that makes the products of so many couplings, and its operations."""
    half = (d + 1) // 2
    with jax.enable_x64(True):
        into, out = jnp.full((half, WIDTH), 1e-3), jnp.full((WIDTH, half), 1e-3)
    return scanned(lambda: jnp.ones((n, half)), lambda x: (x @ into) @ out, PRODUCTS), PRODUCTS * 4.0 * n * half * WIDTH


def measure() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for d, n in SIZES:
        print(f"d = {d}, N = {n}", flush=True)
        length, (product, flop) = max(5, 20_000 // (d * n)), products(d, n)
        runs = {method: (by_scan(method, d, n, length), length) for method in ("gnn-cma", "cma")}
        taken = per_generation(runs | {"products": (product, 1)}, ROUNDS)
        work = operations("gnn-cma", d, n) - operations("cma", d, n)
        ms = {name: float(np.median(times)) for name, times in taken.items()}
        rows.append({"d": d, "n": n, "mflop": work / 1e6, "ms": ms, "plain": flop / ms["products"] / 1e6})
    return rows


def show(report: dict[str, Any]) -> str:
    """A table: the flow's work, its time, its rate, and the rate of plain products."""
    body: list[list[str]] = []
    for row in report["rows"]:
        extra = row["ms"]["gnn-cma"] - row["ms"]["cma"]
        rate = row["mflop"] / extra
        times = [f"{row['mflop']:.3g}", f"{row['ms']['cma']:.3g}", f"{row['ms']['gnn-cma']:.3g}"]
        body.append([f"{row['d']} / {row['n']}", *times, f"{rate:.2g}", f"{row['plain']:.2g}", f"{rate / row['plain']:.0%}"])
    head = ["d / N", "flow (MFLOP)", "cma (ms)", "gnn-cma (ms)", "flow (GFLOP/s)", "plain products (GFLOP/s)", "share"]
    return markdown(head, body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where the JSON goes")
    parser.add_argument("--show", type=Path, help="print the table of a JSON file instead")
    arguments = parser.parse_args()
    if arguments.show:
        print(show(json.loads(arguments.show.read_text())))
        return
    versions = {name: metadata.version(name) for name in ("jax", "numpy")} | {"thalweg": thalweg.__version__}
    report = {"versions": versions, "cpu_count": os.cpu_count(), "rounds": ROUNDS, "rows": measure()}
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(show(report))


if __name__ == "__main__":
    main()
