"""Tables and figures as files: the same content gives the same bytes."""

import importlib
import io
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
    """Write a figure as PNG and SVG beside each other, without the date and the random names that SVG has by default.

    256 colours are enough for lines and bands, and halve the PNG.
    """
    matplotlib, pillow = (importlib.import_module(name) for name in ("matplotlib", "PIL.Image"))  # one comes with the other
    png, svg = (path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg"))
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    image: Any = pillow.open(drawn).convert("RGB")
    image.quantize(256, method=pillow.Quantize.MEDIANCUT, dither=pillow.Dither.NONE).save(png, optimize=True)
    with matplotlib.rc_context({"svg.hashsalt": "thalweg"}):
        figure.savefig(svg, metadata={"Date": None})
    return [png, svg]
