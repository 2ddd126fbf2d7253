"""A run in one figure: convergence, step-size, coordinates, bend, model, failures and times against the evaluations."""

import os
from typing import TYPE_CHECKING

import numpy as np

from thalweg.plots import panels
from thalweg.plots.recorded import Recorded, read
from thalweg.plots.style import clean, new_figure, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from scipy.optimize import OptimizeResult

WIDTH, HEIGHT = 9.6, 2.3
"""Size of the figure and of a row of panels, in inches."""


def run(what: "OptimizeResult | Recorded | str | os.PathLike[str]", *, title: str | None = None) -> "Figure":
    """Draw all that is known of a run against the number of evaluations; what is not known has no panel.

    Panels: the best value so far and each generation's median; step-size and axes of the search distribution; the coordinates
    of its mean that moved most; its bend; the model's rank correlation; the share of feasible points; failures by their
    reasons; the time of each evaluation. Grey vertical lines are restarts.

    >>> import thalweg
    >>> result = thalweg.minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=40)
    >>> figure = run(result)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['f', 'standard deviation', 'mean']

    Args:
        what: The result of `minimize`, the path of a checkpoint or a log, or what `thalweg.plots.recorded.read` returns.
        title: The title; by default the name of the file, the method, and where the run has come to.
    """
    recorded = what if isinstance(what, Recorded) else read(what)
    first, wide = panels.convergence(recorded), panels.coordinates(recorded)
    small = [draw for panel in panels.SMALL if (draw := panel(recorded)) is not None]
    rows: list[list[panels.Draw]] = [] if first is None else [[first]]
    if len(small) % 2 and rows:
        rows[0].append(small.pop(0))
    rows += [] if wide is None else [[wide]]
    rows += [small[i : i + 2] for i in range(0, len(small), 2)]
    if not rows:
        raise ValueError(f"{recorded.name!r} has nothing to draw: no evaluation has a finite value yet")
    heights = [1.0 if wide not in row else 0.7 + 0.045 * min(recorded.d, panels.SHOWN) for row in rows]
    figure = new_figure(WIDTH, 0.7 + HEIGHT * sum(heights))
    grid = figure.add_gridspec(len(rows), 2, height_ratios=heights)
    starts = restarts(recorded)
    for i, row in enumerate(rows):
        for j, draw in enumerate(row):
            axes = figure.add_subplot(grid[i, :] if len(row) == 1 else grid[i, j])
            _finish(axes, recorded, starts, draw, first=i + j == 0, columns=3 - len(row))
    figure.suptitle(heading(recorded) if title is None else title, fontsize=10.5)
    return figure


def _finish(axes: "Axes", recorded: Recorded, starts: np.ndarray, draw: panels.Draw, *, first: bool, columns: int) -> None:
    """Draw a panel that is one or two columns wide, with its axes, grid and legend; the first one explains the restarts."""
    room = 0.01 * max(recorded.nfev - recorded.before, 10)
    axes.set_xlim(recorded.before - room, recorded.nfev + room)
    for k, start in enumerate(starts):
        axes.axvline(start, color="0.6", linewidth=0.7, zorder=0, label="_" if k or not first else "restart")
    with np.errstate(all="ignore"):  # values may be infinite, or beyond the doubles when they are scaled
        draw(axes)
    axes.set_xlabel("evaluations", fontsize=9)
    axes.locator_params(axis="x", nbins=4 * columns, integer=True)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.label.set_fontsize(9)
    axes.grid(color="0.92", linewidth=0.6)
    clean(axes)
    labels = axes.get_legend_handles_labels()[1]
    if labels and labels != ["evaluation"]:
        beside = len(labels) if sum(map(len, labels)) + 8 * len(labels) <= 70 * columns else 1
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=beside, frameon=False, fontsize=8, borderaxespad=0.1)


def restarts(recorded: Recorded) -> np.ndarray:
    """Return the numbers of the evaluations with which runs after the first one begin."""
    if len(recorded.evaluations) and not recorded.before:
        numbers, of = recorded.number, recorded.evaluations.run
    else:
        numbers, of = recorded.generations.nfev, recorded.generations.run
    _, places = np.unique(of, return_index=True)
    return np.sort(numbers[places])[1:]


def heading(recorded: Recorded) -> str:
    """Return a line on a run: its name, method and dimension, where it has come to, and why it has ended."""
    best = "no value yet" if recorded.best is None else f"best f = {recorded.best.f:.7g}"
    method = [] if recorded.method is None else [plain(str(recorded.method))]
    counts = [f"d = {recorded.d}", f"{recorded.nfev:,} evaluation{'s' * (recorded.nfev != 1)}", best]
    line = f"{plain(recorded.name)}: {', '.join(method + counts)}"
    return line if recorded.message is None else f"{line}\n{plain(recorded.message, 160)}"
