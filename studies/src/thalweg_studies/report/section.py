"""Sections of a report, with their verdicts and figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg_studies.common.verdict import HEAD, Verdict, cells
from thalweg_studies.report.page import Block, Table


@dataclass(frozen=True)
class Section:
    """The section about one figure, table or group of claims."""

    title: str
    blocks: Sequence[Block]
    """The content without the heading."""
    verdicts: Sequence[Verdict]
    files: Sequence[Path]
    """The figures that were written."""


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """Return a table with the paper's results beside ours."""
    return Table(HEAD, [cells(verdict) for verdict in verdicts])
