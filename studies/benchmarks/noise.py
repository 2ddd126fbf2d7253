"""What noise costs, and what helps: learning-rate adaptation, larger populations, restarts; and what to take as the answer.

    python studies/benchmarks/noise.py --out studies/benchmarks/results/noise.json

Sphere and Rosenbrock in 10 dimensions with normal noise of several strengths added to each value, and without noise these two
and the ellipsoid (1e6); moved by U[-2, 2]^d, the last rotated, x0 = 0, sigma0 = 1, on report seeds 1000 to 1049. After 20,000
and 50,000 evaluations: the value without noise of the mean of the search distribution, and of the point with the best value
seen. Medians with 95% bootstrap intervals. All runs of an arm are one compiled program. Rows that --out holds already are not
run again. It takes about twenty minutes of one core.
"""

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from battery import REPORT, TARGET, Landscape, landscapes, value
from sample_efficiency import markdown
from valley_study import load, put, save

import thalweg

D = 10
MARKS = (20_000, 50_000)
SEEDS = REPORT[:50]
NOISY = tuple((function, strength) for function in ("sphere", "rosenbrock") for strength in (0.1, 1.0, 10.0))
"""Function and standard deviation of the noise."""
CLEAR = tuple((function, 0.0) for function in ("sphere", "ellipsoid", "rosenbrock"))
ARMS = (
    *((method, n) for n in (10, 100) for method in ("cma", "lra-cma", "gnn-cma", "gnn-lra-cma")),
    *((method, 400) for method in ("cma", "gnn-cma")),
    ("cma, IPOP", 10),
)
"""Method and population; 10 is the default, 100 is 10 d. IPOP begins with the default."""

Row = dict[str, Any]


class Case(NamedTuple):
    """A landscape, how noisy its values are, and the seed of that noise."""

    landscape: Landscape
    strength: Any
    seed: Any


class Seen(NamedTuple):
    """The point with the best value, as far as one can see; and the generation in which a value without noise was good."""

    f: Any
    x: Any
    solved: Any


def make_cases(which: Sequence[tuple[str, float]], seeds: Sequence[int]) -> Case:
    """Every case on every seed's landscape, case by case, stacked along a leading axis."""
    where = landscapes(D, seeds, [function for function, _ in which])
    strengths = np.repeat([strength for _, strength in which], len(seeds))
    return Case(where, strengths, np.tile(np.asarray(seeds), len(which)))


def noisy(x: Any, case: Case) -> Any:
    """The value of one point with its noise, which is a function of the seed and of the bits of the point."""
    words = jax.lax.bitcast_convert_type(x, jnp.uint32).ravel()
    odd = 2 * jnp.arange(len(words), dtype=jnp.uint32) + jnp.uint32(0x9E3779B9)
    key = jax.random.fold_in(jax.random.key(case.seed), jnp.sum(words * odd, dtype=jnp.uint32))
    return value(x, case.landscape) + case.strength * jax.random.normal(key, dtype=x.dtype)


def one_run(strategy: thalweg.Strategy, marks: Sequence[int], case: Case) -> tuple[Any, Any, Any]:
    """At each mark the values without noise of the mean and of the best point seen; and the generation of the target."""
    n = strategy.population(D)

    def generation(number: Any, carry: tuple[Any, Seen]) -> tuple[Any, Seen]:
        state, seen = carry
        e, x, state = strategy.ask(state)
        f = jax.vmap(lambda point: noisy(point, case))(x)
        i = jnp.nanargmin(f)
        better = f[i] < seen.f
        reached = jnp.isinf(seen.solved) & (value(x[i], case.landscape) <= TARGET)
        solved = jnp.where(reached, number + 1.0, seen.solved)
        seen = Seen(jnp.where(better, f[i], seen.f), jnp.where(better, x[i], seen.x), solved)
        return strategy.tell(state, e, x, f)[0], seen

    start = jnp.zeros(D)
    state = strategy.init(jax.random.key(case.seed), start, 1.0)
    seen = Seen(jnp.asarray(jnp.inf), start, jnp.asarray(jnp.inf))

    def stretch(carry: Any, ends: Any) -> tuple[Any, Any]:
        state, seen = jax.lax.fori_loop(ends[0], ends[1], generation, carry)
        return (state, seen), (value(strategy.spread(state)[0], case.landscape), value(seen.x, case.landscape))

    ends = jnp.asarray([0, *marks]) // n
    (_, seen), (mean, best) = jax.lax.scan(stretch, (state, seen), (ends[:-1], ends[1:]))
    return mean, best, seen.solved * n


@partial(jax.jit, static_argnums=(0, 1))
def all_runs(strategy: thalweg.Strategy, marks: tuple[int, ...], cases: Case) -> Any:
    return jax.vmap(partial(one_run, strategy, marks))(cases)


def measure(arm: str, n: int, seeds: Sequence[int], marks: tuple[int, ...]) -> list[Row]:
    """The rows of an arm: a case and a mark each, with the values of all seeds."""
    method, _, restarted = arm.partition(", ")
    which = NOISY if restarted else NOISY + CLEAR
    cases = make_cases(which, seeds)
    if restarted:
        runs = [restarts(method, n, cases, mark) for mark in marks]
        found: list[Any] = [None, np.stack(runs, -1), None]
    else:
        with jax.enable_x64(True):
            found = [np.asarray(part) for part in all_runs(thalweg.make_strategy(method, n), marks, cases)]
    rows: list[Row] = []
    for k, (function, strength) in enumerate(which):
        own = slice(k * len(seeds), (k + 1) * len(seeds))
        mean, best, solved = (None if part is None else part[own] for part in found)
        row = {"arm": arm, "n": n, "function": function, "strength": strength}
        if strength == 0:
            rows.append({**row, "solved": listed(solved)})
            continue
        for i, mark in enumerate(marks):
            rows.append({**row, "mark": mark, "mean": mean if mean is None else listed(mean[:, i]), "best": listed(best[:, i])})
    return rows


def restarts(method: str, n: int, cases: Case, mark: int) -> np.ndarray:
    """The value without noise of the best point seen by a method with restarts, each with twice the population."""
    found = thalweg.run_restarts(method, noisy, np.zeros(D), seeds=cases.seed, max_evals=mark, popsize=n, args=(cases,))
    with jax.enable_x64(True):
        return np.asarray(jax.vmap(value)(found.x, cases.landscape))


def listed(values: np.ndarray) -> list[float | None]:
    """Four digits of each, None for what is not finite."""
    return [float(f"{number:.4g}") if np.isfinite(number) else None for number in values]


def median(values: Sequence[float | None]) -> tuple[float, float, float]:
    """The median and its 95% bootstrap interval; None counts as infinity."""
    own = np.asarray([np.inf if number is None else number for number in values])
    index = np.random.default_rng(0).integers(len(own), size=(2000, len(own)))
    low, high = np.percentile(np.median(own[index], 1), (2.5, 97.5), method="nearest")
    return float(np.median(own)), float(low), float(high)


def cell(values: Sequence[float | None] | None, digits: str = ".2g") -> str:
    """A median with its interval, for people, and the share of runs that have a number where that is not all of them."""
    if values is None:
        return "-"
    middle, low, high = (f"{number:{digits}}" if np.isfinite(number) else "never" for number in median(values))
    reached = np.mean([number is not None for number in values])
    share = f" ({reached:.0%})" if 0 < reached < 1 else ""
    return (middle if middle == low == high else f"{middle} [{low}, {high}]") + share


def tables(rows: list[Row]) -> str:
    """Markdown: for each function and mark the mean's value and that of the best point seen; then evaluations without noise."""
    parts: list[str] = []
    strengths = list(dict.fromkeys(strength for _, strength in NOISY))
    for function in dict.fromkeys(function for function, _ in NOISY):
        for mark in sorted({row["mark"] for row in rows if "mark" in row}):
            head = ["method", "N", *(f"noise {strength:g}: {what}" for strength in strengths for what in ("mean", "best seen"))]
            lines: list[list[str]] = [head, ["---"] * len(head)]
            for arm, n in ARMS:
                own = {row["strength"]: row for row in rows if key(row) == (arm, n, function) and row.get("mark") == mark}
                if own:
                    shown = (cell(own[strength][what]) for strength in strengths for what in ("mean", "best"))
                    lines.append([f"`{arm}`", str(n), *shown])
            parts.append(f"**{function.capitalize()}, {mark:,} evaluations**\n\n{markdown(lines)}")
    lines = [["method", "N", *(function for function, _ in CLEAR)], ["---"] * (2 + len(CLEAR))]
    for arm, n in ARMS:
        own = {row["function"]: row for row in rows if row["strength"] == 0 and (row["arm"], row["n"]) == (arm, n)}
        if own:
            lines.append([f"`{arm}`", str(n), *(cell(own[function]["solved"], ",.0f") for function, _ in CLEAR)])
    return "\n\n".join([*parts, f"**Without noise: evaluations to {TARGET:g}**\n\n{markdown(lines)}"])


def key(row: Row) -> tuple[str, int, str]:
    return row["arm"], row["n"], row["function"]


def run(path: Path, seeds: Sequence[int], marks: tuple[int, ...]) -> None:
    """Every arm that the file does not hold yet."""
    meta = {
        "command": "python studies/benchmarks/noise.py",
        "seeds": [seeds[0], seeds[-1]],
        "d": D,
        "marks": list(marks),
        "target": TARGET,
        "versions": {"jax": jax.__version__, "numpy": np.__version__},
        "python": platform.python_version(),
        "device": jax.devices()[0].device_kind,
    }
    rows = load(path, meta)
    for arm, n in ARMS:
        if not any((row["arm"], row["n"]) == (arm, n) for row in rows):
            began = time.process_time()
            rows += measure(arm, n, seeds, marks)
            save(path, meta, rows)
            print(f"{arm}, N = {n}: {time.process_time() - began:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("studies/benchmarks/results/noise.json"))
    parser.add_argument("--quick", action="store_true", help="two development seeds, few evaluations, into a temporary file")
    page = "only print the tables of --out, or write them between the markers of this page"
    parser.add_argument("--table", nargs="?", const="", metavar="PAGE", help=page)
    options = parser.parse_args()
    if options.quick:
        options.out = Path(tempfile.mkdtemp()) / "noise.json"
        run(options.out, range(2), (2000,))
    elif options.table is None:
        run(options.out, SEEDS, MARKS)
    text = tables(json.loads(options.out.read_text())["rows"])
    if options.table:
        put(Path(options.table), "noise", text)
    else:
        print(text)


if __name__ == "__main__":
    main()
