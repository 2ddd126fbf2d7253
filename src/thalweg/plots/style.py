"""The common look of all plots: colours, line styles, size and frame."""

from textwrap import shorten
from typing import TYPE_CHECKING, Any

from thalweg._common import extras

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""The palette of Okabe and Ito, which colour-blind readers can tell apart."""

LINES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
"""Line styles that go with the colours, so that a grey print stays readable."""


def require() -> Any:
    """Import `matplotlib.figure`, or raise an ImportError that says how to install it. Call it before long work."""
    return extras.require("matplotlib.figure", extra="plots", purpose="a figure")


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of this size in inches."""
    return require().Figure(figsize=(width, height), layout="constrained", dpi=120)


def line_style(i: int) -> tuple[str, Any]:
    """Return the colour and the line style of the i-th curve; after the last colour they come together in other pairs."""
    return COLOURS[i % len(COLOURS)], LINES[(i + i // len(COLOURS)) % len(LINES)]


def plain(text: str, width: int = 80) -> str:
    r"""Return a text of the user as a label: on one line, cut to a width, and without a meaning to matplotlib.

    >>> plain("_cost in $\n  or more"), plain("a very long sentence", 12)
    ('cost in \\$ or more', 'a very...')
    """
    return shorten(text, width, placeholder="...").lstrip("_").replace("$", r"\$")


def clean(axes: "Axes") -> None:
    """Remove the upper and right edges of the frame, and make the tick labels small."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
