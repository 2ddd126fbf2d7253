"""Races as a picture (extra `plots`): best value against evaluations, a panel for each function and dimension."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg_studies.paper.race import Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#CC79A7", "#000000", "#999933")
"""Okabe and Ito's palette, which colour-blind readers can tell apart, and one more."""

LINES = ("--", "-", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), "-.", (0, (3, 1, 1, 1, 1, 1)))
"""Line styles beside the colours, for print in grey."""

FLOOR = 1e-18
"""Below it, values are rounding errors of the objective."""


def race_figure(panels: Mapping[tuple[str, int], Mapping[str, Curves]], seeds: int | None = None) -> "Figure":
    """The median over the runs, all or only the first, and a band from quartile to quartile."""
    functions, dimensions = (list(dict.fromkeys(part)) for part in zip(*panels, strict=True))
    matplotlib: Any = importlib.import_module("matplotlib.figure")
    size = (max(4.4 * len(functions), 6.4), 0.9 + 3.1 * len(dimensions))
    figure = matplotlib.Figure(figsize=size, layout="constrained", dpi=120)
    grid = figure.subplots(len(dimensions), len(functions), squeeze=False)
    for (function, d), axes in zip(((f, d) for d in dimensions for f in functions), grid.flat, strict=True):
        for i, (name, curves) in enumerate(panels[function, d].items()):
            _curve(axes, name, curves, i, seeds)
        axes.set_title(f"{function}, d = {d}, N = {10 * d}", fontsize=10)
    for axes in grid[:, 0]:
        axes.set_ylabel("best f so far")
    for axes in grid[-1]:
        axes.set_xlabel("function evaluations")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _curve(axes: "Axes", name: str, curves: Curves, i: int, seeds: int | None) -> None:
    best = curves.best[:seeds]
    low, middle, high = np.maximum(np.quantile(best, [0.25, 0.5, 0.75], axis=0), FLOOR)
    colour, line = COLOURS[i % len(COLOURS)], LINES[i % len(LINES)]
    axes.fill_between(curves.evaluations, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(curves.evaluations, middle, color=colour, linestyle=line, linewidth=1.7, label=name)
    axes.set_yscale("log")
    axes.set_xlim(0, curves.evaluations[-1])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(color="0.9", linewidth=0.6)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
