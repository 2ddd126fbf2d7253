"""Settings, options and result files that `banana.py` and `tune_valley.py` share."""

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
from battery import TARGET
from shared import RESULTS, Row, add_table, deliver, load_rows, make_parser, provenance, read_rows, save_rows

SETTINGS = {
    (2, 6): 40_000,
    (2, 20): 40_000,
    (5, 8): 40_000,
    (10, 10): 80_000,
    (10, 100): 300_000,
    (20, 12): 150_000,
    (20, 200): 600_000,
}
"""Largest number of evaluations of a run, by dimension and population."""
FACTORS = (1e2, 1e3, 1e4, 1e5)
"""Factors a of the banana function; the larger, the narrower the valley."""


class Scope(NamedTuple):
    """Problems to run, and the file of their rows."""

    settings: Sequence[tuple[int, int]]
    seeds: Sequence[int]
    factors: Sequence[float]
    path: Path


def study_parser(about: str | None, name: str, seeds: Sequence[int]) -> argparse.ArgumentParser:
    """Return a parser with the options of both scripts."""
    known = " ".join(f"{d},{n}" for d, n in SETTINGS)
    parser = make_parser(about)
    parser.add_argument("--seeds", type=int, default=len(seeds), help=f"number of seeds (default: all {len(seeds)})")
    text = f"dimension and population, among {known} (default: all)"
    parser.add_argument("--settings", nargs="+", type=setting, default=list(SETTINGS), metavar="D,N", help=text)
    parser.add_argument("--out", type=Path, help=f"JSON file (default: studies/benchmarks/results/{name}.json)")
    parser.add_argument("--quick", action="store_true", help="two seeds, two valleys, d = 2, n = 6, into a temporary file")
    text = "run nothing, add the rows of these files to --out; all must have the same settings"
    parser.add_argument("--join", nargs="+", type=Path, metavar="FILE", help=text)
    add_table(parser)
    return parser


def setting(text: str) -> tuple[int, int]:
    """Return d and n of the text "d,n"."""
    d, n = map(int, text.split(","))
    if (d, n) not in SETTINGS:
        raise ValueError(text)
    return d, n


def carry_out(
    options: argparse.Namespace,
    name: str,
    seeds: Sequence[int],
    measure: Callable[[Scope], None],
    tables: Callable[[list[Row]], str],
) -> None:
    """Measure, join files or only read, as the options say; then print the tables or write them into a page."""
    out = options.out or RESULTS / f"{name}.json"
    scope = Scope(options.settings, seeds[: options.seeds], FACTORS, out)
    if options.quick:
        scope = Scope([(2, 6)], seeds[:2], (1e2, 1e4), options.out or Path(tempfile.mkdtemp()) / out.name)
    if options.join:
        join(scope.path, options.join)
    elif options.table is None:
        measure(scope)
    deliver(tables(read_rows(scope.path)), options.table, name)


def describe(name: str, scope: Scope) -> Row:
    """Return what the rows of a file have in common."""
    return provenance(
        name,
        seeds=[scope.seeds[0], scope.seeds[-1]],
        factors=list(scope.factors),
        settings=[[d, n, most] for (d, n), most in SETTINGS.items()],
        target=TARGET,
        device=jax.devices()[0].device_kind,
    )


def join(path: Path, parts: Sequence[Path]) -> None:
    """Add the rows of other files with the same "meta" to a file, each once."""
    meta = json.loads(parts[0].read_text())["meta"]
    rows = load_rows(path, meta)
    for part in parts:
        rows += [row for row in load_rows(part, meta) if row not in rows]
    save_rows(path, meta, rows)
