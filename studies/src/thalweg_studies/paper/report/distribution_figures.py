"""Figures 1 to 3: isolines of search distributions in the plane, their entropy, and an animation."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg_studies.paper.distributions import SHOWN, SearchDistributions
from thalweg_studies.paper.fig23 import FAMILY
from thalweg_studies.paper.trajectory import DistributionTrajectory
from thalweg_studies.report.style import COLOURS, LINES, new_figure, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOUR: dict[str, str] = dict(zip(FAMILY, COLOURS, strict=False))
LINE: dict[str, Any] = dict(zip(FAMILY, LINES, strict=False))
"""The colours and line styles of the algorithms."""
TITLES = {
    "GNN-xNES": "GNN-xNES\n(our step)",
    "GNN-xNES (paper)": "GNN-xNES\n(the paper's step)",
    "xNES": "xNES\n",
}
SPARSE = 2
"""The distance between the drawn corners of an isoline: files half as large look the same."""
ENTROPY = "entropy (nats)"


def isolines_figure(experiment: SearchDistributions, trajectory: DistributionTrajectory, end: int) -> "Figure":
    """Draw an isoline of the first run for every iteration up to `end`, early ones pale, and the entropy beside them."""
    figure = new_figure((8.4, 4.4), dpi=100)
    axes, side = figure.subplots(1, 2, width_ratios=(1.55, 1))
    _landscape(axes, experiment)
    colour = COLOUR["xNES"]
    for k in range(end + 1):
        late = k / max(end, 1)
        line = trajectory.isolines[0, k, 0]
        axes.plot(*line[::SPARSE].T, color=colour, alpha=0.15 + 0.85 * late, linewidth=1.0 + 0.9 * late)
    axes.plot(*trajectory.mean[0, : end + 1].T, ".", color="black", markersize=3, label="mean")
    axes.plot(*experiment.x0, "o", color="black", markersize=6, markerfacecolor="white", label="start")
    axes.plot([], [], color=colour, alpha=0.3, label="iteration 0")
    axes.plot([], [], color=colour, linewidth=1.9, label=f"iteration {end}")
    axes.legend(loc="upper right", fontsize=8, framealpha=0.9)
    axes.set(xlabel="$x_1$", ylabel="$x_2$")
    axes.set_title("xNES: isolines of one standard deviation", fontsize=10)
    k = np.arange(end + 1)
    side.plot(k, trajectory.entropy[0, : end + 1], color=colour, linewidth=1.8)
    side.set(xlabel="iteration", ylabel=ENTROPY, xlim=(0, max(end, 1)))
    side.set_title("entropy of the same run", fontsize=10)
    plain_axes(side, grid=False)
    figure.suptitle(f"{experiment.functions[0].title()} function, {experiment.start}, seed {SHOWN}", fontsize=10)
    return figure


def search_figure(experiment: SearchDistributions, trajectories: Mapping[str, DistributionTrajectory]) -> "Figure":
    """Draw a row for each iteration that the paper shows and a column for each algorithm; below, the entropy."""
    rows, width = len(experiment.iterations), len(trajectories)
    figure = new_figure((3.0 * width + 0.4, 3.0 * rows + 3.0), dpi=100)
    grid = figure.add_gridspec(rows + 1, 2 * width, height_ratios=[1.0] * rows + [0.72])
    first = None
    for i, k in enumerate(experiment.iterations):
        for j, (name, trajectory) in enumerate(trajectories.items()):
            axes = figure.add_subplot(grid[i, 2 * j : 2 * j + 2])
            _distribution(axes, experiment, name, trajectory, k)
            if i == 0:
                axes.set_title(TITLES[name], fontsize=10)
            axes.set_xlabel("$x_1$")
            axes.set_ylabel(f"iteration {k}\n$x_2$")
            axes.tick_params(labelbottom=i == rows - 1, labelleft=j == 0)
            axes.xaxis.label.set_visible(i == rows - 1)
            axes.yaxis.label.set_visible(j == 0)
            first = first or axes
    _entropy(figure.add_subplot(grid[rows, :width]), experiment, trajectories)
    _difference(figure.add_subplot(grid[rows, width:]), experiment, trajectories)
    handles, labels = first.get_legend_handles_labels() if first is not None else ([], [])
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    figure.suptitle(f"{experiment.functions[0].title()} function, {experiment.start}, seed {SHOWN}", fontsize=10.5)
    return figure


def animate(experiment: SearchDistributions, trajectories: Mapping[str, DistributionTrajectory], path: Path) -> Path:
    """Write the iterations one after another as a GIF, which pauses at the last one."""
    animation: Any = importlib.import_module("matplotlib.animation")
    figure = new_figure((6.0, 3.9), dpi=100)
    grid = figure.add_gridspec(2, len(trajectories), height_ratios=(1.0, 0.55))
    panels = [figure.add_subplot(grid[0, j]) for j in range(len(trajectories))]
    below = figure.add_subplot(grid[1, :])
    last = experiment.drawn
    frames = [*range(last), *[last] * 4]
    writer = animation.PillowWriter(fps=3)
    with writer.saving(figure, str(path), 100):
        for k in frames:
            for j, (axes, (name, trajectory)) in enumerate(zip(panels, trajectories.items(), strict=True)):
                axes.clear()
                _distribution(axes, experiment, name, trajectory, k)
                axes.set_title(TITLES[name], fontsize=8.5)
                axes.tick_params(labelsize=7)
                axes.tick_params(labelleft=j == 0)
            below.clear()
            _entropy(below, experiment, trajectories, mark=k)
            figure.suptitle(f"{experiment.functions[0].title()} function, iteration {k}", fontsize=9.5)
            writer.grab_frame()
            figure.set_layout_engine("none")  # the first frame's stays: nothing jumps
    return path


def _distribution(axes: "Axes", experiment: SearchDistributions, name: str, trajectory: DistributionTrajectory, k: int) -> None:
    """Draw the isolines of the first run after k iterations, and the points drawn from that distribution."""
    _landscape(axes, experiment)
    colour = COLOUR[name]
    for line in trajectory.isolines[0, k]:
        axes.fill(*line[::SPARSE].T, facecolor=(colour, 0.17), edgecolor=colour, linewidth=0.9)
    axes.plot(
        *trajectory.points[0, k].T, ".", color="black", markersize=4, label=f"the {trajectory.points.shape[2]} points drawn"
    )
    masses = ", ".join(f"{mass:.0%}" for mass in sorted(experiment.masses))
    axes.plot([], [], color="0.4", linewidth=0.9, label=f"lines around {masses} of the distribution")


def _landscape(axes: "Axes", experiment: SearchDistributions) -> None:
    (left, right), (bottom, top) = experiment.limits
    x, y = np.meshgrid(np.linspace(left, right, 140), np.linspace(bottom, top, 140))
    height = np.log(experiment.objective(np.stack([x, y], -1)) + 1e-3)
    levels = np.quantile(height, np.linspace(0, 1, experiment.contours + 2)[1:-1])
    tones = [str(tone) for tone in np.linspace(0.86, 1.0, experiment.contours + 1)]  # darker is lower
    # flat and as pixels: as lines, they alone would make an SVG of more than a megabyte
    axes.contourf(x, y, height, [-np.inf, *levels, np.inf], colors=tones, antialiased=False, zorder=0).set_rasterized(True)
    axes.plot([], [], "s", color=tones[1], markersize=8, label="darker: lower $f$")
    minimum = experiment.objective.x_opt(2)
    axes.plot(*minimum, "*", color="black", markersize=9, markerfacecolor="#F0E442", zorder=4, label="minimum")
    axes.set(xlim=(left, right), ylim=(bottom, top))
    plain_axes(axes, grid=False)


def _entropy(
    axes: "Axes", experiment: SearchDistributions, trajectories: Mapping[str, DistributionTrajectory], mark: int | None = None
) -> None:
    """Draw the entropy of the run above; in an animation, with a mark at the iteration."""
    for name, trajectory in trajectories.items():
        axes.plot(
            trajectory.entropy[0, : experiment.drawn + 1], color=COLOUR[name], linestyle=LINE[name], linewidth=1.8, label=name
        )
        if mark is not None:
            axes.plot(mark, trajectory.entropy[0, mark], "o", color=COLOUR[name], markersize=4, clip_on=False)
    for each in experiment.iterations if mark is None else (mark,):
        axes.axvline(each, color="0.6", linewidth=0.9, zorder=0)
    size = None if mark is None else 8
    axes.set_xlabel("iteration", fontsize=size)
    axes.set_ylabel(ENTROPY, fontsize=size)
    axes.set_xlim(0, experiment.drawn)
    axes.locator_params(axis="x", integer=True)
    plain_axes(axes, grid=False)
    if mark is None:
        axes.set_title("entropy of the run above", fontsize=9.5)
        axes.legend(framealpha=0.85, edgecolor="none", fontsize=8.5, loc="lower left")
        return
    axes.legend(framealpha=0.85, edgecolor="none", fontsize=7, loc="lower left")
    axes.tick_params(labelsize=7)


def _difference(axes: "Axes", experiment: SearchDistributions, trajectories: Mapping[str, DistributionTrajectory]) -> None:
    """Draw the entropy minus the latent's from the same seed: the median over all runs, and a band between the quartiles."""
    latent, k = trajectories["xNES"], np.arange(experiment.drawn + 1)
    axes.axhline(0, color=COLOUR["xNES"], linestyle=LINE["xNES"], linewidth=1.8)
    for name, trajectory in trajectories.items():
        if trajectory is not latent:
            low, middle, high = np.quantile((trajectory.entropy - latent.entropy)[:, k], [0.25, 0.5, 0.75], axis=0)
            axes.fill_between(k, low, high, color=COLOUR[name], alpha=0.18, linewidth=0)
            axes.plot(k, middle, color=COLOUR[name], linestyle=LINE[name], linewidth=1.8)
    for each in experiment.iterations:
        axes.axvline(each, color="0.6", linewidth=0.9, zorder=0)
    axes.set(xlabel="iteration", ylabel="entropy minus xNES's", xlim=(0, k[-1]))
    axes.locator_params(axis="x", integer=True)
    axes.set_title(f"{len(latent.entropy)} runs: median and quartiles", fontsize=9.5)
    plain_axes(axes, grid=False)
