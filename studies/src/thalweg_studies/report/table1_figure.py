"""Table 1 as a picture (extra `plots`): means with their intervals, and the paper's numbers beside them."""

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thalweg_studies.paper.table1 import Entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, THEIRS = "#0072B2", "#D55E00"


def table1_figure(entries: Sequence[Entry]) -> "Figure":
    """One panel a function and dimension, one line an algorithm."""
    if not entries:
        raise ValueError("entries must hold at least one, got none")
    cases = list(dict.fromkeys((entry.function, entry.dimension) for entry in entries))
    functions, dimensions = (list(dict.fromkeys(part)) for part in zip(*cases, strict=True))
    matplotlib: Any = importlib.import_module("matplotlib.figure")
    figure = matplotlib.Figure(figsize=(2.0 + 2.4 * len(functions), 0.9 + 2.2 * len(dimensions)), layout="constrained", dpi=120)
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
        axes.tick_params(labelsize=8)
        axes.grid(axis="x", color="0.9", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    handles = [
        *panels[0, 0].plot([], [], "o-", color=OURS, linewidth=3.5, markersize=5, label=r"mean $f - f_{\min}$, 95% interval"),
        *panels[0, 0].plot([], [], color=OURS, linewidth=1, alpha=0.5, label="mean of 20 other seeds, 95%"),
        *panels[0, 0].plot([], [], "x", color=THEIRS, markersize=7, markeredgewidth=2, label="the paper, 20 seeds"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure
