"""What bending saves in curved valleys, what it costs elsewhere, and how much there would be to gain.

    python studies/benchmarks/banana.py --out studies/benchmarks/results/banana.json

Rosenbrock's function with a = 1e2 to 1e5 in place of 100, the chain in more than two dimensions, beside sphere, ellipsoid
(1e6), discus and bent cigar; moved by U[-2, 2]^d, the last three rotated, x0 = 0, sigma0 = 1, on report seeds 1000 to 1099.
CMA-ES alone, under each flow, and as an oracle that sees the valley straight, through y_1 = x_1, y_{i+1} = x_{i+1} - x_i^2.
Ratios are those of mean evaluations to 1e-8 over the seeds that both solve, with 95% bootstrap intervals over pairs. All
landscapes of a setting are one compiled program for each arm. Rows that --out holds already are not run again. This is for a
GPU; on a CPU, `--quick`.
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
from sample_efficiency import finite, markdown
from valley_study import SETTINGS, Row, Scope, about, follow, load, parser, save

import thalweg
from thalweg.objectives.valleys import chain

OTHERS = FUNCTIONS[1:]
FLOWS = ("affine", "nice", "shear", "shear-affine", "shear-nice")
ARMS = ("cma", *FLOWS, "oracle")
DEFAULT = "shear-affine"


class Ground(NamedTuple):
    """A landscape, and how narrow its valley is if it is a banana."""

    landscape: Landscape
    factor: Any


def grounds(d: int, seeds: Sequence[int], factors: Sequence[float]) -> tuple[list[str], Ground]:
    """The names of the functions, bananas first, and each of them on every seed's landscape, stacked along a leading axis."""
    where = landscapes(d, seeds, ["rosenbrock"] * len(factors) + list(OTHERS))
    names = [f"banana-{a:g}" for a in factors] + list(OTHERS)
    return names, Ground(where, np.repeat([*factors, *np.ones(len(OTHERS))], len(seeds)))


def factors_in(d: int, factors: Sequence[float]) -> Sequence[float]:
    """Those that are run in dimension d: the narrowest chain of 20 takes CMA-ES too long."""
    return factors if d < 20 else [a for a in factors if a <= 1e4]


def value(x: Any, ground: Ground) -> Any:
    """The function that the ground names, at one point."""
    where = ground.landscape
    return jnp.where(where.which == 0, chain(x - where.shift, ground.factor), battery_value(x, where))


def straighten(z: np.ndarray) -> np.ndarray:
    """y_1 = z_1, y_{i+1} = z_{i+1} - z_i^2, for points (..., d): along the valley only y_1 changes."""
    return np.concatenate([z[..., :1], z[..., 1:] - z[..., :-1] ** 2], -1)


def straight_value(y: Any, ground: Ground) -> Any:
    """The banana at the point that `straighten` takes to y."""

    def following(z: Any, y: Any) -> Any:
        return y + z**2, z

    _, along = jax.lax.scan(following, y[0], y[1:])
    return jnp.sum(ground.factor * y[1:] ** 2 + (1 - along) ** 2)  # far out this may be infinite, but not NaN


def one_run(strategy: thalweg.Strategy, fun: Callable[..., Any], most: int, seed: Any, start: Any, ground: Ground) -> Any:
    """Evaluations to the target, or infinity: at the end of the budget, or once the search has shrunk to nothing elsewhere."""
    n = strategy.population(len(start))

    def unfinished(carry: Any) -> Any:
        _, best, generation, alive = carry
        return (best > TARGET) & (generation < most // n) & alive

    def generation(carry: Any) -> Any:
        state, best, number, _ = carry
        e, x, state = strategy.ask(state)
        f = jax.vmap(lambda point: fun(point, ground))(x)
        state, _ = strategy.tell(state, e, x, f)
        mean, std = strategy.spread(state)
        alive = jnp.all(jnp.isfinite(mean)) & jnp.all(jnp.isfinite(std)) & (jnp.max(std) > 1e-12)
        return state, jnp.fmin(best, jnp.nanmin(f)), number + 1, alive

    begun = (strategy.init(jax.random.key(seed), start, 1.0), jnp.inf, 0, True)
    _, best, generations, _ = jax.lax.while_loop(unfinished, generation, begun)
    return jnp.where(best <= TARGET, generations * n, jnp.inf)


@partial(jax.jit, static_argnums=(0, 1, 2))
def all_runs(strategy: thalweg.Strategy, fun: Callable[..., Any], most: int, seeds: Any, start: Any, ground: Ground) -> Any:
    return jax.vmap(partial(one_run, strategy, fun, most))(seeds, start, ground)


def measure(arm: str, d: int, n: int, seeds: Sequence[int], factors: Sequence[float]) -> dict[str, np.ndarray]:
    """Evaluations of every seed's run, by function; of the oracle on bananas alone."""
    names, ground = grounds(d, seeds, factors)
    method = {"method": "cma"} if arm in ("cma", "oracle") else {"method": "gnn-cma", "flow": arm}
    start, fun = np.zeros_like(ground.landscape.shift), value
    if arm == "oracle":  # from the point where the others start
        names = names[: len(factors)]
        ground = jax.tree.map(lambda part: part[: len(names) * len(seeds)], ground)
        start, fun = straighten(-ground.landscape.shift), straight_value
    with jax.enable_x64(True):
        numbers = np.tile(np.asarray(seeds), len(names))
        strategy = thalweg.make_strategy(**method, popsize=n)
        evaluations = np.asarray(all_runs(strategy, fun, SETTINGS[d, n], numbers, start, ground))
    return dict(zip(names, evaluations.reshape(len(names), len(seeds)), strict=True))


def summary(own: np.ndarray, reference: np.ndarray) -> Row:
    """What a row says of the evaluations of one arm on one function, beside the reference's on the same seeds."""
    solved = np.isfinite(own)
    return {
        "mean": float(own[solved].mean()) if solved.any() else None,
        "solved": float(solved.mean()),
        "ratio": mean_ratio(own, reference),
        "evaluations": [finite(number) for number in own],
    }


def mean_ratio(a: np.ndarray, b: np.ndarray) -> list[float] | None:
    """mean(a) / mean(b) over the pairs where both are finite and its 95% bootstrap interval; None without such a pair."""
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return None
    a, b = a[both], b[both]
    index = np.random.default_rng(0).integers(len(a), size=(2000, len(a)))
    low, high = np.percentile(a[index].mean(1) / b[index].mean(1), (2.5, 97.5))
    return [float(a.mean() / b.mean()), float(low), float(high)]


def run(scope: Scope, arms: Sequence[str]) -> None:
    """Every arm at every setting that the file does not hold yet."""
    meta = about("banana", scope)
    rows = load(scope.path, meta)
    for d, n in scope.settings:
        for arm in dict.fromkeys(("cma", *arms)):  # the others are compared with it
            if any((row["d"], row["n"], row["arm"]) == (d, n, arm) for row in rows):
                continue
            began = time.perf_counter()
            measured = measure(arm, d, n, scope.seeds, factors_in(d, scope.factors))
            first = {row["function"]: runs_of(row) for row in rows if (row["d"], row["n"], row["arm"]) == (d, n, "cma")}
            added = [
                {"d": d, "n": n, "arm": arm, "function": name, **summary(own, first.get(name, own))}
                for name, own in measured.items()
            ]
            rows += added
            save(scope.path, meta, rows)
            shown = ", ".join(f"{row['function']} {cell(row)}" for row in added)
            print(f"d={d} n={n} {arm}, {time.perf_counter() - began:.0f} s: {shown}", flush=True)


def runs_of(row: Row) -> np.ndarray:
    """The evaluations of every run, infinity where the target was not reached."""
    return np.asarray([np.inf if number is None else number for number in row["evaluations"]])


def cell(row: Row | None, *, spread: bool = False) -> str:
    """A ratio for people, with its interval on demand, and with the share of solved runs where that is not all of them."""
    if row is None:
        return "-"
    if row["ratio"] is None:  # not solved, or where the reference is not
        return absolute(row) + " evaluations" * (row["mean"] is not None)
    ratio, low, high = row["ratio"]
    return f"{ratio:.2f}" + (f" [{low:.2f}, {high:.2f}]" if spread else "") + share(row)


def absolute(row: Row) -> str:
    """Mean evaluations for people."""
    return "never" if row["mean"] is None else f"{row['mean']:,.0f}{share(row)}"


def share(row: Row) -> str:
    return f" ({row['solved']:.0%})" if row["solved"] < 1 else ""


def called(function: str) -> str:
    """The name of a function for people: "banana, 1e3" for a = 1,000.

    >>> called("banana-1000"), called("bent-cigar")
    ('banana, 1e3', 'bent cigar')
    """
    kind, _, a = function.partition("-")
    return f"banana, 1e{np.log10(float(a)):.0f}" if kind == "banana" else function.replace("-", " ")


def tables(rows: list[Row]) -> str:
    """Markdown: the default, the affine ablation and the oracle at all settings; then every arm, setting by setting."""
    found = {(row["d"], row["n"], row["arm"], row["function"]): row for row in rows}
    settings = [s for s in SETTINGS if any((row["d"], row["n"]) == s for row in rows)]
    functions = list(dict.fromkeys(row["function"] for row in rows))
    head = ["function", *(f"d = {d}, N = {n}" for d, n in settings)]
    lines: list[list[str]] = [head, ["---"] * len(head)]
    for function in functions:
        shown = (DEFAULT, "affine", "oracle") if function.startswith("banana") else (DEFAULT, "affine")
        each = [[found.get((*s, arm, function)) for arm in shown] for s in settings]
        lines.append([called(function), *(", ".join(map(cell, own)) if any(own) else "-" for own in each)])
    parts = [markdown(lines)]
    for d, n in settings:
        lines = [["function", "evaluations of `cma`", *(f"`{arm}`" for arm in ARMS[1:])], ["---"] * (len(ARMS) + 1)]
        for function in functions:
            first = found.get((d, n, "cma", function))
            if first is not None:
                others = (cell(found.get((d, n, arm, function)), spread=True) for arm in ARMS[1:])
                lines.append([called(function), absolute(first), *others])
        parts.append(f"### d = {d}, N = {n}\n\n" + markdown(lines))
    return "\n\n".join(parts)


def main() -> None:
    own = parser(__doc__, "banana", REPORT)
    own.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    options = own.parse_args()
    follow(options, "banana", REPORT, partial(run, arms=options.arms), tables)


if __name__ == "__main__":
    main()
