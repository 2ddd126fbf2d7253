"""Archived runtimes of other algorithms, from a table with a row for each algorithm, function, dimension and target.

Its columns: year, alg, fid, dim, target, best2009_aRT, ratio (of the algorithm's aRT to best2009's), succ_1e-8 (such as 14/15).
"""

import csv
from math import inf
from pathlib import Path
from typing import NamedTuple

from thalweg_studies.bbob.record import rung

COLUMNS = ("alg", "fid", "dim", "target", "best2009_aRT", "ratio", "succ_1e-8")


class Archived(NamedTuple):
    """The archived runtimes of an algorithm on a function in one dimension."""

    art: dict[int, float]
    """The average runtimes, by the target's index on the ladder."""
    solved: str
    """The number of instances solved to 1e-8, as in 14/15."""


Reference = dict[str, dict[tuple[int, int], Archived]]
"""Archived runtimes by algorithm, then by dimension and function."""


def read_reference(path: Path) -> Reference:
    """Read the table of archived runtimes in a CSV file; algorithms are named by their first word."""
    reference: Reference = {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}; a reference has the columns {', '.join(COLUMNS)}")
        for row in rows:
            try:
                name, key = row["alg"].split()[0], (int(row["dim"]), int(row["fid"]))
                ratio = float(row["ratio"])
                art = inf if ratio == inf else float(row["best2009_aRT"]) * ratio
                cell = reference.setdefault(name, {}).setdefault(key, Archived({}, row["succ_1e-8"]))
                cell.art[rung(float(row["target"]))] = art
            except (ValueError, IndexError):
                raise ValueError(f"{path}, line {rows.line_num}: not a row of archived runtimes") from None
    return reference
