"""Sample efficiency: evaluations of GNN-ES relative to its latent, with the affine ablation beside it.

    python studies/benchmarks/sample_efficiency.py --out studies/benchmarks/results/sample_efficiency.json

Report seeds 1000 to 1099, on which no constant was tuned; x0 = 0, sigma0 = 1, population 10 d and the default 4 + 3 ln d.
Ratios are medians over seeds with 95% bootstrap intervals over pairs (the same landscape for both). This takes about half an
hour on a CPU core, some minutes on a GPU.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from battery import FUNCTIONS, REPORT, TARGET, landscapes, value
from shared import Row, add_show, finite, interval, make_parser, markdown, median_ratio, provenance, read_rows, write_json

import thalweg

LATENTS = ("cma", "xnes")
FLOWS: dict[str, dict[str, Any]] = {"default": {}, "affine": {"flow": "affine"}}
GENERATIONS = {  # (latent, popsize is 10 d, d): enough for the latent to reach 1e-8, or else the budgets of MARKS
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
"""Budgets in evaluations at which values are compared, by dimension."""
SOLVED = 1e-6
ROUNDING = 1e-12
"""Medians below this are rounding errors and are not shown."""


def measure(latent: str, large: bool, d: int, seeds: list[int], generations: int) -> list[Row]:
    """Compare the latent with both flows: one row a function, with evaluations to the target, solved runs, values at MARKS."""
    where, rng = landscapes(d, seeds), np.random.default_rng(0)
    popsize = 10 * d if large else None
    algorithms: dict[str, thalweg.Strategy] = {"latent": thalweg.make_strategy(latent, popsize=popsize)}
    algorithms |= {flow: thalweg.make_strategy(f"gnn-{latent}", popsize=popsize, **options) for flow, options in FLOWS.items()}
    keys = np.tile(np.asarray(seeds), len(FUNCTIONS))
    runs = {
        algorithm: thalweg.run_many(strategy, value, np.zeros(d), seeds=keys, generations=generations, args=(where,))
        for algorithm, strategy in algorithms.items()
    }
    rows: list[Row] = []
    for i, function in enumerate(FUNCTIONS):
        part = slice(i * len(seeds), (i + 1) * len(seeds))
        evaluations = {algorithm: run.evaluations_to(TARGET)[part] for algorithm, run in runs.items()}
        solved = {algorithm: run.fun[part] < SOLVED for algorithm, run in runs.items()}
        row: Row = {
            "latent": latent,
            "popsize": algorithms["latent"].population(d),
            "rule": "10 d" if large else "default",
            "d": d,
            "function": function,
            "budget": int(runs["latent"].evaluations[-1]),
            "evaluations": {algorithm: finite(np.median(values)) for algorithm, values in evaluations.items()},
            "solved": {algorithm: int(values.sum()) for algorithm, values in solved.items()},
            "runs": len(seeds),
            "lost": {flow: int((solved["latent"] & ~solved[flow]).sum()) for flow in FLOWS},
            "won": {flow: int((~solved["latent"] & solved[flow]).sum()) for flow in FLOWS},
            "ratio": {flow: median_ratio(evaluations[flow], evaluations["latent"], rng) for flow in FLOWS},
            "lower": {},
        }
        for mark in MARKS[d]:
            if mark <= runs["latent"].evaluations[-1]:
                at = {algorithm: run.best_at(mark)[part] for algorithm, run in runs.items()}
                row["lower"][str(mark)] = {
                    "latent": float(np.median(at["latent"])),
                    **{flow: median_ratio(at["latent"], at[flow], rng) for flow in FLOWS},
                }
        rows.append(row)
    return rows


def table(rows: list[Row]) -> str:
    """Return a table of evaluations to 1e-8, as ratios to the latent's."""
    head = ("latent", "N", "d", "function", "evaluations", "flow / latent", "affine / latent", "solved: latent, flow, affine")
    lines: list[Sequence[str]] = []
    for row in rows:
        evaluations = row["evaluations"]["latent"]
        lines.append(
            (
                *(str(row[key]) for key in ("latent", "popsize", "d", "function")),
                f"{evaluations:,.0f}" if evaluations is not None else f"> {row['budget']:,}",
                *(interval(row["ratio"][flow]) for flow in FLOWS),
                ", ".join(str(row["solved"][algorithm]) for algorithm in ("latent", *FLOWS)) + f" of {row['runs']}",
            )
        )
    return markdown(head, lines)


def marks(rows: list[Row]) -> str:
    """Return a table for Rosenbrock: the factor by which the flows lower the median value at fixed budgets."""
    head = ("latent", "N", "d", "evaluations", "median f of the latent", "lower by, flow", "lower by, affine")
    lines: list[Sequence[str]] = []
    for row in rows:
        shown = row["lower"].items() if row["function"] == "rosenbrock" else ()
        for mark, at in ((mark, at) for mark, at in shown if at["latent"] > ROUNDING):
            cells = (row["latent"], row["popsize"], row["d"], f"{int(mark):,}", f"{at['latent']:.2g}")
            lines.append((*map(str, cells), *(interval(at[flow]) for flow in FLOWS)))
    return markdown(head, lines)


def matrix(rows: list[Row], latent: str) -> str:
    """Return a table of functions by settings: the flow's ratio with its interval, then the affine ablation's ratio."""
    settings = list(dict.fromkeys((row["d"], row["popsize"]) for row in rows if row["latent"] == latent))
    head = ("function", *(f"d = {d}, N = {n}" for d, n in settings))
    lines: list[Sequence[str]] = []
    for function in FUNCTIONS:
        cells = [function.replace("-", " ")]
        for setting in settings:
            key = (latent, *setting, function)
            row = next(row for row in rows if (row["latent"], row["d"], row["popsize"], row["function"]) == key)
            ratio, affine = row["ratio"]["default"], row["ratio"]["affine"]
            cells.append("-" if ratio is None else f"**{ratio[0]:.2f}** [{ratio[1]:.2f}, {ratio[2]:.2f}], {affine[0]:.2f}")
        lines.append(cells)
    return markdown(head, lines)


def run(latents: Sequence[str], seeds: int) -> Row:
    """Measure all settings with the first report seeds."""
    rows: list[Row] = []
    for (latent, large, d), generations in GENERATIONS.items():
        if latent in latents:
            start = time.perf_counter()
            rows += measure(latent, large, d, list(REPORT[:seeds]), generations)
            print(f"{latent} d={d} {'10 d' if large else 'default'}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    device = jax.devices()[0].device_kind
    return {"about": provenance("sample_efficiency", seeds=[REPORT[0], REPORT[seeds - 1]], device=device), "rows": rows}


def main() -> None:
    parser = make_parser(__doc__, "sample_efficiency")
    parser.add_argument("--seeds", type=int, default=len(REPORT), help="number of report seeds (default: all 100)")
    parser.add_argument("--latents", nargs="+", default=LATENTS, choices=LATENTS, help="latents to run (default: all)")
    add_show(parser)
    options = parser.parse_args()
    if not options.show:
        write_json(options.out, run(options.latents, options.seeds))
    rows = read_rows(options.out)
    summaries = [matrix(rows, latent) for latent in dict.fromkeys(row["latent"] for row in rows)]
    print(*summaries, marks(rows), table(rows), sep="\n\n")


if __name__ == "__main__":
    main()
