"""Tables and figures as files: the same content gives the same bytes."""

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown.

    >>> print(markdown(("d", "f"), [("2", "0.1")]))
    | d | f |
    |---|---|
    | 2 | 0.1 |
    """
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def save_figure(figure: "Figure", path: Path) -> list[Path]:
    """Write a figure as PNG and SVG beside each other, without the date and the random names that SVG has by default."""
    matplotlib: Any = importlib.import_module("matplotlib")
    paths = [path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg")]
    with matplotlib.rc_context({"svg.hashsalt": "thalweg"}):
        for each in paths:
            figure.savefig(each, metadata={"Date": None} if each.suffix == ".svg" else None)
    return paths
