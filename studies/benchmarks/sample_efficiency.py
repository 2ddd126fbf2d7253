"""How many evaluations the flow saves: GNN-ES against its latent, with the affine ablation beside it.

    python studies/benchmarks/sample_efficiency.py --out studies/benchmarks/results/sample_efficiency.json

Report seeds 1000 to 1099, which no constant was tuned on; x0 = 0, sigma0 = 1, population 10 d and the default 4 + 3 ln d.
Ratios are medians over seeds with 95% bootstrap intervals over pairs (the same landscape for both). A CPU core needs about half
an hour, a GPU some minutes.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from battery import FUNCTIONS, REPORT, TARGET, landscapes, value

import thalweg

LATENTS = ("cma", "xnes")
FLOWS: dict[str, dict[str, Any]] = {"default": {}, "affine": {"flow": "affine"}}
GENERATIONS = {  # (latent, popsize is 10 d, d): enough for the latent to reach 1e-8, or the marks where it does not
    ("cma", True, 2): 130,
    ("cma", True, 10): 300,
    ("cma", False, 2): 500,
    ("cma", False, 10): 1500,
    ("xnes", True, 2): 150,
    ("xnes", True, 10): 1000,
    ("xnes", False, 2): 600,
    ("xnes", False, 10): 3000,
}
MARKS = {2: (500,), 10: (10_000, 16_000, 20_000)}
SOLVED = 1e-6
ROUNDING = 1e-12
"""Values below it say more about rounding than about search."""

Row = dict[str, Any]


def median_ratio(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> list[float] | None:
    """median(a) / median(b) and its 95% bootstrap interval over pairs; None where a median is infinite or 0."""
    if not (0 < np.median(a) < np.inf and 0 < np.median(b) < np.inf):
        return None
    index = rng.integers(len(a), size=(2000, len(a)))
    with np.errstate(divide="ignore", invalid="ignore"):
        samples = np.nan_to_num(np.median(a[index], 1) / np.median(b[index], 1), nan=np.inf)
    low, high = np.percentile(samples, (2.5, 97.5), method="nearest")
    return [float(np.median(a) / np.median(b)), float(low), float(high)]


def measure(latent: str, large: bool, d: int, seeds: list[int], generations: int) -> list[Row]:
    """One row a function: evaluations to the target, values at the marks, solved runs, latent against both flows."""
    where, rng = landscapes(d, seeds), np.random.default_rng(0)
    popsize = 10 * d if large else None
    arms: dict[str, thalweg.Strategy] = {"latent": thalweg.make_strategy(latent, popsize=popsize)}
    arms |= {flow: thalweg.make_strategy(f"gnn-{latent}", popsize=popsize, **options) for flow, options in FLOWS.items()}
    keys = np.tile(np.asarray(seeds), len(FUNCTIONS))
    runs = {
        arm: thalweg.run_many(strategy, value, np.zeros(d), seeds=keys, generations=generations, args=(where,))
        for arm, strategy in arms.items()
    }
    rows: list[Row] = []
    for i, function in enumerate(FUNCTIONS):
        part = slice(i * len(seeds), (i + 1) * len(seeds))
        evaluations = {arm: run.evaluations_to(TARGET)[part] for arm, run in runs.items()}
        solved = {arm: run.fun[part] < SOLVED for arm, run in runs.items()}
        row: Row = {
            "latent": latent,
            "popsize": arms["latent"].population(d),
            "rule": "10 d" if large else "default",
            "d": d,
            "function": function,
            "budget": int(runs["latent"].evaluations[-1]),
            "evaluations": {arm: finite(np.median(values)) for arm, values in evaluations.items()},
            "solved": {arm: int(values.sum()) for arm, values in solved.items()},
            "runs": len(seeds),
            "lost": {flow: int((solved["latent"] & ~solved[flow]).sum()) for flow in FLOWS},
            "won": {flow: int((~solved["latent"] & solved[flow]).sum()) for flow in FLOWS},
            "ratio": {flow: median_ratio(evaluations[flow], evaluations["latent"], rng) for flow in FLOWS},
            "lower": {},
        }
        for mark in MARKS[d]:
            if mark <= runs["latent"].evaluations[-1]:
                at = {arm: run.best_at(mark)[part] for arm, run in runs.items()}
                row["lower"][str(mark)] = {
                    "latent": float(np.median(at["latent"])),
                    **{flow: median_ratio(at["latent"], at[flow], rng) for flow in FLOWS},
                }
        rows.append(row)
    return rows


def finite(number: np.floating) -> float | None:
    """The number, or None for infinity, which JSON does not have."""
    return float(number) if np.isfinite(number) else None


def interval(ratio: list[float] | None) -> str:
    """A ratio with its interval, for people."""
    return "-" if ratio is None else "{:.3g} [{:.3g}, {:.3g}]".format(*ratio)


def table(rows: list[Row]) -> str:
    """Markdown: evaluations to 1e-8 as a ratio to the latent's."""
    head = ("latent", "N", "d", "function", "evaluations", "flow / latent", "affine / latent", "solved: latent, flow, affine")
    lines = [head, ["---"] * len(head)]
    for row in rows:
        evaluations = row["evaluations"]["latent"]
        lines.append(
            (
                *(str(row[key]) for key in ("latent", "popsize", "d", "function")),
                f"{evaluations:,.0f}" if evaluations is not None else f"> {row['budget']:,}",
                *(interval(row["ratio"][flow]) for flow in FLOWS),
                ", ".join(str(row["solved"][arm]) for arm in ("latent", *FLOWS)) + f" of {row['runs']}",
            )
        )
    return markdown(lines)


def marks(rows: list[Row]) -> str:
    """Markdown: how many times lower the median value is at fixed budgets, Rosenbrock."""
    head = ("latent", "N", "d", "evaluations", "median f of the latent", "lower by, flow", "lower by, affine")
    lines = [head, ["---"] * len(head)]
    for row in rows:
        shown = row["lower"].items() if row["function"] == "rosenbrock" else ()
        for mark, at in ((mark, at) for mark, at in shown if at["latent"] > ROUNDING):
            cells = (row["latent"], row["popsize"], row["d"], f"{int(mark):,}", f"{at['latent']:.2g}")
            lines.append((*map(str, cells), *(interval(at[flow]) for flow in FLOWS)))
    return markdown(lines)


def matrix(rows: list[Row], latent: str) -> str:
    """Markdown: functions by settings, the flow's ratio with its interval and the affine ablation's behind it."""
    settings = list(dict.fromkeys((row["d"], row["popsize"]) for row in rows if row["latent"] == latent))
    head = ("function", *(f"d = {d}, N = {n}" for d, n in settings))
    lines: list[Any] = [head, ["---"] * len(head)]
    for function in FUNCTIONS:
        cells = [function.replace("-", " ")]
        for setting in settings:
            key = (latent, *setting, function)
            row = next(row for row in rows if (row["latent"], row["d"], row["popsize"], row["function"]) == key)
            ratio, affine = row["ratio"]["default"], row["ratio"]["affine"]
            cells.append("-" if ratio is None else f"**{ratio[0]:.2f}** [{ratio[1]:.2f}, {ratio[2]:.2f}], {affine[0]:.2f}")
        lines.append(cells)
    return markdown(lines)


def markdown(lines: list[Any]) -> str:
    """Rows of cells as a Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=len(REPORT), help="how many report seeds (default: all 100)")
    parser.add_argument("--out", type=Path, default=Path("studies/benchmarks/results/sample_efficiency.json"))
    parser.add_argument("--latents", nargs="+", default=LATENTS, choices=LATENTS)
    parser.add_argument("--show", action="store_true", help="only print the tables of an existing --out file")
    options = parser.parse_args()
    if not options.show:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(run(options.latents, options.seeds), indent=1) + "\n")
    rows = json.loads(options.out.read_text())["rows"]
    summaries = [matrix(rows, latent) for latent in dict.fromkeys(row["latent"] for row in rows)]
    print(*summaries, marks(rows), table(rows), sep="\n\n")


def run(latents: Sequence[str], seeds: int) -> Row:
    """All settings, and what they were run with."""
    rows: list[Row] = []
    for (latent, large, d), generations in GENERATIONS.items():
        if latent in latents:
            start = time.perf_counter()
            rows += measure(latent, large, d, list(REPORT[:seeds]), generations)
            print(f"{latent} d={d} {'10 d' if large else 'default'}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    about = {
        "command": "python studies/benchmarks/sample_efficiency.py",
        "seeds": [REPORT[0], REPORT[seeds - 1]],
        "versions": {"thalweg": thalweg.__version__, "jax": jax.__version__, "numpy": np.__version__},
        "python": platform.python_version(),
        "device": jax.devices()[0].device_kind,
    }
    return {"about": about, "rows": rows}


if __name__ == "__main__":
    main()
