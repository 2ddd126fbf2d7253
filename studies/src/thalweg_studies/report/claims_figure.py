"""A claim as a picture (extra `plots`): best value against evaluations, a column for each function and dimension."""

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg_studies.paper.claims import Cases, Claim
from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.race import Race
from thalweg_studies.report.race_figure import COLOURS, FLOOR, LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MULTIMODAL = ("rastrigin",)
"""Where runs end in one minimum or another, the mean says more than the median, and a logarithm of 0 says nothing."""


def claims_figure(claim: Claim, race: Race, cases: Cases) -> "Figure":
    """The median over the runs and a band from quartile to quartile; rows as the claim has them, a legend beside each.

    Where there are many minima, the mean.
    """
    columns = [(function, d) for d in race.generations for function in race.functions]
    rows = {title: [name for name in names if name in race.arms] for title, names in claim.rows.items()}
    rows = {title: names for title, names in rows.items() if len(names) > 1}
    if not rows:
        raise ValueError(f"claim {claim.title!r} shows no two arms of the race {race.name!r}, which has {race.arms}")
    matplotlib: Any = importlib.import_module("matplotlib.figure")
    size = (3.0 + max(3.1 * len(columns), 4.6), 0.7 + 2.5 * len(rows))
    figure = matplotlib.Figure(figsize=size, layout="constrained", dpi=120)
    grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex="col")
    for line, (panels, (title, names)) in enumerate(zip(grid, rows.items(), strict=True)):
        for axes, (function, d) in zip(panels, columns, strict=True):
            for i, name in enumerate(names):
                best = cases[Case(function, d, name)]
                draw = _mean_curve if function in MULTIMODAL else _curve
                draw(axes, race.grid(d), best, label=f"{name} ({len(best)} runs)", color=COLOURS[i], linestyle=LINES[i])
            _dress(axes, race.grid(d), log_x=claim.log_x)
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


def _dress(axes: "Axes", evaluations: np.ndarray, *, log_x: bool) -> None:
    if log_x:
        axes.set_xscale("log")
        axes.set_xlim(evaluations[0], evaluations[-1])
    else:
        axes.set_xlim(0, evaluations[-1])
        axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(color="0.9", linewidth=0.6)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
