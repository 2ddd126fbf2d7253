"""Figures (extra `plots`): how runs converged, and where a search distribution lies in two dimensions.

Functions return a matplotlib `Figure` and touch no global state: no backend is chosen, no style is set, nothing is shown.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from thalweg._common.checks import shortened
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.registry import with_popsize

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which colour-blind readers can tell apart."""

LINES = ("-", "--", ":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
"""Line styles beside the colours, for print in grey."""

MASSES = (0.95, 0.5)
"""The parts of a search distribution that its two contours enclose."""

Limits = tuple[tuple[float, float], tuple[float, float]]


class Curves(Protocol):
    """What `convergence` draws; `thalweg.Trajectories` is one."""

    @property
    def evaluations(self) -> np.ndarray:
        """Function evaluations after each generation, (generations,)."""
        ...

    @property
    def best(self) -> np.ndarray:
        """Best value so far, (runs, generations) or, for one run, (generations,)."""
        ...


def require() -> Any:
    """The module `matplotlib.figure`, or an error that says how to get it; call it before long work that ends in a figure."""
    try:
        return importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError('figures need matplotlib, which is not installed: run pip install "thalweg[plots]"') from error


def convergence(runs: Mapping[str, Curves], *, target: float | None = None, title: str = "") -> "Figure":
    """Best value against evaluations on a logarithmic scale: the median over the runs, and a band from quartile to quartile.

    A curve ends where it has reached the target.

    >>> import thalweg
    >>> runs = thalweg.run_many("cma", lambda x: (x**2).sum(), [1.0, 1.0], seeds=5, generations=20)
    >>> convergence({"CMA-ES": runs}).axes[0].get_ylabel()
    'best f so far'
    """
    if not runs:
        raise ValueError("runs must hold at least one set of curves, got none; write {'CMA-ES': thalweg.run_many(...)}")
    figure = _new_figure((6.4, 4.0))
    axes = figure.subplots()
    for i, (name, curves) in enumerate(runs.items()):
        colour, line = _style(i)
        with np.errstate(invalid="ignore"):  # between inf and inf lies NaN, which is not drawn
            low, middle, high = np.quantile(np.atleast_2d(curves.best), [0.25, 0.5, 0.75], axis=0)
        end = len(middle) if target is None else int(np.argmax(middle <= target)) + 1 if np.any(middle <= target) else None
        x, low, middle, high = (np.asarray(y, float)[:end] for y in (curves.evaluations, low, middle, high))
        visible = np.isfinite(middle) & (middle > 0)  # a logarithm has no place for the others
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
    _clean(axes)
    return figure


def density_2d(
    fun: Callable[[np.ndarray], Any],
    searches: Mapping[str, Optimizer],
    *,
    minimum: Sequence[float] | None = None,
    limits: Limits | None = None,
    title: str = "",
) -> "Figure":
    """The search distributions of optimisers in dimension 2 over the contours of the objective, one panel each.

    The inner line of a distribution encloses half of it, the outer one 95%. The dots are what the optimiser would ask next.

    Args:
        fun: The objective, called with all points of a grid at once, (n, 2); contours are those of log f, so f - min f > 0.
        searches: Optimisers by name, without bounds; they are left as they are.
        minimum: Marked by a star.
        limits: ((left, right), (bottom, top)); by default all distributions and the minimum fit in.
        title: Of the whole figure.
    """
    if not searches:
        raise ValueError("searches must hold at least one optimiser, got none; write {'CMA-ES': es}")
    for name, es in searches.items():
        if es.d != 2 or es.box is not None:
            what = f"dimension {es.d}" if es.d != 2 else "bounds"
            raise ValueError(f"searches must be without bounds and in dimension 2, but {shortened(name)} has {what}")
    draws = {name: _draws(es) for name, es in searches.items()}
    (left, right), (bottom, top) = limits or _limits(list(searches.values()), list(draws.values()), minimum)
    x, y = np.meshgrid(np.linspace(left, right, 240), np.linspace(bottom, top, 240))
    grid, cell = np.stack([x.ravel(), y.ravel()], 1), (x[0, 1] - x[0, 0]) * (y[1, 0] - y[0, 0])
    values = np.asarray(fun(grid), float).reshape(x.shape)
    height = np.log(np.maximum(values - min(0.0, values.min()), 1e-12))
    steps = np.quantile(height, np.linspace(0.005, 0.98, 11))

    figure = _new_figure((0.4 + 3.3 * len(searches), 3.9))
    panels = figure.subplots(1, len(searches), sharex=True, sharey=True, squeeze=False)[0]
    for i, (axes, (name, es)) in enumerate(zip(panels, searches.items(), strict=True)):
        colour, line = _style(i)
        density = _density(es, grid).reshape(x.shape)
        points = draws[name][: es.popsize]
        levels = _levels(density, cell) if len(points) == 0 else np.quantile(_density(es, draws[name]), 1 - np.asarray(MASSES))
        axes.contour(x, y, height, levels=steps, colors="0.72", linewidths=0.6, linestyles="solid")
        axes.contourf(x, y, density, levels=[*levels, np.inf], colors=[colour, colour], alpha=0.16)
        axes.contour(x, y, density, levels=levels, colors=colour, linewidths=[1.4, 1.8], linestyles=line)
        axes.plot(*points.T, ".", color="black", markersize=3.5, label="points of the generation")
        if minimum is not None:
            axes.plot(*minimum, "*", color="black", markersize=11, markerfacecolor="white", label="minimum")
        axes.set(xlim=(left, right), ylim=(bottom, top), xlabel="$x_1$")
        axes.set_title(name, fontsize=10)
        _clean(axes)
    panels[0].set_ylabel("$x_2$")
    panels[0].plot([], [], color="none", label="lines around half and 95% of the search distribution")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], loc="outside lower center", ncols=3, frameon=False, fontsize=9, handletextpad=0.2
    )
    figure.suptitle(title, fontsize=10.5)
    return figure


def _draws(es: Optimizer) -> np.ndarray:
    """Many points of the next generation, the first `popsize` of which it would ask; none if asking changes something."""
    if not es.strategy.traceable:
        return np.empty((0, 2))
    own = np.asarray(es.steps.ask(es.state)[1])
    with jax.enable_x64(True):
        more = with_popsize(es.strategy, 4000).ask(es.state)[1]
    return np.concatenate([own, np.asarray(more)])


def _density(es: Optimizer, points: np.ndarray) -> np.ndarray:
    with jax.enable_x64(True):
        return np.exp(np.asarray(es.strategy.log_prob(es.state, jnp.asarray(points))))


def _levels(density: np.ndarray, cell: float) -> list[float]:
    """The values of the density whose contours enclose the parts `MASSES` of what lies on the grid, ascending."""
    falling = np.sort(density, axis=None)[::-1]
    mass = np.cumsum(falling) * cell
    levels = [float(falling[min(np.searchsorted(mass, part), len(falling) - 1)]) for part in MASSES]
    return levels if levels[0] < levels[1] else [0.5 * levels[1], levels[1]]  # all of it in one cell of the grid


def _limits(searches: Sequence[Optimizer], draws: Sequence[np.ndarray], minimum: Sequence[float] | None) -> Limits:
    """Where all distributions, and the minimum, fit in with some room around; a bent one is not centred on its mean."""
    spots = [es.mean + side * es.std for es in searches for side in (-3.2, 3.2)]
    spots += [np.quantile(points, part, axis=0) for points in draws if len(points) for part in (0.002, 0.998)]
    low, high = np.min(spots, axis=0), np.max(spots, axis=0)
    if minimum is not None:
        room = 0.05 * (high - low)
        low, high = np.minimum(low, minimum - room), np.maximum(high, minimum + room)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def _style(i: int) -> tuple[str, Any]:
    return COLOURS[i % len(COLOURS)], LINES[i % len(LINES)]


def _new_figure(size: tuple[float, float]) -> "Figure":
    return require().Figure(figsize=size, layout="constrained", dpi=120)


def _clean(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=9)
