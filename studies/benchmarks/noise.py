"""Cost of noise, and remedies: learning-rate adaptation, larger populations, restarts; and the point to take as the answer.

    python studies/benchmarks/noise.py --out studies/benchmarks/results/noise.json

Sphere and Rosenbrock in 10 dimensions with normal noise of several strengths added to each value, and without noise these two
and the ellipsoid (1e6); moved by U[-2, 2]^d, the last rotated, x0 = 0, sigma0 = 1, on report seeds 1000 to 1049. After 20,000
and 50,000 evaluations, the value without noise of the mean of the search distribution and of the point with the best value
seen. Medians with 95% bootstrap intervals. All runs of an algorithm are one compiled program. Rows that --out holds already are
not run again. This takes about twenty minutes on one core.
"""

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
from shared import Row, add_table, deliver, infinite, load_rows, make_parser, markdown, provenance, read_rows, save_rows

import thalweg

D = 10
MARKS = (20_000, 50_000)
"""Budgets in evaluations at which values are compared."""
SEEDS = REPORT[:50]
NOISY = tuple((function, strength) for function in ("sphere", "rosenbrock") for strength in (0.1, 1.0, 10.0))
"""Function and standard deviation of the noise."""
CLEAR = tuple((function, 0.0) for function in ("sphere", "ellipsoid", "rosenbrock"))
ALGORITHMS = (
    *((method, n) for n in (10, 100) for method in ("cma", "lra-cma", "gnn-cma", "gnn-lra-cma")),
    *((method, 400) for method in ("cma", "gnn-cma")),
    ("cma, IPOP", 10),
)
"""Method and population: 10 is the default, 100 is 10 d. IPOP begins with the default. Result files name the method "arm"."""


class Case(NamedTuple):
    """A landscape, the standard deviation of its noise, and the seed of the noise."""

    landscape: Landscape
    strength: Any
    seed: Any


class Best(NamedTuple):
    """The best point by its noisy value."""

    f: Any
    x: Any
    solved: Any
    """First generation whose best point reached the target without noise, or infinity."""


def make_cases(which: Sequence[tuple[str, float]], seeds: Sequence[int]) -> Case:
    """Return every case on every seed's landscape, case by case, stacked along a leading axis."""
    where = landscapes(D, seeds, [function for function, _ in which])
    strengths = np.repeat([strength for _, strength in which], len(seeds))
    return Case(where, strengths, np.tile(np.asarray(seeds), len(which)))


def noisy(x: Any, case: Case) -> Any:
    """Return the noisy value of one point; the noise is a function of the seed and of the bits of the point."""
    words = jax.lax.bitcast_convert_type(x, jnp.uint32).ravel()
    odd = 2 * jnp.arange(len(words), dtype=jnp.uint32) + jnp.uint32(0x9E3779B9)
    key = jax.random.fold_in(jax.random.key(case.seed), jnp.sum(words * odd, dtype=jnp.uint32))
    return value(x, case.landscape) + case.strength * jax.random.normal(key, dtype=x.dtype)


def one_run(strategy: thalweg.Strategy, marks: Sequence[int], case: Case) -> tuple[Any, Any, Any]:
    """Return values without noise at the mean and at the best point seen, for each mark, and evaluations to the target."""
    n = strategy.population(D)

    def generation(number: Any, carry: tuple[Any, Best]) -> tuple[Any, Best]:
        state, best = carry
        e, x, state = strategy.ask(state)
        f = jax.vmap(lambda point: noisy(point, case))(x)
        i = jnp.nanargmin(f)
        better = f[i] < best.f
        reached = jnp.isinf(best.solved) & (value(x[i], case.landscape) <= TARGET)
        solved = jnp.where(reached, number + 1.0, best.solved)
        best = Best(jnp.where(better, f[i], best.f), jnp.where(better, x[i], best.x), solved)
        return strategy.tell(state, e, x, f)[0], best

    start = jnp.zeros(D)
    state = strategy.init(jax.random.key(case.seed), start, 1.0)
    best = Best(jnp.asarray(jnp.inf), start, jnp.asarray(jnp.inf))

    def until_mark(carry: Any, ends: Any) -> tuple[Any, Any]:
        state, best = jax.lax.fori_loop(ends[0], ends[1], generation, carry)
        return (state, best), (value(strategy.spread(state)[0], case.landscape), value(best.x, case.landscape))

    ends = jnp.asarray([0, *marks]) // n
    (_, best), (at_mean, at_best) = jax.lax.scan(until_mark, (state, best), (ends[:-1], ends[1:]))
    return at_mean, at_best, best.solved * n


@partial(jax.jit, static_argnums=(0, 1))
def all_runs(strategy: thalweg.Strategy, marks: tuple[int, ...], cases: Case) -> Any:
    return jax.vmap(partial(one_run, strategy, marks))(cases)


def measure(algorithm: str, n: int, seeds: Sequence[int], marks: tuple[int, ...]) -> list[Row]:
    """Return the rows of an algorithm, one for each case and mark, with the values of all seeds."""
    method, _, restarted = algorithm.partition(", ")
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
        row = {"arm": algorithm, "n": n, "function": function, "strength": strength}
        if strength == 0:
            rows.append({**row, "solved": rounded(solved)})
            continue
        for i, mark in enumerate(marks):
            at_mean = None if mean is None else rounded(mean[:, i])
            rows.append({**row, "mark": mark, "mean": at_mean, "best": rounded(best[:, i])})
    return rows


def restarts(method: str, n: int, cases: Case, mark: int) -> np.ndarray:
    """Return the values without noise of the best points seen by a method that restarts with twice the population."""
    found = thalweg.run_restarts(method, noisy, np.zeros(D), seeds=cases.seed, max_evals=mark, popsize=n, args=(cases,))
    with jax.enable_x64(True):
        return np.asarray(jax.vmap(value)(found.x, cases.landscape))


def rounded(values: np.ndarray) -> list[float | None]:
    """Return four digits of each number, None for infinity and NaN."""
    return [float(f"{number:.4g}") if np.isfinite(number) else None for number in values]


def median(values: Sequence[float | None]) -> tuple[float, float, float]:
    """Return the median and its 95% bootstrap interval; None counts as infinity."""
    own = infinite(values)
    index = np.random.default_rng(0).integers(len(own), size=(2000, len(own)))
    low, high = np.percentile(np.median(own[index], 1), (2.5, 97.5), method="nearest")
    return float(np.median(own)), float(low), float(high)


def cell(values: Sequence[float | None] | None, digits: str = ".2g") -> str:
    """Format a median with its interval, and the share of numbers that are not None where it is below 1."""
    if values is None:
        return "-"
    middle, low, high = (f"{number:{digits}}" if np.isfinite(number) else "never" for number in median(values))
    reached = np.mean([number is not None for number in values])
    share = f" ({reached:.0%})" if 0 < reached < 1 else ""
    return (middle if middle == low == high else f"{middle} [{low}, {high}]") + share


def tables(rows: list[Row]) -> str:
    """Return a table for each function and mark, with values at the mean and the best point seen; then one without noise."""
    parts: list[str] = []
    strengths = list(dict.fromkeys(strength for _, strength in NOISY))
    for function in dict.fromkeys(function for function, _ in NOISY):
        for mark in sorted({row["mark"] for row in rows if "mark" in row}):
            head = ["method", "N", *(f"noise {strength:g}: {what}" for strength in strengths for what in ("mean", "best seen"))]
            lines: list[list[str]] = []
            for method, n in ALGORITHMS:
                own = {row["strength"]: row for row in rows if key(row) == (method, n, function) and row.get("mark") == mark}
                if own:
                    shown = (cell(own[strength][what]) for strength in strengths for what in ("mean", "best"))
                    lines.append([f"`{method}`", str(n), *shown])
            parts.append(f"**{function.capitalize()}, {mark:,} evaluations**\n\n{markdown(head, lines)}")
    head, lines = ["method", "N", *(function for function, _ in CLEAR)], []
    for method, n in ALGORITHMS:
        own = {row["function"]: row for row in rows if row["strength"] == 0 and (row["arm"], row["n"]) == (method, n)}
        if own:
            lines.append([f"`{method}`", str(n), *(cell(own[function]["solved"], ",.0f") for function, _ in CLEAR)])
    return "\n\n".join([*parts, f"**Without noise: evaluations to {TARGET:g}**\n\n{markdown(head, lines)}"])


def key(row: Row) -> tuple[str, int, str]:
    return row["arm"], row["n"], row["function"]


def run(path: Path, seeds: Sequence[int], marks: tuple[int, ...]) -> None:
    """Run the algorithms that are not in the file yet."""
    more = {"d": D, "marks": list(marks), "target": TARGET, "device": jax.devices()[0].device_kind}
    meta = provenance("noise", ("jax", "numpy"), seeds=[seeds[0], seeds[-1]], **more)
    rows = load_rows(path, meta)
    for method, n in ALGORITHMS:
        if not any((row["arm"], row["n"]) == (method, n) for row in rows):
            began = time.process_time()
            rows += measure(method, n, seeds, marks)
            save_rows(path, meta, rows)
            print(f"{method}, N = {n}: {time.process_time() - began:.0f} s", flush=True)


def main() -> None:
    parser = make_parser(__doc__, "noise")
    parser.add_argument("--quick", action="store_true", help="two development seeds, few evaluations, into a temporary file")
    add_table(parser)
    options = parser.parse_args()
    if options.quick:
        options.out = Path(tempfile.mkdtemp()) / "noise.json"
        run(options.out, range(2), (2000,))
    elif options.table is None:
        run(options.out, SEEDS, MARKS)
    deliver(tables(read_rows(options.out)), options.table, "noise")


if __name__ == "__main__":
    main()
