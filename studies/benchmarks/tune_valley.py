"""What each constant of the valley fit was measured against, on development seeds 0 to 63.

    python studies/benchmarks/tune_valley.py --out studies/benchmarks/results/tune_valley.json

One constant at a time is moved away from its default, and the flow inside the shear; functions and settings are those of
`banana.py`. Ratios are those of mean evaluations to 1e-8 to the default's, over the seeds that both solve. Constants that are
numbers are traced, so that all their values are one compiled program. Rows that --out holds already are not run again. This is
for a GPU; on a CPU, `--quick`.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from banana import absolute, called, cell, factors_in, grounds, one_run, runs_of, summary, value
from battery import DEVELOPMENT
from sample_efficiency import markdown
from valley_study import SETTINGS, Row, Scope, about, follow, load, parser, save

from thalweg import CMAES, GNNES, NICE
from thalweg.strategies.flows import Affine, Flow, Identity, Shear
from thalweg.strategies.flowsteps.valley import Valley

NUMBERS = {"strict": (1.0, 3.0), "reach": (1.5, 6.0), "longest": (3.0, 30.0)}
WHOLE = {"window": (25.0, 100.0), "generations": (5, 10)}
INNER: dict[str, Callable[[], Flow]] = {"affine": Affine, "none": Identity, "nice": NICE}
DEFAULT = "affine"

Variant = tuple[str, Any]
"""A constant, and the value it is given."""


def programs(d: int, n: int) -> list[tuple[str, dict[str, Any], list[Variant]]]:
    """What is compiled: the flow inside, what shapes the program, and the variants that share it, the default first."""
    default = Valley()
    moved = [(name, number) for name, numbers in NUMBERS.items() for number in numbers]
    found: list[tuple[str, dict[str, Any], list[Variant]]] = [(DEFAULT, {}, [("default", None), *moved])]
    for name, wholes in WHOLE.items():
        for whole in wholes:
            if Valley(**{name: whole}).look_back(n, d) != default.look_back(n, d):
                found.append((DEFAULT, {name: whole}, [(name, whole)]))
    return found + [(inner, {}, [("inner", inner)]) for inner in INNER if inner != DEFAULT]


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def all_runs(
    inner: str, fixed: tuple[tuple[str, Any], ...], n: int, most: int, numbers: Any, seeds: Any, start: Any, ground: Any
) -> Any:
    """Evaluations to the target, (variants, runs)."""

    def one(numbers: dict[str, Any], seed: Any, start: Any, ground: Any) -> Any:
        strategy = GNNES(CMAES(popsize=n), Shear(INNER[inner]()), valley=Valley(**dict(fixed), **numbers))
        return one_run(strategy, value, most, seed, start, ground)

    return jax.vmap(jax.vmap(one, (None, 0, 0, 0)), (0, None, None, None))(numbers, seeds, start, ground)


def measure(
    inner: str, fixed: dict[str, Any], variants: list[Variant], d: int, n: int, seeds: Sequence[int], factors: Sequence[float]
) -> list[dict[str, np.ndarray]]:
    """Evaluations of every seed's run by function, for each variant."""
    names, ground = grounds(d, seeds, factors)
    with jax.enable_x64(True):
        columns = {
            name: jnp.asarray([number if moved == name else getattr(Valley(), name) for moved, number in variants])
            for name in NUMBERS
        }
        numbers = np.tile(np.asarray(seeds), len(names))
        start = np.zeros_like(ground.landscape.shift)
        runs = all_runs(inner, tuple(fixed.items()), n, SETTINGS[d, n], columns, numbers, start, ground)
        each = np.asarray(runs).reshape(len(variants), len(names), len(seeds))
    return [dict(zip(names, own, strict=True)) for own in each]


def run(scope: Scope) -> None:
    """Every program at every setting that the file does not hold yet."""
    meta = about("tune_valley", scope)
    rows = load(scope.path, meta)
    for d, n in scope.settings:
        for inner, fixed, variants in programs(d, n):
            if any((row["d"], row["n"], row["constant"], row["value"]) == (d, n, *variants[0]) for row in rows):
                continue
            began = time.perf_counter()
            measured = measure(inner, fixed, variants, d, n, scope.seeds, factors_in(d, scope.factors))
            first = {r["function"]: runs_of(r) for r in rows if (r["d"], r["n"], r["constant"]) == (d, n, "default")}
            first = first or measured[0]
            for (constant, number), by_function in zip(variants, measured, strict=True):
                added = [
                    {"d": d, "n": n, "constant": constant, "value": number, "function": name, **summary(own, first[name])}
                    for name, own in by_function.items()
                ]
                rows += added
                shown = ", ".join(f"{row['function']} {cell(row)}" for row in added)
                print(f"d={d} n={n} {constant} {number}: {shown}", flush=True)
            save(scope.path, meta, rows)
            print(f"{time.perf_counter() - began:.0f} s", flush=True)


def tables(rows: list[Row]) -> str:
    """Markdown: one table a setting, evaluations relative to the default's."""
    parts: list[str] = []
    for d, n in SETTINGS:
        here = [row for row in rows if (row["d"], row["n"]) == (d, n)]
        functions = list(dict.fromkeys(row["function"] for row in here))
        found = {(row["constant"], row["value"], row["function"]): row for row in here}
        lines = [["constant", "value", *map(called, functions)], ["---"] * (len(functions) + 2)]
        for constant, number in dict.fromkeys((row["constant"], row["value"]) for row in here):
            own = [found[constant, number, function] for function in functions]
            if constant == "default":
                lines.append([constant, "", *map(absolute, own)])
            else:
                lines.append([f"`{constant}`", number if isinstance(number, str) else f"{number:g}", *map(cell, own)])
        if here:
            parts.append(f"### d = {d}, N = {n}: the constants\n\n" + markdown(lines))
    return "\n\n".join(parts)


def main() -> None:
    follow(parser(__doc__, "tune_valley", DEVELOPMENT).parse_args(), "tune_valley", DEVELOPMENT, run, tables)


if __name__ == "__main__":
    main()
