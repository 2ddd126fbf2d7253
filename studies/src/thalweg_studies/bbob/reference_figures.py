"""Figures of a benchmark beside archived runtimes, each with its caption.

Entrants are solid lines with full marks, archived algorithms dashed lines with hollow ones.
"""

from math import isfinite, log
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg_studies.bbob.comparison import GROUPS, Algorithm, Comparison
from thalweg_studies.bbob.functions import names
from thalweg_studies.bbob.plan import FUNCTIONS
from thalweg_studies.bbob.record import LADDER
from thalweg_studies.report.style import COLOURS, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = "osD^vP*"
"""One fewer than there are colours, so that no two of the first 56 algorithms look alike."""


def line_style(comparison: Comparison, who: Algorithm) -> dict[str, Any]:
    """Return colour, line and mark of an algorithm: archived ones are dashed with hollow marks, the baseline is grey."""
    if who is comparison.baseline:
        return {"color": "0.45", "linestyle": ":", "marker": ".", "label": f"{who.name} (archived)"}
    i = [each for each in comparison.algorithms if each is not comparison.baseline].index(who)
    look: dict[str, Any] = {"color": COLOURS[i % len(COLOURS)], "marker": MARKS[i % len(MARKS)], "markersize": 5}
    if who.is_archived:
        return look | {"linestyle": "--", "markerfacecolor": "white", "label": f"{who.name} (archived)"}
    return look | {"linestyle": "-", "label": who.name}


def draw_groups(comparison: Comparison) -> tuple["Figure", str]:
    """Draw the geometric means of the ratios against the dimension, a panel for each group."""
    groups = {
        name: group for name, group in GROUPS.items() if any(comparison.functions(d, group) for d in comparison.dimensions)
    }
    figure = new_figure((3.9 * len(groups) + 1.0, 4.2))
    panels: Any = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    for axes, (name, group) in zip(panels, groups.items(), strict=True):
        for who in comparison.algorithms:
            means = {d: comparison.mean(who, d, comparison.functions(d, group)) for d in comparison.dimensions}
            known = {d: mean for d, mean in means.items() if mean.functions}
            style = line_style(comparison, who)
            if who is comparison.baseline:
                axes.axhline(1.0, **{key: style[key] for key in ("color", "linestyle", "label")})
                continue
            axes.plot(list(known), [mean.value for mean in known.values()], **style)
            spread = {d: mean for d, mean in known.items() if all(map(isfinite, mean.interval))}
            for d, mean in spread.items():
                axes.plot([d, d], mean.interval, color=style["color"], linewidth=1.0, alpha=0.7)
        axes.set_title(name, fontsize=10)
        axes.set_yscale("log")
        _plain_ticks(axes.yaxis)
        _dimension_axis(axes, comparison)
    panels[0].set_ylabel(
        f"aRT to 1e-7 / that of {comparison.baseline.name if comparison.baseline else ''}, geometric mean", fontsize=9
    )
    _legend(figure, panels[0], columns=3)
    return figure, "Geometric means of the ratios, of the first table, against the dimension, with the intervals of ours."


def draw_profiles(comparison: Comparison) -> tuple["Figure", str]:
    """Draw the share of pairs of function and target whose average runtime is at most x d, a panel for each dimension."""
    dims = comparison.dimensions
    columns = min(2, len(dims))
    rows = -(-len(dims) // columns)
    figure = new_figure((4.6 * columns + 0.4, 3.3 * rows + 0.7))
    panels: Any = figure.subplots(rows, columns, squeeze=False, sharey=True)
    targets = sorted({i for who in comparison.algorithms if who.is_archived for table in who.art.values() for i in table})
    for axes, d in zip(panels.flat, dims, strict=False):
        for who in comparison.algorithms:
            table = [who.art.get((d, function), {}) for function in comparison.functions(d)]
            pairs = np.array([own[i] for own in table for i in targets if i in own])
            if not len(pairs):
                continue
            reached = np.sort(pairs[np.isfinite(pairs)]) / d
            style = line_style(comparison, who)
            style |= {"marker": "", "linewidth": 1.4}
            axes.step(reached, np.arange(1, len(reached) + 1) / len(pairs), where="post", **style)
        axes.set_title(f"d = {d}", fontsize=10)
        axes.set_xscale("log")
        axes.set_xlabel("average runtime / d (evaluations)", fontsize=9)
        axes.set_ylim(0, 1.02)
        plain_axes(axes)
    for axes in panels.flat[len(dims) :]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel("share of functions and targets", fontsize=9)
    _legend(figure, panels.flat[0], columns=3)
    ends = f"{LADDER[targets[0]]:g} to {LADDER[targets[-1]]:.0e}".replace("e-0", "e-") if targets else ""
    return figure, f"Share of the pairs of function and target ({ends}) whose average runtime is at most x d evaluations."


def draw_functions(comparison: Comparison) -> tuple["Figure", str]:
    """Draw the average runtime to 1e-7 over d against the dimension, a panel for each function."""
    functions = [f for f in FUNCTIONS if any((d, f) in comparison.cells for d in comparison.dimensions)]
    columns = min(4, len(functions))
    rows = -(-len(functions) // columns)
    figure = new_figure((2.5 * columns + 0.8, 2.0 * rows + 1.0), dpi=110)
    panels: Any = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for axes, function in zip(panels.flat, functions, strict=False):
        for who in comparison.algorithms:
            arts = np.array([who.to((d, function)) / d for d in comparison.dimensions])
            style = line_style(comparison, who) | {"markersize": 3.5, "linewidth": 1.1}
            axes.plot(comparison.dimensions, np.where(np.isfinite(arts), arts, np.nan), **style)  # NaN breaks the line
        axes.set_title(f"f{function} {names[function]}", fontsize=8)
        axes.set_yscale("log")
        if np.divide(*axes.get_ylim()) > 1 / 30:  # few powers of ten to label
            _plain_ticks(axes.yaxis)
        _dimension_axis(axes, comparison, label=False)
    for axes in panels.flat[len(functions) :]:
        axes.set_visible(False)
    for axes in panels.flat[max(0, len(functions) - columns) : len(functions)]:
        axes.set_xlabel("dimension d", fontsize=8)
        axes.tick_params(labelbottom=True)
    figure.supylabel("aRT to 1e-7 / d (evaluations)", fontsize=9)
    _legend(figure, panels.flat[0], columns=3)
    return figure, "Average runtime to 1e-7 over d against the dimension; a mark is missing where no run reached the target."


def _dimension_axis(axes: "Axes", comparison: Comparison, *, label: bool = True) -> None:
    """Label the dimensions that were run, on a logarithmic axis."""
    dims = comparison.dimensions
    axes.set_xscale("log")
    axes.set_xticks(dims, [str(d) for d in dims])
    axes.minorticks_off()
    margin = max(0.15 * log(dims[-1] / dims[0]), 0.2)
    axes.set_xlim(dims[0] * np.exp(-margin), dims[-1] * np.exp(margin))
    if label:
        axes.set_xlabel("dimension d", fontsize=9)
    plain_axes(axes)


def _plain_ticks(axis: Any) -> None:
    """Label a logarithmic axis of ratios by 0.1, 0.2, 0.5, 1, 2."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _legend(figure: "Figure", axes: "Axes", columns: int) -> None:
    """Write the legend of one panel above the figure."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, fontsize=8, frameon=False)
