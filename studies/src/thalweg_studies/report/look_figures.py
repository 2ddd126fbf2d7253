"""Figures 1 to 3 (extra `plots`): isolines of search distributions in the plane, their entropy, and an animation."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg_studies.paper.course import Course
from thalweg_studies.paper.look import SHOWN, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"xNES": "#0072B2", "GNN-xNES": "#D55E00", "GNN-xNES (paper)": "#009E73"}
"""Okabe and Ito's, which colour-blind readers can tell apart."""
LINES = {"xNES": "--", "GNN-xNES": "-", "GNN-xNES (paper)": ":"}
TITLES = {
    "GNN-xNES": "GNN-xNES\n(our step)",
    "GNN-xNES (paper)": "GNN-xNES\n(the paper's step)",
    "xNES": "xNES\n",
}
SPARED = 2
"""Every so many corners of an isoline are drawn: files half as large look the same."""
ENTROPY = "entropy (nats)"


def isolines_figure(look: Look, course: Course, end: int) -> "Figure":
    """One isoline of the first run for every iteration up to `end`, early ones pale; the entropy beside them."""
    figure = _figure((8.4, 4.4))
    axes, side = figure.subplots(1, 2, width_ratios=(1.55, 1))
    _landscape(axes, look)
    colour = COLOURS["xNES"]
    for k in range(end + 1):
        late = k / max(end, 1)
        line = course.isolines[0, k, 0]
        axes.plot(*line[::SPARED].T, color=colour, alpha=0.15 + 0.85 * late, linewidth=1.0 + 0.9 * late)
    axes.plot(*course.mean[0, : end + 1].T, ".", color="black", markersize=3, label="mean")
    axes.plot(*look.x0, "o", color="black", markersize=6, markerfacecolor="white", label="start")
    axes.plot([], [], color=colour, alpha=0.3, label="iteration 0")
    axes.plot([], [], color=colour, linewidth=1.9, label=f"iteration {end}")
    axes.legend(loc="upper right", fontsize=8, framealpha=0.9)
    axes.set(xlabel="$x_1$", ylabel="$x_2$")
    axes.set_title("xNES: isolines of one standard deviation", fontsize=10)
    k = np.arange(end + 1)
    side.plot(k, course.entropy[0, : end + 1], color=colour, linewidth=1.8)
    side.set(xlabel="iteration", ylabel=ENTROPY, xlim=(0, max(end, 1)))
    side.set_title("entropy of the same run", fontsize=10)
    _plain(side)
    figure.suptitle(f"{look.functions[0].title()} function, {look.start}, seed {SHOWN}", fontsize=10)
    return figure


def search_figure(look: Look, courses: Mapping[str, Course]) -> "Figure":
    """A row for each iteration that the paper shows, a column for each algorithm; below, the entropy of all runs."""
    rows, width = len(look.iterations), len(courses)
    figure = _figure((3.0 * width + 0.4, 3.0 * rows + 3.0))
    grid = figure.add_gridspec(rows + 1, 2 * width, height_ratios=[1.0] * rows + [0.72])
    first = None
    for i, k in enumerate(look.iterations):
        for j, (name, course) in enumerate(courses.items()):
            axes = figure.add_subplot(grid[i, 2 * j : 2 * j + 2])
            _distribution(axes, look, name, course, k)
            if i == 0:
                axes.set_title(TITLES[name], fontsize=10)
            axes.set_xlabel("$x_1$")
            axes.set_ylabel(f"iteration {k}\n$x_2$")
            axes.tick_params(labelbottom=i == rows - 1, labelleft=j == 0)
            axes.xaxis.label.set_visible(i == rows - 1)
            axes.yaxis.label.set_visible(j == 0)
            first = first or axes
    _entropy(figure.add_subplot(grid[rows, :width]), look, courses)
    _difference(figure.add_subplot(grid[rows, width:]), look, courses)
    handles, labels = first.get_legend_handles_labels() if first is not None else ([], [])
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5)
    figure.suptitle(f"{look.functions[0].title()} function, {look.start}, seed {SHOWN}", fontsize=10.5)
    return figure


def animate(look: Look, courses: Mapping[str, Course], path: Path) -> Path:
    """The iterations one after another as a GIF; it stays on the last one for a moment."""
    animation: Any = importlib.import_module("matplotlib.animation")
    figure = _figure((6.0, 3.9))
    grid = figure.add_gridspec(2, len(courses), height_ratios=(1.0, 0.55))
    panels = [figure.add_subplot(grid[0, j]) for j in range(len(courses))]
    below = figure.add_subplot(grid[1, :])
    last = look.drawn
    frames = [*range(last), *[last] * 4]
    writer = animation.PillowWriter(fps=3)
    with writer.saving(figure, str(path), 100):
        for k in frames:
            for j, (axes, (name, course)) in enumerate(zip(panels, courses.items(), strict=True)):
                axes.clear()
                _distribution(axes, look, name, course, k)
                axes.set_title(TITLES[name], fontsize=8.5)
                axes.tick_params(labelsize=7)
                axes.tick_params(labelleft=j == 0)
            below.clear()
            _entropy(below, look, courses, mark=k)
            figure.suptitle(f"{look.functions[0].title()} function, iteration {k}", fontsize=9.5)
            writer.grab_frame()
            figure.set_layout_engine("none")  # the first frame's stays: nothing jumps
    return path


def _distribution(axes: "Axes", look: Look, name: str, course: Course, k: int) -> None:
    """The lines of the first run after k iterations, and the points that it draws next."""
    _landscape(axes, look)
    colour = COLOURS[name]
    for line in course.isolines[0, k]:
        axes.fill(*line[::SPARED].T, facecolor=(colour, 0.17), edgecolor=colour, linewidth=0.9)
    axes.plot(*course.points[0, k].T, ".", color="black", markersize=4, label=f"the {course.points.shape[2]} points drawn")
    masses = ", ".join(f"{mass:.0%}" for mass in sorted(look.masses))
    axes.plot([], [], color="0.4", linewidth=0.9, label=f"lines around {masses} of the distribution")


def _landscape(axes: "Axes", look: Look) -> None:
    (left, right), (bottom, top) = look.limits
    x, y = np.meshgrid(np.linspace(left, right, 140), np.linspace(bottom, top, 140))
    height = np.log(look.objective(np.stack([x, y], -1)) + 1e-3)
    levels = np.quantile(height, np.linspace(0, 1, look.contours + 2)[1:-1])
    tones = [str(tone) for tone in np.linspace(0.86, 1.0, look.contours + 1)]  # darker is lower
    # flat and as pixels: as lines, they alone would make an SVG of more than a megabyte
    axes.contourf(x, y, height, [-np.inf, *levels, np.inf], colors=tones, antialiased=False, zorder=0).set_rasterized(True)
    axes.plot([], [], "s", color=tones[1], markersize=8, label="darker: lower $f$")
    minimum = look.objective.x_opt(2)
    axes.plot(*minimum, "*", color="black", markersize=9, markerfacecolor="#F0E442", zorder=4, label="minimum")
    axes.set(xlim=(left, right), ylim=(bottom, top))
    _plain(axes)


def _entropy(axes: "Axes", look: Look, courses: Mapping[str, Course], mark: int | None = None) -> None:
    """Of the run that is drawn; in an animation, the iteration is marked."""
    for name, course in courses.items():
        axes.plot(course.entropy[0, : look.drawn + 1], color=COLOURS[name], linestyle=LINES[name], linewidth=1.8, label=name)
        if mark is not None:
            axes.plot(mark, course.entropy[0, mark], "o", color=COLOURS[name], markersize=4, clip_on=False)
    for each in look.iterations if mark is None else (mark,):
        axes.axvline(each, color="0.6", linewidth=0.9, zorder=0)
    size = None if mark is None else 8
    axes.set_xlabel("iteration", fontsize=size)
    axes.set_ylabel(ENTROPY, fontsize=size)
    axes.set_xlim(0, look.drawn)
    axes.locator_params(axis="x", integer=True)
    _plain(axes)
    if mark is None:
        axes.set_title("entropy of the run above", fontsize=9.5)
        axes.legend(framealpha=0.85, edgecolor="none", fontsize=8.5, loc="lower left")
        return
    axes.legend(framealpha=0.85, edgecolor="none", fontsize=7, loc="lower left")
    axes.tick_params(labelsize=7)


def _difference(axes: "Axes", look: Look, courses: Mapping[str, Course]) -> None:
    """Of entropy to the latent's from the same seed: the median over all runs, and a band from quartile to quartile."""
    latent, k = courses["xNES"], np.arange(look.drawn + 1)
    axes.axhline(0, color=COLOURS["xNES"], linestyle=LINES["xNES"], linewidth=1.8)
    for name, course in courses.items():
        if course is not latent:
            low, middle, high = np.quantile((course.entropy - latent.entropy)[:, k], [0.25, 0.5, 0.75], axis=0)
            axes.fill_between(k, low, high, color=COLOURS[name], alpha=0.18, linewidth=0)
            axes.plot(k, middle, color=COLOURS[name], linestyle=LINES[name], linewidth=1.8)
    for each in look.iterations:
        axes.axvline(each, color="0.6", linewidth=0.9, zorder=0)
    axes.set(xlabel="iteration", ylabel="entropy minus xNES's", xlim=(0, k[-1]))
    axes.locator_params(axis="x", integer=True)
    axes.set_title(f"{len(latent.entropy)} runs: median and quartiles", fontsize=9.5)
    _plain(axes)


def _figure(size: tuple[float, float]) -> "Figure":
    matplotlib: Any = importlib.import_module("matplotlib.figure")
    return matplotlib.Figure(figsize=size, layout="constrained", dpi=100)


def _plain(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
