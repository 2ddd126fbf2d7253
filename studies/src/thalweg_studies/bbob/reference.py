"""Archived runtimes of other algorithms, from a CSV file of the user: a row for each algorithm, function, dimension and target.

Two layouts are known by their columns:

    algorithm, f, d, target, aRT, succ_1e-8                     average runtimes; inf for none
    alg, fid, dim, target, best2009_aRT, ratio, succ_1e-8       the same as ratios to the best runtimes of BBOB-2009

succ_1e-8 is a count such as 14/15, or empty where it is not known. Further columns are ignored.
"""

import csv
import re
from collections.abc import Mapping, Sequence
from math import inf, isnan
from pathlib import Path
from typing import NamedTuple

from thalweg._common.checks import listed
from thalweg_studies.bbob.record import rung

RUNTIMES = ("algorithm", "f", "d", "target", "aRT", "succ_1e-8")
RATIOS = ("alg", "fid", "dim", "target", "best2009_aRT", "ratio", "succ_1e-8")
"""The columns of the two layouts."""

BASELINES = ("CMA-ES", "CMA-ES-pycma")
"""Names of pycma's CMA-ES in the archived tables; the first that a file has is what all others are compared with."""

BEST = "BBOB-2009 best"
"""The best runtimes of BBOB-2009, each of another algorithm; the layout of ratios has them in a column."""

USUAL = (*BASELINES, "lq-CMA-ES", "BIPOP-saACM-k", "GNN-CMA-ES", BEST)
"""The algorithms that are shown unless others are chosen; all of the file if it has none of these."""


class Archived(NamedTuple):
    """The archived runtimes of an algorithm on a function in one dimension."""

    art: dict[int, float]
    """The average runtimes, by the target's index on the ladder; inf if no run reached it."""
    solved: tuple[int, int] | None
    """The number of runs solved to 1e-8, and of all; None if it is not known."""


Reference = dict[str, dict[tuple[int, int], Archived]]
"""Archived runtimes by algorithm, then by dimension and function."""


def read_reference(path: Path) -> Reference:
    """Read the table of archived runtimes in a CSV file; names are shortened as `short_names` does."""
    reference: Reference = {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file, restval="")
        columns = RATIOS if "alg" in (rows.fieldnames or ()) else RUNTIMES
        missing = [column for column in columns if column not in (rows.fieldnames or ())]
        if missing:
            raise ValueError(
                f"reference {path} has no column {missing[0]!r}; give a file with the columns {', '.join(RUNTIMES)} or "
                f"{', '.join(RATIOS)}"
            )
        for row in rows:
            try:
                name, function, d, target, art, solved = _cells(row, columns)
                best = _runtime(row["best2009_aRT"]) if columns is RATIOS else None
            except (ValueError, IndexError) as error:
                raise ValueError(
                    f"reference {path}, line {rows.line_num}, is not a row of archived runtimes ({error}); correct or remove it"
                ) from None
            cell = reference.setdefault(name, {}).setdefault((d, function), Archived({}, solved))
            cell.art[target] = art
            if best is not None:
                reference.setdefault(BEST, {}).setdefault((d, function), Archived({}, None)).art[target] = best
    if not reference:
        raise ValueError(f"reference {path} has no rows; give a file with archived runtimes")
    short = short_names(list(reference))
    return {short[name]: table for name, table in reference.items()}


def _cells(row: Mapping[str, str], columns: Sequence[str]) -> tuple[str, int, int, int, float, tuple[int, int] | None]:
    """Return algorithm, function, dimension, index of the target, average runtime and solved runs of a row."""
    name, function, d, target = (row[column].strip() for column in columns[:4])
    if columns is RATIOS:
        name, ratio = name.split()[0], _runtime(row["ratio"])
        art = inf if ratio == inf else _runtime(row["best2009_aRT"]) * ratio
    else:
        art = _runtime(row["aRT"])
    if not name:
        raise ValueError("no name of an algorithm")
    reached, _, count = row["succ_1e-8"].partition("/")
    return name, int(function), int(d), rung(float(target)), art, (int(reached), int(count)) if reached else None


def _runtime(text: str) -> float:
    """Return a positive number; infinity may be written as in the HTML of COCO's tables."""
    value = inf if text.strip() in ("&infin;", "∞") else float(text)
    if isnan(value) or value <= 0:
        raise ValueError(f"a runtime must be positive, got {text!r}")
    return value


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return each name without the remark in brackets at its end, as long as it stays the only one of that name.

    >>> list(short_names(["lq-CMA-ES (2019)", "lq-CMA-ES 094", "X (2012)", "X (2013)"]).values())
    ['lq-CMA-ES', 'lq-CMA-ES 094', 'X (2012)', 'X (2013)']
    """
    short = [re.sub(r"\s*\([^()]*\)$", "", name) for name in names]
    return {name: own if own and short.count(own) == 1 else name for name, own in zip(names, short, strict=True)}


def choose(reference: Reference, wanted: str | None, path: Path) -> Reference:
    """Return the algorithms named in a list with commas, the usual ones with None, every one with "all"; the baseline first.

    The baseline comes along where it was not named, as the others are divided by it.
    """
    if wanted is None:
        names = [name for name in USUAL if name in reference] or list(reference)
    elif wanted.strip() == "all":
        names = list(reference)
    else:
        names = [name for name in (short_names([word.strip()])[word.strip()] for word in _words(wanted)) if name]
        unknown = [name for name in names if name not in reference]
        if unknown or not names:
            raise ValueError(
                f"reference-algorithms must be 'all' or names in {path}, got {(unknown or [wanted])[0]!r}; "
                f"the file has {listed(sorted(reference))}"
            )
    first = baseline_of_archive(reference)
    return {name: reference[name] for name in dict.fromkeys(([first] if first else []) + names)}


def _words(text: str) -> list[str]:
    """Split at commas outside brackets.

    >>> _words("CMA-ES (pycma, IPOP, 2019),lq-CMA-ES")
    ['CMA-ES (pycma, IPOP, 2019)', 'lq-CMA-ES']
    """
    return re.split(r",(?![^()]*\))", text)


def baseline_of_archive(reference: Reference) -> str | None:
    """Return the name of pycma's CMA-ES among archived algorithms; None without it."""
    return next((name for name in BASELINES if name in reference), None)
