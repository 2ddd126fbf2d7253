"""Moving pictures in rows and columns, each with its label, as one GIF."""

import importlib
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LABEL, GAP = 38, 10
"""The height of a panel's label, and the space around a panel, in pixels."""
SHADES = 64
"""The number of colours of a film."""
REST = 2500
"""The duration of the last frame, in milliseconds."""


class Panel(NamedTuple):
    """One moving picture; its last image stays while others go on."""

    name: str
    note: str
    colour: str
    images: Sequence[np.ndarray]
    status: Sequence[str]
    """The text in the corner of each image."""


def save_film(
    panels: Sequence[Panel], path: Path, *, columns: int, frames: int, pause: int, marks: Mapping[str, int] | None = None
) -> None:
    """Write a film of `frames` frames, `pause` milliseconds each; `marks` are labelled vertical lines at an x in pixels."""
    images: Any = importlib.import_module("PIL.Image")
    # four panels look better as two rows of two than as one of three and one of one
    columns = min(columns, ceil(len(panels) / ceil(len(panels) / columns)))
    drawn = [_frame(panels, i, columns, marks or {}) for i in range(min(frames, max(len(each.images) for each in panels)))]
    # one palette for all: pixels that do not change need not be written again
    some = np.concatenate([np.asarray(drawn[i]) for i in {0, len(drawn) // 2, len(drawn) - 1}])
    palette = images.fromarray(some).quantize(SHADES, method=images.Quantize.MEDIANCUT)
    film = [each.quantize(palette=palette, dither=images.Dither.NONE) for each in drawn]
    pauses = [pause] * (len(film) - 1) + [REST]
    film[0].save(path, save_all=True, append_images=film[1:], duration=pauses, loop=0, disposal=1)


def _frame(panels: Sequence[Panel], i: int, columns: int, marks: Mapping[str, int]) -> Any:
    images, draws, fonts = (importlib.import_module(f"PIL.{name}") for name in ("Image", "ImageDraw", "ImageFont"))
    bold, plain = fonts.load_default(14), fonts.load_default(12)
    height, width, _ = panels[0].images[0].shape
    rows = ceil(len(panels) / columns)
    page = images.new("RGB", (columns * (width + GAP) + GAP, rows * (height + LABEL + GAP) + GAP), "white")
    pen = draws.Draw(page)
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        x, y = GAP + column * (width + GAP), GAP + row * (height + LABEL + GAP)
        now = min(i, len(panel.images) - 1)
        page.paste(images.fromarray(panel.images[now]), (x, y + LABEL))
        pen.rectangle((x, y + 3, x + 9, y + 12), fill=panel.colour)
        pen.text((x + 15, y), panel.name, font=bold, fill="black")
        pen.text((x, y + 18), panel.note, font=plain, fill="#444444")
        for text, at in marks.items():
            pen.line((x + at, y + LABEL, x + at, y + LABEL + height), fill="#c0c8d0")
            pen.text((x + at + 3, y + LABEL + height - 13), text, font=fonts.load_default(10), fill="#7a8590")
        pen.text((x + width - 5, y + LABEL + 4), panel.status[now], font=plain, fill="black", anchor="ra")
    return page
