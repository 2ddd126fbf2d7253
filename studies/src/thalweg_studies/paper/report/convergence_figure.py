"""The figure of a comparison: best value against evaluations, with a panel for each function and dimension."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from thalweg_studies.paper.comparison import Curves
from thalweg_studies.report.style import COLOURS, FLOOR, LINES, count_axis, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def convergence_figure(panels: Mapping[tuple[str, int], Mapping[str, Curves]], seeds: int | None = None) -> "Figure":
    """Draw the median over the runs, all or the first `seeds`, and a band between the quartiles."""
    functions, dimensions = (list(dict.fromkeys(part)) for part in zip(*panels, strict=True))
    figure = new_figure((max(4.4 * len(functions), 6.4), 0.9 + 3.1 * len(dimensions)))
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
    count_axis(axes.xaxis)
    plain_axes(axes)
