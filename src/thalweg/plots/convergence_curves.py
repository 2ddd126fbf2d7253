"""Convergence: the best value so far against the number of evaluations."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from thalweg.plots.style import clean, line_style, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ConvergenceCurves(Protocol):
    """The best values of one or more runs, as `convergence` draws them; `thalweg.Trajectories` is an example."""

    @property
    def evaluations(self) -> np.ndarray:
        """Function evaluations after each generation, (generations,)."""
        ...

    @property
    def best(self) -> np.ndarray:
        """Best value so far, (runs, generations) or, for one run, (generations,)."""
        ...


def convergence(runs: Mapping[str, ConvergenceCurves], *, target: float | None = None, title: str = "") -> "Figure":
    """Draw the best value against evaluations on a logarithmic scale: the median over the runs, with a band between quartiles.

    With a target, a curve ends where its median reaches the target.

    >>> import thalweg
    >>> runs = thalweg.run_many("cma", lambda x: (x**2).sum(), [1.0, 1.0], seeds=5, generations=20)
    >>> figure = convergence({"CMA-ES": runs})
    >>> figure.axes[0].get_ylabel()
    'best f so far'
    """
    if not runs:
        raise ValueError("runs must hold at least one set of curves, got none; write {'CMA-ES': thalweg.run_many(...)}")
    figure = new_figure(6.4, 4.0)
    axes = figure.subplots()
    for i, (name, curves) in enumerate(runs.items()):
        colour, line = line_style(i)
        with np.errstate(invalid="ignore"):  # quantiles between inf and inf are NaN, which is not drawn
            low, middle, high = np.quantile(np.atleast_2d(curves.best), [0.25, 0.5, 0.75], axis=0)
        end = len(middle) if target is None else int(np.argmax(middle <= target)) + 1 if np.any(middle <= target) else None
        x, low, middle, high = (np.asarray(y, float)[:end] for y in (curves.evaluations, low, middle, high))
        visible = np.isfinite(middle) & (middle > 0)  # a logarithmic scale cannot show the others
        axes.fill_between(x, low, high, where=visible & (low > 0) & np.isfinite(high), color=colour, alpha=0.18, linewidth=0)
        axes.plot(x[visible], middle[visible], color=colour, linestyle=line, linewidth=1.8, label=name)
    if target is not None:
        axes.axhline(target, color="0.5", linewidth=0.8)
        axes.annotate(
            f"target {target:g}", (0.01, target), xycoords=("axes fraction", "data"), color="0.35", fontsize=8, va="bottom"
        )
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("function evaluations")
    axes.set_ylabel("best f so far")
    axes.set_title(title, fontsize=10)
    axes.grid(color="0.9", linewidth=0.6)
    axes.legend(frameon=False)
    clean(axes)
    return figure
