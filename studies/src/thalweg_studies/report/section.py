"""What a part of the report consists of."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from thalweg_studies.paper.verdict import HEAD, Verdict, cells
from thalweg_studies.report.page import Block, Table


@dataclass(frozen=True)
class Section:
    """One figure, table or claim."""

    title: str
    blocks: Sequence[Block]
    """All that is to be said and shown, without the heading."""
    verdicts: Sequence[Verdict]
    files: Sequence[Path]
    """The figures that were written."""


def verdict_table(verdicts: Sequence[Verdict]) -> Table:
    """The paper and ours side by side."""
    return Table(HEAD, [cells(verdict) for verdict in verdicts])
