"""Comparison of each constant of the trust-region step with other values, on development seeds.

    python studies/benchmarks/tune_trust_region.py --out studies/benchmarks/results/tune_trust_region.json

One constant at a time is moved away from its default, in dimension 2 and 10, with 10 d points a generation and with the default
4 + 3 ln d. Constants that are real numbers are traced, so that all their values share one compiled program: the functional
core, vmapped over hyper-parameters, landscapes and seeds. This takes some minutes on a GPU, an hour or two on a CPU core.
"""

import sys
import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from battery import DEVELOPMENT, FUNCTIONS, TARGET, Landscape, landscapes, value
from shared import Row, add_show, make_parser, markdown, read_rows, write_json

from thalweg import CMAES, GNNES, NICE, TrustRegion

SETTINGS = {(2, 20): (130, (500,)), (10, 100): (300, (10_000, 16_000)), (2, 6): (500, ()), (10, 10): (1200, ())}
"""Generations, and budgets at which f is compared, by dimension and population."""

REALS = {  # "x": factors of a default that depends on n and d; "=": values
    "radius": ("x", (0.3, 3.0)),
    "adapt": ("x", (0.0, 0.3)),
    "clip": ("=", (1.0, 5.0, 20.0, 100.0)),
    "bar": ("=", (-0.3, -0.1, 0.1, 0.3)),
    "momentum": ("=", (0.0, 0.5, 0.7, 0.9)),
    "tempering": ("=", (0.0, 0.1, 1.0)),
    "bend_bar": ("=", (0.0, 2.0)),
}
INTEGERS = {"products": (2, 10), "generations": (1, 5), "points": (128, 400)}

Fixed = tuple[tuple[str, int], ...]
"""Constants that are integers, on which the shape of the program depends."""


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def best_of_runs(
    fixed: Fixed,
    names: tuple[str, ...],
    n: int,
    generations: int,
    values: Any,
    keys: Any,
    where: Landscape,
) -> Any:
    """Return the best value so far, (configurations, runs, generations)."""

    def one(values: Any, key: Any, landscape: Landscape) -> Any:
        integers = dict(fixed)
        points = integers.pop("points", None)
        step = TrustRegion(**integers, **dict(zip(names, values, strict=True)))
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


def study(d: int, n: int, seeds: list[int]) -> list[Row]:
    """Run every variant at one dimension and population; return evaluations relative to the default's."""
    generations, marks = SETTINGS[d, n]
    where = jax.tree.map(jnp.asarray, landscapes(d, seeds))
    keys = jax.vmap(jax.random.PRNGKey)(jnp.tile(jnp.asarray(seeds), len(FUNCTIONS)))
    default = {**TrustRegion().settings(n, d)._asdict(), "tempering": 0.3, "bend_bar": 1.0, "products": 1, "points": 64}
    names = tuple(REALS)
    grid = [("default", None, {name: default[name] for name in names})]
    for name, (how, moved) in REALS.items():
        for m in moved:
            number = m * default[name] if how == "x" else m
            if number != default[name]:
                grid.append((name, number, {**grid[0][2], name: number}))

    def run(fixed: Fixed, configurations: list[dict[str, float]]) -> Any:
        columns = tuple(jnp.asarray([c[name] for c in configurations]) for name in names)
        best = np.asarray(best_of_runs(fixed, names, n, generations, columns, keys, where))
        return best.reshape(len(configurations), len(FUNCTIONS), len(seeds), generations)

    results = list(zip(grid, run((), [g[2] for g in grid]), strict=True))
    for name, moved in INTEGERS.items():
        for integer in moved:
            if integer != default[name]:
                results.append(((name, integer, grid[0][2]), run(((name, integer),), [grid[0][2]])[0]))
    first = summary(results[0][1], n, marks)
    rows: list[Row] = []
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


def summary(best: np.ndarray, n: int, marks: tuple[int, ...]) -> Row:
    """Return median evaluations to the target and shares of solved runs by function, and Rosenbrock's median f at `marks`."""
    reached = best <= TARGET
    evaluations = np.where(reached.any(-1), reached.argmax(-1) + 1, np.inf) * n
    return {
        "evaluations": dict(zip(FUNCTIONS, np.median(evaluations, -1).tolist(), strict=True)),
        "reached": dict(zip(FUNCTIONS, reached.any(-1).mean(-1).tolist(), strict=True)),
        "rosenbrock": {str(m): float(np.median(best[0, :, m // n - 1])) for m in marks},
    }


def tables(rows: list[Row]) -> str:
    """Return one table a setting, with evaluations and values relative to the defaults."""
    parts: list[str] = []
    for d, n in SETTINGS:
        first, *moved = [row for row in rows if (row["d"], row["n"]) == (d, n)]
        marks = list(first["rosenbrock"])
        head = ["constant", "value", *FUNCTIONS, *(f"f at {int(m):,}" for m in marks)]
        lines: list[list[str]] = []
        for row in moved:
            cells = [f"`{row['constant']}`", f"{row['value']:.3g}"]
            for name in FUNCTIONS:
                ratio, share = row["evaluations"][name], row["reached"][name]
                note = f" ({share:.0%})" if share < 1 and share != first["reached"][name] else ""
                cells.append(("never" if ratio == float("inf") else f"{ratio:.2f}") + note)
            lines.append(cells + [f"x {row['rosenbrock'][m]:.2g}" for m in marks])
        parts.append(f"### d = {d}, n = {n}\n\n" + markdown(head, lines))
    return "\n\n".join(parts)


def main() -> None:
    parser = make_parser(__doc__, "tune_trust_region")
    text = f"number of development seeds (default: all {len(DEVELOPMENT)})"
    parser.add_argument("--seeds", type=int, default=len(DEVELOPMENT), help=text)
    add_show(parser)
    options = parser.parse_args()
    if not options.show:
        rows: list[Row] = []
        for d, n in SETTINGS:
            start = time.perf_counter()
            with jax.enable_x64(True):
                rows += study(d, n, list(DEVELOPMENT[: options.seeds]))
            print(f"d={d} n={n}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
        write_json(options.out, {"seeds": options.seeds, "jax": jax.__version__, "rows": rows})
    print(tables(read_rows(options.out)))


if __name__ == "__main__":
    main()
