"""Colours, line styles and axes of all figures."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#CC79A7", "#000000", "#999933")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart, and one more."""

LINES = ("--", "-", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), "-.", (0, (3, 1, 1, 1, 1, 1)))
"""Line styles beside the colours, for print in grey."""

FLOOR = 1e-18
"""The least value that is drawn; lower ones are rounding errors of the objective."""


def new_figure(size: tuple[float, float], dpi: int = 120) -> "Figure":
    """Make a figure whose layout avoids overlaps."""
    matplotlib: Any = importlib.import_module("matplotlib.figure")
    return matplotlib.Figure(figsize=size, layout="constrained", dpi=dpi)


def plain_axes(axes: "Axes", *, grid: bool = True) -> None:
    """Draw axes with small labels, without a frame at the top and right, and with a pale grid."""
    if grid:
        axes.grid(color="0.9", linewidth=0.6)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def count_axis(axis: Any) -> None:
    """Label an axis by whole numbers with separators."""
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
