"""Tables and figures as files: the same content gives the same bytes."""

import importlib
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thalweg.storage.atomic import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table as Markdown.

    >>> print(markdown(("d", "f"), [("2", "0.1")]))
    | d | f |
    |---|---|
    | 2 | 0.1 |
    """
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def save_figure(figure: "Figure", path: Path) -> list[Path]:
    """Write a figure as PNG and SVG, without the date and the random names that SVG has by default.

    The PNG has 256 colours, which are enough for lines and bands and halve its size.
    """
    matplotlib, pillow = (importlib.import_module(name) for name in ("matplotlib", "PIL.Image"))  # one comes with the other
    files = [path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg")]
    drawn, png, svg = io.BytesIO(), io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png")
    image: Any = pillow.open(drawn).convert("RGB")
    image.quantize(256, method=pillow.Quantize.MEDIANCUT, dither=pillow.Dither.NONE).save(png, format="png", optimize=True)
    with matplotlib.rc_context({"svg.hashsalt": "thalweg"}):
        figure.savefig(svg, format="svg", metadata={"Date": None})
    for file, content in zip(files, (png, svg), strict=True):
        write_bytes(file, content.getvalue())
    return files
