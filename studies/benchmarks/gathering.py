"""Evaluations with a flow that learns from generations it has gathered, relative to one that learns in each of them.

    python studies/benchmarks/gathering.py --out studies/benchmarks/results/gathering.json

`gnn-cma` with default populations, where the default takes a step every d / 10 generations, and with `TrustRegion(every=1)`;
`cma` beside them. Report seeds; x0 = 0, sigma0 = 1. Ratios are medians over seeds with 95% bootstrap intervals over pairs (the
same landscape for both), of the seeds that both methods solve. This takes about half an hour on a CPU core.
"""

from typing import Any

import numpy as np
from battery import FUNCTIONS, REPORT, TARGET, landscapes, value
from shared import (
    Row,
    add_show,
    add_table,
    deliver,
    interval,
    make_parser,
    markdown,
    median_ratio,
    provenance,
    read_rows,
    write_json,
)

import thalweg
from thalweg.strategies.flowsteps import TrustRegion

SIZES = {20: (2500, 50), 40: (4500, 20)}
"""Generations, and number of seeds, by dimension."""
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("gnn-cma", {}),
    "each": ("gnn-cma", {"step": TrustRegion(every=1)}),
    "cma": ("cma", {}),
}


def measure(d: int, generations: int, seeds: list[int]) -> list[Row]:
    """Return a row for each function, with ratios of evaluations and numbers of solved runs."""
    where, rng, keys = landscapes(d, seeds), np.random.default_rng(0), np.tile(np.asarray(seeds), len(FUNCTIONS))
    evaluations: dict[str, Any] = {}
    solved: dict[str, Any] = {}
    for name, (method, options) in METHODS.items():
        strategy = thalweg.make_strategy(method, **options)
        runs = thalweg.run_many(strategy, value, np.zeros(d), seeds=keys, generations=generations, args=(where,))
        evaluations[name], solved[name] = runs.evaluations_to(TARGET), runs.fun < TARGET
    rows: list[Row] = []
    for i, function in enumerate(FUNCTIONS):
        part = slice(i * len(seeds), (i + 1) * len(seeds))
        row: Row = {"d": d, "function": function, "runs": len(seeds), "solved": {}, "ratio": {}}
        row["solved"] = {name: int(each[part].sum()) for name, each in solved.items()}
        for name, other in (("default", "each"), ("default", "cma"), ("each", "cma")):
            both = solved[name][part] & solved[other][part]
            row["ratio"][f"{name} / {other}"] = median_ratio(evaluations[name][part][both], evaluations[other][part][both], rng)
        rows.append(row)
    return rows


def show(rows: list[Row]) -> str:
    """Return the table."""
    head = ["d", "function", "every d / 10 / each", "every d / 10 / `cma`", "each / `cma`", "solved"]
    body = [
        [str(row["d"]), row["function"], *map(interval, row["ratio"].values()), ", ".join(map(str, row["solved"].values()))]
        for row in rows
    ]
    return markdown(head, body)


def main() -> None:
    parser = make_parser(__doc__, "gathering")
    add_show(parser)
    add_table(parser)
    parser.add_argument(
        "--dimensions", type=int, nargs="+", choices=SIZES, default=list(SIZES), help="dimensions (default: all)"
    )
    options = parser.parse_args()
    if not options.show and options.table is None:
        rows: list[Row] = []
        for d in options.dimensions:
            generations, number = SIZES[d]
            rows += measure(d, generations, list(REPORT)[:number])
            write_json(options.out, {"meta": provenance("gathering"), "rows": rows})
    deliver(show(read_rows(options.out)), options.table, "gathering")


if __name__ == "__main__":
    main()
