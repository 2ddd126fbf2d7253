"""What `banana.py` and `tune_valley.py` share: settings, options, files of rows that grow, and tables between markers."""

import argparse
import json
import platform
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from battery import TARGET

import thalweg

SETTINGS = {
    (2, 6): 40_000,
    (2, 20): 40_000,
    (5, 8): 40_000,
    (10, 10): 80_000,
    (10, 100): 300_000,
    (20, 12): 150_000,
    (20, 200): 600_000,
}
"""Dimension and population: the most evaluations of a run."""
FACTORS = (1e2, 1e3, 1e4, 1e5)
"""a: how narrow the valleys are."""

Row = dict[str, Any]


class Scope(NamedTuple):
    """What is run, and where its rows go."""

    settings: Sequence[tuple[int, int]]
    seeds: Sequence[int]
    factors: Sequence[float]
    path: Path


def parser(about: str | None, name: str, seeds: Sequence[int]) -> argparse.ArgumentParser:
    """The options of both scripts."""
    known = " ".join(f"{d},{n}" for d, n in SETTINGS)
    own = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    own.add_argument("--seeds", type=int, default=len(seeds), help=f"how many seeds (default: all {len(seeds)})")
    own.add_argument("--settings", nargs="+", type=setting, default=list(SETTINGS), help=f"d,n: of {known} (default: all)")
    own.add_argument("--out", type=Path, help=f"default: studies/benchmarks/results/{name}.json")
    own.add_argument("--quick", action="store_true", help="two seeds, two valleys, d = 2, n = 6, into a temporary file")
    own.add_argument("--join", nargs="+", type=Path, help="only add the rows of these files, made alike, to --out")
    page = "only print the tables of --out, or write them between the markers of this page"
    own.add_argument("--table", nargs="?", const="", metavar="PAGE", help=page)
    return own


def setting(text: str) -> tuple[int, int]:
    """d and n from "d,n"."""
    d, n = map(int, text.split(","))
    if (d, n) not in SETTINGS:
        raise ValueError(text)
    return d, n


def follow(
    options: argparse.Namespace,
    name: str,
    seeds: Sequence[int],
    measure: Callable[[Scope], None],
    tables: Callable[[list[Row]], str],
) -> None:
    """Do what the options say."""
    out = options.out or Path("studies/benchmarks/results") / f"{name}.json"
    scope = Scope(options.settings, seeds[: options.seeds], FACTORS, out)
    if options.quick:
        scope = Scope([(2, 6)], seeds[:2], (1e2, 1e4), options.out or Path(tempfile.mkdtemp()) / out.name)
    if options.join:
        join(scope.path, options.join)
    elif options.table is None:
        measure(scope)
    text = tables(json.loads(scope.path.read_text())["rows"])
    if options.table:
        put(Path(options.table), name, text)
    else:
        print(text)


def about(name: str, scope: Scope) -> Row:
    """What the rows of a file have in common."""
    return {
        "command": f"python studies/benchmarks/{name}.py",
        "seeds": [scope.seeds[0], scope.seeds[-1]],
        "factors": list(scope.factors),
        "settings": [[d, n, most] for (d, n), most in SETTINGS.items()],
        "target": TARGET,
        "versions": {"thalweg": thalweg.__version__, "jax": jax.__version__, "numpy": np.__version__},
        "python": platform.python_version(),
        "device": jax.devices()[0].device_kind,
    }


def load(path: Path, meta: Row) -> list[Row]:
    """The rows of a file that was made the same way; none if there is no file yet."""
    if not path.exists():
        return []
    saved = json.loads(path.read_text())
    if saved["meta"] != meta:
        raise SystemExit(f"{path} was made otherwise, with {saved['meta']}, not {meta}; remove it or choose another --out")
    return saved["rows"]


def save(path: Path, meta: Row, rows: Sequence[Row]) -> None:
    """Write the file, one row a line; at any time it is the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    lines = ",\n".join(json.dumps(row) for row in rows)
    draft.write_text(f'{{"meta": {json.dumps(meta)},\n"rows": [\n{lines}\n]}}\n')
    draft.replace(path)


def join(path: Path, parts: Sequence[Path]) -> None:
    """Add the rows of files that were made alike to those of a file, each once."""
    meta = json.loads(parts[0].read_text())["meta"]
    rows = load(path, meta)
    for part in parts:
        rows += [row for row in load(part, meta) if row not in rows]
    save(path, meta, rows)


def between(page: str, name: str) -> tuple[str, str, str]:
    """What a page holds before, between and after the two markers of that name."""
    before, begin, rest = page.partition(f"<!-- {name}: begin -->\n")
    inside, end, after = rest.partition(f"<!-- {name}: end -->\n")
    if not (begin and end):
        raise SystemExit(f"the page has no lines <!-- {name}: begin --> and <!-- {name}: end -->")
    return before + begin, inside, end + after


def put(page: Path, name: str, text: str) -> None:
    """Write the text between the markers of a page."""
    before, _, after = between(page.read_text(), name)
    page.write_text(f"{before}\n{text}\n\n{after}")
