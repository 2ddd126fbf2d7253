"""Comparison of each constant of the valley fit with other values, on development seeds 0 to 63.

    python studies/benchmarks/tune_valley.py --out studies/benchmarks/results/tune_valley.json

One constant at a time is moved away from its default, or the flow inside the shear is exchanged; functions and settings are
those of `banana.py`. Ratios are those of mean evaluations to 1e-8 to the default's, over the seeds that both solve. Constants
that are real numbers are traced, so that all their values share one compiled program. Rows that --out holds already are not run
again. Meant for a GPU; use `--quick` on a CPU.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from banana import absolute, banana_landscapes, cell, factors_in, one_run, summary, title, value
from battery import DEVELOPMENT
from shared import Row, infinite, load_rows, markdown, save_rows
from valley_study import SETTINGS, Scope, carry_out, describe, study_parser

from thalweg import CMAES, GNNES, NICE
from thalweg.strategies.flows import Affine, Flow, Identity, Shear
from thalweg.strategies.flowsteps.valley import Valley

REALS = {"strict": (1.0, 3.0), "reach": (1.5, 6.0), "longest": (3.0, 30.0)}
STATIC = {"window": (25.0, 100.0), "generations": (5, 10)}
INNER: dict[str, Callable[[], Flow]] = {"affine": Affine, "none": Identity, "nice": NICE}
DEFAULT = "affine"

Variant = tuple[str, Any]
"""Name and value of a constant."""


def programs(d: int, n: int) -> list[tuple[str, dict[str, Any], list[Variant]]]:
    """Return the programs to compile: inner flow, constants that shape the program, variants that share it (default first)."""
    default = Valley()
    moved = [(name, number) for name, numbers in REALS.items() for number in numbers]
    found: list[tuple[str, dict[str, Any], list[Variant]]] = [(DEFAULT, {}, [("default", None), *moved])]
    for name, numbers in STATIC.items():
        for number in numbers:
            if Valley(**{name: number}).look_back(n, d) != default.look_back(n, d):
                found.append((DEFAULT, {name: number}, [(name, number)]))
    return found + [(inner, {}, [("inner", inner)]) for inner in INNER if inner != DEFAULT]


@partial(jax.jit, static_argnums=(0, 1, 2, 3))
def all_runs(
    inner: str, fixed: tuple[tuple[str, Any], ...], n: int, most: int, numbers: Any, seeds: Any, start: Any, problem: Any
) -> Any:
    """Return evaluations to the target, (variants, runs)."""

    def one(numbers: dict[str, Any], seed: Any, start: Any, problem: Any) -> Any:
        strategy = GNNES(CMAES(popsize=n), Shear(INNER[inner]()), valley=Valley(**dict(fixed), **numbers))
        return one_run(strategy, value, most, seed, start, problem)

    return jax.vmap(jax.vmap(one, (None, 0, 0, 0)), (0, None, None, None))(numbers, seeds, start, problem)


def measure(
    inner: str, fixed: dict[str, Any], variants: list[Variant], d: int, n: int, seeds: Sequence[int], factors: Sequence[float]
) -> list[dict[str, np.ndarray]]:
    """Return for each variant the evaluations of every seed's run by function."""
    names, problem = banana_landscapes(d, seeds, factors)
    with jax.enable_x64(True):
        columns = {
            name: jnp.asarray([number if moved == name else getattr(Valley(), name) for moved, number in variants])
            for name in REALS
        }
        numbers = np.tile(np.asarray(seeds), len(names))
        start = np.zeros_like(problem.landscape.shift)
        runs = all_runs(inner, tuple(fixed.items()), n, SETTINGS[d, n], columns, numbers, start, problem)
        each = np.asarray(runs).reshape(len(variants), len(names), len(seeds))
    return [dict(zip(names, own, strict=True)) for own in each]


def run(scope: Scope) -> None:
    """Run each program at each setting, except those in the file already."""
    meta = describe("tune_valley", scope)
    rows = load_rows(scope.path, meta)
    for d, n in scope.settings:
        for inner, fixed, variants in programs(d, n):
            if any((row["d"], row["n"], row["constant"], row["value"]) == (d, n, *variants[0]) for row in rows):
                continue
            began = time.perf_counter()
            measured = measure(inner, fixed, variants, d, n, scope.seeds, factors_in(d, scope.factors))
            stored = (r for r in rows if (r["d"], r["n"], r["constant"]) == (d, n, "default"))
            first = {r["function"]: infinite(r["evaluations"]) for r in stored} or measured[0]
            for (constant, number), by_function in zip(variants, measured, strict=True):
                added = [
                    {"d": d, "n": n, "constant": constant, "value": number, "function": name, **summary(own, first[name])}
                    for name, own in by_function.items()
                ]
                rows += added
                shown = ", ".join(f"{row['function']} {cell(row)}" for row in added)
                print(f"d={d} n={n} {constant} {number}: {shown}", flush=True)
            save_rows(scope.path, meta, rows)
            print(f"{time.perf_counter() - began:.0f} s", flush=True)


def tables(rows: list[Row]) -> str:
    """Return one table a setting, with evaluations relative to the default's."""
    parts: list[str] = []
    for d, n in SETTINGS:
        here = [row for row in rows if (row["d"], row["n"]) == (d, n)]
        functions = list(dict.fromkeys(row["function"] for row in here))
        found = {(row["constant"], row["value"], row["function"]): row for row in here}
        head, lines = ["constant", "value", *map(title, functions)], []
        for constant, number in dict.fromkeys((row["constant"], row["value"]) for row in here):
            own = [found[constant, number, function] for function in functions]
            if constant == "default":
                lines.append([constant, "", *map(absolute, own)])
            else:
                lines.append([f"`{constant}`", number if isinstance(number, str) else f"{number:g}", *map(cell, own)])
        if here:
            parts.append(f"### d = {d}, N = {n}: the constants\n\n{markdown(head, lines)}")
    return "\n\n".join(parts)


def main() -> None:
    carry_out(study_parser(__doc__, "tune_valley", DEVELOPMENT).parse_args(), "tune_valley", DEVELOPMENT, run, tables)


if __name__ == "__main__":
    main()
