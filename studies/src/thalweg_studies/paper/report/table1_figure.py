"""Table 1 as a figure: means with their intervals, and the paper's numbers beside them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thalweg_studies.paper.table1 import Entry
from thalweg_studies.report.style import COLOURS, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, THEIRS = COLOURS[:2]


def table1_figure(entries: Sequence[Entry]) -> "Figure":
    """Draw a panel for each function and dimension, with a line for each algorithm."""
    if not entries:
        raise ValueError("entries must not be empty")
    cases = list(dict.fromkeys((entry.function, entry.dimension) for entry in entries))
    functions, dimensions = (list(dict.fromkeys(part)) for part in zip(*cases, strict=True))
    figure = new_figure((2.0 + 2.4 * len(functions), 0.9 + 2.2 * len(dimensions)))
    panels = figure.subplots(len(dimensions), len(functions), squeeze=False, sharey=True)
    for (function, d), axes in zip(((f, d) for d in dimensions for f in functions), panels.flat, strict=True):
        chosen = [entry for entry in entries if (entry.function, entry.dimension) == (function, d)]
        for line, entry in enumerate(chosen):
            low, high = entry.interval
            axes.plot(entry.expected, [line, line], color=OURS, linewidth=1, alpha=0.5)
            axes.plot([low, high], [line, line], color=OURS, linewidth=3.5, solid_capstyle="butt")
            axes.plot(entry.mean, line, "o", color=OURS, markersize=5)
            axes.plot(entry.paper, line, "x", color=THEIRS, markersize=7, markeredgewidth=2)
        axes.set_yticks(range(len(chosen)), [entry.method for entry in chosen], fontsize=8)
        axes.set_ylim(len(chosen) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.locator_params(axis="x", nbins=4)
        axes.set_title(f"{function}, d = {d}", fontsize=9)
        axes.grid(axis="x", color="0.9", linewidth=0.6)
        plain_axes(axes, grid=False)
    handles = [
        *panels[0, 0].plot([], [], "o-", color=OURS, linewidth=3.5, markersize=5, label=r"mean $f - f_{\min}$, 95% interval"),
        *panels[0, 0].plot([], [], color=OURS, linewidth=1, alpha=0.5, label="mean of 20 other seeds, 95%"),
        *panels[0, 0].plot([], [], "x", color=THEIRS, markersize=7, markeredgewidth=2, label="the paper, 20 seeds"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure
