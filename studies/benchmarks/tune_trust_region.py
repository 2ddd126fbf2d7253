"""What each constant of the trust-region step was measured against, on development seeds.

    python studies/benchmarks/tune_trust_region.py --out studies/benchmarks/results/tune_trust_region.json

One constant at a time is moved away from its default, in dimension 2 and 10, with 10 d points a generation and with the default
4 + 3 ln d. Constants that are numbers are traced, so that all their values are one compiled program: the functional core,
vmapped over hyper-parameters, landscapes and seeds. On a GPU this takes some minutes, on a CPU core an hour or two.
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from battery import DEVELOPMENT, FUNCTIONS, TARGET, Landscape, landscapes, value
from sample_efficiency import markdown

from thalweg import CMAES, GNNES, NICE, TrustRegion

SETTINGS = {(2, 20): (130, (500,)), (10, 100): (300, (10_000, 16_000)), (2, 6): (500, ()), (10, 10): (1200, ())}
"""Dimension and population: generations, and budgets at which f is compared."""

NUMBERS = {  # factors for what depends on n and d, values for what does not
    "radius": ("x", (0.3, 3.0)),
    "adapt": ("x", (0.0, 0.3)),
    "clip": ("=", (1.0, 5.0, 20.0, 100.0)),
    "bar": ("=", (-0.3, -0.1, 0.1, 0.3)),
    "momentum": ("=", (0.0, 0.5, 0.7, 0.9)),
    "tempering": ("=", (0.0, 0.1, 1.0)),
    "bend_bar": ("=", (0.0, 2.0)),
}
WHOLE = {"products": (2, 10), "generations": (1, 5), "points": (128, 400)}

Fixed = tuple[tuple[str, int], ...]
"""Constants that are whole numbers, which shape the program."""


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def best_of_runs(
    fixed: tuple[tuple[str, int], ...],
    names: tuple[str, ...],
    n: int,
    generations: int,
    values: Any,
    keys: Any,
    where: Landscape,
) -> Any:
    """Best value so far, (configurations, runs, generations)."""

    def one(values: Any, key: Any, landscape: Landscape) -> Any:
        whole = dict(fixed)
        points = whole.pop("points", None)
        step = TrustRegion(**whole, **dict(zip(names, values, strict=True)))
        strategy = GNNES(CMAES(popsize=n), NICE(), step, points=points)

        def generation(carry: Any, _: None) -> Any:
            state, best = carry
            e, x, state = strategy.ask(state)
            f = jax.vmap(lambda point: value(point, landscape))(x)
            state, _ = strategy.tell(state, e, x, f)
            best = jnp.fmin(best, jnp.min(f))
            return (state, best), best

        start = strategy.init(key, jnp.zeros_like(landscape.shift), 1.0)
        return jax.lax.scan(generation, (start, jnp.inf), None, generations)[1]

    return jax.vmap(jax.vmap(one, (None, 0, 0)), (0, None, None))(values, keys, where)


def study(d: int, n: int, seeds: list[int]) -> list[dict[str, Any]]:
    """Every variant at one dimension and population, as evaluations relative to the default's."""
    generations, marks = SETTINGS[d, n]
    where = jax.tree.map(jnp.asarray, landscapes(d, seeds))
    keys = jax.vmap(jax.random.PRNGKey)(jnp.tile(jnp.asarray(seeds), len(FUNCTIONS)))
    default = {**TrustRegion().settings(n, d)._asdict(), "tempering": 0.3, "bend_bar": 1.0, "products": 1, "points": 64}
    names = tuple(NUMBERS)
    grid = [("default", None, {name: default[name] for name in names})]
    for name, (how, moved) in NUMBERS.items():
        for m in moved:
            number = m * default[name] if how == "x" else m
            if number != default[name]:
                grid.append((name, number, {**grid[0][2], name: number}))

    def run(fixed: Fixed, configurations: list[dict[str, float]]) -> Any:
        columns = tuple(jnp.asarray([c[name] for c in configurations]) for name in names)
        best = np.asarray(best_of_runs(fixed, names, n, generations, columns, keys, where))
        return best.reshape(len(configurations), len(FUNCTIONS), len(seeds), generations)

    results = list(zip(grid, run((), [g[2] for g in grid]), strict=True))
    for name, moved in WHOLE.items():
        for whole in moved:
            if whole != default[name]:
                results.append(((name, whole, grid[0][2]), run(((name, whole),), [grid[0][2]])[0]))
    first = summary(results[0][1], n, marks)
    rows: list[dict[str, Any]] = []
    for (name, number, _), best in results:
        own = summary(best, n, marks)
        rows.append(
            {
                "d": d,
                "n": n,
                "constant": name,
                "value": default.get(name) if number is None else number,
                "evaluations": {f: v / first["evaluations"][f] for f, v in own["evaluations"].items()},
                "reached": own["reached"],
                "rosenbrock": {m: v / first["rosenbrock"][m] for m, v in own["rosenbrock"].items()},
            }
        )
    return rows


def summary(best: np.ndarray, n: int, marks: tuple[int, ...]) -> dict[str, Any]:
    """Median evaluations to the target and share of runs that reached it, by function; Rosenbrock's median f at the marks."""
    reached = best <= TARGET
    evaluations = np.where(reached.any(-1), reached.argmax(-1) + 1, np.inf) * n
    return {
        "evaluations": dict(zip(FUNCTIONS, np.median(evaluations, -1).tolist(), strict=True)),
        "reached": dict(zip(FUNCTIONS, reached.any(-1).mean(-1).tolist(), strict=True)),
        "rosenbrock": {str(m): float(np.median(best[0, :, m // n - 1])) for m in marks},
    }


def tables(rows: list[dict[str, Any]]) -> str:
    """Markdown: one table a setting, evaluations and values relative to the defaults."""
    parts: list[str] = []
    for d, n in SETTINGS:
        first, *moved = [row for row in rows if (row["d"], row["n"]) == (d, n)]
        marks = list(first["rosenbrock"])
        head = ["constant", "value", *FUNCTIONS, *(f"f at {int(m):,}" for m in marks)]
        lines = [head, ["---"] * len(head)]
        for row in moved:
            cells = [f"`{row['constant']}`", f"{row['value']:.3g}"]
            for name in FUNCTIONS:
                ratio, share = row["evaluations"][name], row["reached"][name]
                note = f" ({share:.0%})" if share < 1 and share != first["reached"][name] else ""
                cells.append(("never" if ratio == float("inf") else f"{ratio:.2f}") + note)
            lines.append(cells + [f"x {row['rosenbrock'][m]:.2g}" for m in marks])
        parts.append(f"### d = {d}, n = {n}\n\n" + markdown(lines))
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=len(DEVELOPMENT))
    parser.add_argument("--out", type=Path, default=Path("studies/benchmarks/results/tune_trust_region.json"))
    parser.add_argument("--show", action="store_true", help="only print the tables of an existing --out file")
    options = parser.parse_args()
    if not options.show:
        rows: list[dict[str, Any]] = []
        for d, n in SETTINGS:
            start = time.perf_counter()
            with jax.enable_x64(True):
                rows += study(d, n, list(DEVELOPMENT[: options.seeds]))
            print(f"d={d} n={n}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps({"seeds": options.seeds, "jax": jax.__version__, "rows": rows}, indent=1) + "\n")
    print(tables(json.loads(options.out.read_text())["rows"]))


if __name__ == "__main__":
    main()
