"""The figure of a claim: best value against evaluations, with a column for each function and dimension."""

from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg_studies.common.experiment import Case
from thalweg_studies.paper.claims import Cases, Claim
from thalweg_studies.paper.comparison import Comparison
from thalweg_studies.report.style import COLOURS, FLOOR, LINES, count_axis, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MULTIMODAL = ("rastrigin",)
"""Functions drawn by the mean on a linear axis: runs end in one minimum or another, and may reach f = 0."""


def claims_figure(claim: Claim, comparison: Comparison, cases: Cases) -> "Figure":
    """Draw the median over the runs and a band between the quartiles, in the claim's rows; the mean for many minima."""
    columns = [(function, d) for d in comparison.generations for function in comparison.functions]
    rows = {title: [name for name in names if name in comparison.algorithms] for title, names in claim.rows.items()}
    rows = {title: names for title, names in rows.items() if len(names) > 1}
    if not rows:
        raise ValueError(
            f"comparison {comparison.name!r} needs two algorithms of claim {claim.title!r}, got {comparison.algorithms}"
        )
    figure = new_figure((3.0 + max(3.1 * len(columns), 4.6), 0.7 + 2.5 * len(rows)))
    grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex="col")
    for line, (panels, (title, names)) in enumerate(zip(grid, rows.items(), strict=True)):
        for axes, (function, d) in zip(panels, columns, strict=True):
            for i, name in enumerate(names):
                best = cases[Case(function, d, name)]
                draw = _mean_curve if function in MULTIMODAL else _curve
                draw(axes, comparison.grid(d), best, label=f"{name} ({len(best)} runs)", color=COLOURS[i], linestyle=LINES[i])
            _axes(axes, comparison.grid(d), log_x=claim.log_x)
            axes.set_yscale("linear" if function in MULTIMODAL else "log")
            if line == 0:
                note = ", mean" if function in MULTIMODAL else ""
                axes.set_title(f"{function}, d = {d}, N = {10 * d}{note}", fontsize=10)
            if line == len(rows) - 1:
                axes.set_xlabel("function evaluations", fontsize=9)
        panels[0].set_ylabel("best f so far", fontsize=9)
        legend = panels[-1].legend(
            loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=8.5, title=title or None, handlelength=3.2
        )
        legend.set_alignment("left")
    return figure


def _curve(axes: "Axes", evaluations: np.ndarray, best: np.ndarray, **style: Any) -> None:
    low, middle, high = np.maximum(np.quantile(best, [0.25, 0.5, 0.75], axis=0), FLOOR)
    axes.fill_between(evaluations, low, high, color=style["color"], alpha=0.13, linewidth=0)
    axes.plot(evaluations, middle, linewidth=1.7, **style)


def _mean_curve(axes: "Axes", evaluations: np.ndarray, best: np.ndarray, **style: Any) -> None:
    late = evaluations >= evaluations[-1] / 10  # the first generations would hide what the minima differ by
    axes.plot(evaluations[late], best.mean(0)[late], linewidth=1.7, **style)


def _axes(axes: "Axes", evaluations: np.ndarray, *, log_x: bool) -> None:
    if log_x:
        axes.set_xscale("log")
        axes.set_xlim(evaluations[0], evaluations[-1])
    else:
        axes.set_xlim(0, evaluations[-1])
        axes.locator_params(axis="x", nbins=5)
    count_axis(axes.xaxis)
    plain_axes(axes)
