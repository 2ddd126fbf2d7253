"""Helpers of the benchmark scripts: options, result files, tables in pages, and bootstrap intervals."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]
Report = dict[str, Any]


def make_parser(about: str | None, name: str | None = None) -> argparse.ArgumentParser:
    """Return a parser with the script's docstring as help; with a name it has --out, by default the committed file."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    if name is not None:
        text = f"JSON file (default: studies/benchmarks/results/{name}.json)"
        parser.add_argument("--out", type=Path, default=RESULTS / f"{name}.json", help=text)
    return parser


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the flag --show."""
    parser.add_argument("--show", action="store_true", help="run nothing, print the tables of the existing --out file")


def add_table(parser: argparse.ArgumentParser) -> None:
    """Add --table with an optional page; `deliver` takes its value."""
    text = "run nothing, print the tables of --out or write them between the markers of PAGE"
    parser.add_argument("--table", nargs="?", const="", metavar="PAGE", help=text)


def deliver(text: str, page: str | None, name: str) -> None:
    """Write the text between the markers of that name in a page, or print it if there is no page."""
    if page:
        write_between(Path(page), name, text)
    else:
        print(text)


def measure_or_show(
    about: str | None,
    measure: Callable[[int], Report],
    show: Callable[[Report], str],
    rounds: int,
    draw: Callable[[Report, Path], None] | None = None,
) -> None:
    """Run the command line of a benchmark of cost: measure or read a report, store it, draw it, print its tables.

    Args:
        about: docstring of the script.
        measure: makes the report from a number of rounds.
        show: makes Markdown from the report.
        rounds: default of --rounds.
        draw: writes a figure of the report, for --figure.
    """
    parser = make_parser(about)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--show", type=Path, metavar="FILE", help="measure nothing, print the tables of this JSON file")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"number of measurements of each kind (default: {rounds})")
    if draw is not None:
        parser.add_argument("--figure", type=Path, help="figure to write as PNG and SVG, without a suffix")
    options = parser.parse_args()
    report = json.loads(options.show.read_text()) if options.show else measure(options.rounds)
    if options.out:
        write_json(options.out, report)
    if draw is not None and options.figure:
        draw(report, options.figure)
    print(show(report))


def cost_report(packages: Sequence[str], rounds: int, rows: Iterable[Row]) -> Report:
    """Return rows with the versions of the packages and the number of cores."""
    return {"versions": versions("thalweg", *packages), "cpu_count": os.cpu_count(), "rounds": rounds, "rows": list(rows)}


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of installed packages; thalweg may also run from the source tree."""
    import thalweg

    return {name: thalweg.__version__ if name == "thalweg" else metadata.version(name) for name in packages}


def provenance(name: str, packages: Sequence[str] = ("thalweg", "jax", "numpy"), **more: Any) -> Row:
    """Return what a result file says about its origin: command, settings, versions."""
    command = f"python studies/benchmarks/{name}.py"
    return {"command": command, **more, "versions": versions(*packages), "python": platform.python_version()}


def write_json(path: Path, content: Any) -> None:
    """Write an indented JSON file, and its folder if it does not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")  # so that a campaign which is ended leaves a whole file
    new.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a result file."""
    return json.loads(path.read_text())["rows"]


def load_rows(path: Path, meta: Row) -> list[Row]:
    """Return the rows of a file to which more can be added, [] if there is no file; exit if its "meta" differs."""
    if not path.exists():
        return []
    saved = json.loads(path.read_text())
    if saved["meta"] != meta:
        raise SystemExit(f"--out: {path} was made with {saved['meta']}, not {meta}; remove it or choose another file")
    return saved["rows"]


def save_rows(path: Path, meta: Row, rows: Sequence[Row]) -> None:
    """Write "meta" and rows, one row a line; the file is replaced in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    lines = ",\n".join(json.dumps(row) for row in rows)
    draft.write_text(f'{{"meta": {json.dumps(meta)},\n"rows": [\n{lines}\n]}}\n')
    draft.replace(path)


def split_at_markers(page: str, name: str) -> tuple[str, str, str]:
    """Return the parts of a page before, between and after the two markers of that name."""
    before, begin, rest = page.partition(f"<!-- {name}: begin -->\n")
    inside, end, after = rest.partition(f"<!-- {name}: end -->\n")
    if not (begin and end):
        raise SystemExit(f"the page has no lines <!-- {name}: begin --> and <!-- {name}: end -->")
    return before + begin, inside, end + after


def write_between(page: Path, name: str, text: str) -> None:
    """Write the text between the markers of a page."""
    before, _, after = split_at_markers(page.read_text(), name)
    page.write_text(f"{before}\n{text}\n\n{after}")


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table.

    >>> print(markdown(["d", "f"], [["2", "0.1"]]))
    | d | f |
    | --- | --- |
    | 2 | 0.1 |
    """
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


def finite(number: Any) -> float | None:
    """Return the number, or None for infinity and NaN, which JSON does not have."""
    return float(number) if np.isfinite(number) else None


def infinite(numbers: Sequence[float | None]) -> np.ndarray:
    """Return the numbers as an array, infinity for None."""
    return np.asarray([np.inf if number is None else number for number in numbers])


def median_ratio(a: np.ndarray, b: np.ndarray, rng: np.random.Generator) -> list[float] | None:
    """Return median(a) / median(b) and its 95% bootstrap interval over pairs; None where a median is infinite or 0."""
    if not (0 < np.median(a) < np.inf and 0 < np.median(b) < np.inf):
        return None
    index = rng.integers(len(a), size=(2000, len(a)))
    with np.errstate(divide="ignore", invalid="ignore"):
        samples = np.nan_to_num(np.median(a[index], 1) / np.median(b[index], 1), nan=np.inf, posinf=np.inf)
    low, high = np.percentile(samples, (2.5, 97.5), method="nearest")
    return [float(np.median(a) / np.median(b)), float(low), float(high)]


def mean_ratio(a: np.ndarray, b: np.ndarray, seed: int = 0) -> list[float] | None:
    """Return mean(a) / mean(b) over pairs of finite numbers and its 95% bootstrap interval; None without such a pair."""
    both = np.isfinite(a) & np.isfinite(b)
    if not both.any():
        return None
    a, b = a[both], b[both]
    index = np.random.default_rng(seed).integers(len(a), size=(2000, len(a)))
    low, high = np.percentile(a[index].mean(1) / b[index].mean(1), (2.5, 97.5))
    return [float(a.mean() / b.mean()), float(low), float(high)]


def interval(ratio: Sequence[float] | None) -> str:
    """Format a ratio with its interval, "-" for None."""
    return "-" if ratio is None else "{:.3g} [{:.3g}, {:.3g}]".format(*ratio)
