"""Evaluations that bending saves in curved valleys and costs elsewhere, beside an oracle that knows the valley.

    python studies/benchmarks/banana.py --out studies/benchmarks/results/banana.json

Rosenbrock's function with a = 1e2 to 1e5 in place of 100, the chain in more than two dimensions, beside sphere, ellipsoid
(1e6), discus and bent cigar; moved by U[-2, 2]^d, the last three rotated, x0 = 0, sigma0 = 1, on report seeds 1000 to 1099.
The algorithms are CMA-ES alone, CMA-ES under each flow, and an oracle: CMA-ES in coordinates in which the valley is straight,
y_1 = x_1, y_{i+1} = x_{i+1} - x_i^2. Ratios are those of mean evaluations to 1e-8 over the seeds that both solve, with 95%
bootstrap intervals over pairs. All landscapes of a setting are one compiled program for each algorithm. Rows that --out holds
already are not run again. Meant for a GPU; use `--quick` on a CPU.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from battery import FUNCTIONS, REPORT, TARGET, Landscape, landscapes
from battery import value as battery_value
from shared import Row, finite, infinite, load_rows, markdown, mean_ratio, save_rows
from valley_study import SETTINGS, Scope, carry_out, describe, study_parser

import thalweg
from thalweg.objectives.functions import chain

OTHERS = FUNCTIONS[1:]
FLOWS = ("affine", "nice", "shear", "shear-affine", "shear-nice")
ALGORITHMS = ("cma", *FLOWS, "oracle")
DEFAULT = "shear-affine"


class BananaLandscape(NamedTuple):
    """A landscape; the factor a is used where its function is a banana."""

    landscape: Landscape
    factor: Any


def banana_landscapes(d: int, seeds: Sequence[int], factors: Sequence[float]) -> tuple[list[str], BananaLandscape]:
    """Return the names of the functions, bananas first, and each on every seed's landscape, stacked along a leading axis."""
    where = landscapes(d, seeds, ["rosenbrock"] * len(factors) + list(OTHERS))
    names = [f"banana-{a:g}" for a in factors] + list(OTHERS)
    return names, BananaLandscape(where, np.repeat([*factors, *np.ones(len(OTHERS))], len(seeds)))


def factors_in(d: int, factors: Sequence[float]) -> Sequence[float]:
    """Return the factors that are run in dimension d: CMA-ES takes too long in the narrowest valley of dimension 20."""
    return factors if d < 20 else [a for a in factors if a <= 1e4]


def value(x: Any, problem: BananaLandscape) -> Any:
    """Return the value of the function at one point."""
    where = problem.landscape
    return jnp.where(where.which == 0, chain(x - where.shift, problem.factor), battery_value(x, where))


def straighten(z: np.ndarray) -> np.ndarray:
    """Return y_1 = z_1, y_{i+1} = z_{i+1} - z_i^2 for points (..., d): along the valley only y_1 changes."""
    return np.concatenate([z[..., :1], z[..., 1:] - z[..., :-1] ** 2], -1)


def straight_value(y: Any, problem: BananaLandscape) -> Any:
    """Return the value of the banana at the point that `straighten` maps to y."""

    def following(z: Any, y: Any) -> Any:
        return y + z**2, z

    _, along = jax.lax.scan(following, y[0], y[1:])
    return jnp.sum(problem.factor * y[1:] ** 2 + (1 - along) ** 2)  # far out this may be infinite, but not NaN


def one_run(
    strategy: thalweg.Strategy, fun: Callable[..., Any], most: int, seed: Any, start: Any, problem: BananaLandscape
) -> Any:
    """Return evaluations to the target, infinity if the budget or the search distribution comes to its end before."""
    n = strategy.population(len(start))

    def unfinished(carry: Any) -> Any:
        _, best, generation, alive = carry
        return (best > TARGET) & (generation < most // n) & alive

    def generation(carry: Any) -> Any:
        state, best, number, _ = carry
        e, x, state = strategy.ask(state)
        f = jax.vmap(lambda point: fun(point, problem))(x)
        state, _ = strategy.tell(state, e, x, f)
        mean, std = strategy.spread(state)
        alive = jnp.all(jnp.isfinite(mean)) & jnp.all(jnp.isfinite(std)) & (jnp.max(std) > 1e-12)
        return state, jnp.fmin(best, jnp.nanmin(f)), number + 1, alive

    begun = (strategy.init(jax.random.key(seed), start, 1.0), jnp.inf, 0, True)
    _, best, generations, _ = jax.lax.while_loop(unfinished, generation, begun)
    return jnp.where(best <= TARGET, generations * n, jnp.inf)


@partial(jax.jit, static_argnums=(0, 1, 2))
def all_runs(
    strategy: thalweg.Strategy, fun: Callable[..., Any], most: int, seeds: Any, start: Any, problem: BananaLandscape
) -> Any:
    return jax.vmap(partial(one_run, strategy, fun, most))(seeds, start, problem)


def measure(algorithm: str, d: int, n: int, seeds: Sequence[int], factors: Sequence[float]) -> dict[str, np.ndarray]:
    """Return the evaluations of every seed's run by function; the oracle runs on bananas only."""
    names, problem = banana_landscapes(d, seeds, factors)
    method = {"method": "cma"} if algorithm in ("cma", "oracle") else {"method": "gnn-cma", "flow": algorithm}
    start, fun = np.zeros_like(problem.landscape.shift), value
    if algorithm == "oracle":  # starts from the same point as the others
        names = names[: len(factors)]
        problem = jax.tree.map(lambda part: part[: len(names) * len(seeds)], problem)
        start, fun = straighten(-problem.landscape.shift), straight_value
    with jax.enable_x64(True):
        numbers = np.tile(np.asarray(seeds), len(names))
        strategy = thalweg.make_strategy(**method, popsize=n)
        evaluations = np.asarray(all_runs(strategy, fun, SETTINGS[d, n], numbers, start, problem))
    return dict(zip(names, evaluations.reshape(len(names), len(seeds)), strict=True))


def summary(own: np.ndarray, reference: np.ndarray) -> Row:
    """Summarise the evaluations of an algorithm on a function, relative to the reference's on the same seeds."""
    solved = np.isfinite(own)
    return {
        "mean": float(own[solved].mean()) if solved.any() else None,
        "solved": float(solved.mean()),
        "ratio": mean_ratio(own, reference),
        "evaluations": [finite(number) for number in own],
    }


def run(scope: Scope, algorithms: Sequence[str]) -> None:
    """Run each algorithm at each setting, except those in the file already; result files name the algorithm "arm"."""
    meta = describe("banana", scope)
    rows = load_rows(scope.path, meta)
    for d, n in scope.settings:
        for algorithm in dict.fromkeys(("cma", *algorithms)):  # the others are compared with cma
            if any((row["d"], row["n"], row["arm"]) == (d, n, algorithm) for row in rows):
                continue
            began = time.perf_counter()
            measured = measure(algorithm, d, n, scope.seeds, factors_in(d, scope.factors))
            reference = (row for row in rows if (row["d"], row["n"], row["arm"]) == (d, n, "cma"))
            first = {row["function"]: infinite(row["evaluations"]) for row in reference}
            added = [
                {"d": d, "n": n, "arm": algorithm, "function": name, **summary(own, first.get(name, own))}
                for name, own in measured.items()
            ]
            rows += added
            save_rows(scope.path, meta, rows)
            shown = ", ".join(f"{row['function']} {cell(row)}" for row in added)
            print(f"d={d} n={n} {algorithm}, {time.perf_counter() - began:.0f} s: {shown}", flush=True)


def cell(row: Row | None, *, spread: bool = False) -> str:
    """Format a ratio, with its interval on demand, and with the share of solved runs where it is below 1."""
    if row is None:
        return "-"
    if row["ratio"] is None:  # not solved, or where the reference is not
        return absolute(row) + " evaluations" * (row["mean"] is not None)
    ratio, low, high = row["ratio"]
    return f"{ratio:.2f}" + (f" [{low:.2f}, {high:.2f}]" if spread else "") + share(row)


def absolute(row: Row) -> str:
    """Format mean evaluations, with the share of solved runs where it is below 1."""
    return "never" if row["mean"] is None else f"{row['mean']:,.0f}{share(row)}"


def share(row: Row) -> str:
    return f" ({row['solved']:.0%})" if row["solved"] < 1 else ""


def title(function: str) -> str:
    """Return the name of a function as tables show it.

    >>> title("banana-1000"), title("bent-cigar")
    ('banana, 1e3', 'bent cigar')
    """
    kind, _, a = function.partition("-")
    return f"banana, 1e{np.log10(float(a)):.0f}" if kind == "banana" else function.replace("-", " ")


def tables(rows: list[Row]) -> str:
    """Return a table of default, affine ablation and oracle at all settings, then a table of all algorithms for each."""
    found = {(row["d"], row["n"], row["arm"], row["function"]): row for row in rows}
    settings = [s for s in SETTINGS if any((row["d"], row["n"]) == s for row in rows)]
    functions = list(dict.fromkeys(row["function"] for row in rows))
    head = ["function", *(f"d = {d}, N = {n}" for d, n in settings)]
    lines: list[list[str]] = []
    for function in functions:
        shown = (DEFAULT, "affine", "oracle") if function.startswith("banana") else (DEFAULT, "affine")
        each = [[found.get((*s, algorithm, function)) for algorithm in shown] for s in settings]
        lines.append([title(function), *(", ".join(map(cell, own)) if any(own) else "-" for own in each)])
    parts = [markdown(head, lines)]
    for d, n in settings:
        head, lines = ["function", "evaluations of `cma`", *(f"`{algorithm}`" for algorithm in ALGORITHMS[1:])], []
        for function in functions:
            first = found.get((d, n, "cma", function))
            if first is not None:
                others = (cell(found.get((d, n, algorithm, function)), spread=True) for algorithm in ALGORITHMS[1:])
                lines.append([title(function), absolute(first), *others])
        parts.append(f"### d = {d}, N = {n}\n\n" + markdown(head, lines))
    return "\n\n".join(parts)


def main() -> None:
    parser = study_parser(__doc__, "banana", REPORT)
    parser.add_argument(
        "--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS, help="algorithms to run (default: all)"
    )
    options = parser.parse_args()
    carry_out(options, "banana", REPORT, partial(run, algorithms=options.algorithms), tables)


if __name__ == "__main__":
    main()
