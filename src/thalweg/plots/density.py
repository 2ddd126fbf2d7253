"""Search distributions in dimension 2, over the contours of the objective."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.plots.landscape import Limits, check_searches, draw_level_lines, log_heights, make_grid
from thalweg.plots.style import clean, line_style, new_figure
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.registry import with_popsize
from thalweg.strategies.strategy import State, Strategy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASSES = (0.95, 0.5)
"""The fractions of a search distribution that its two contours enclose."""

SAMPLES = 4000
"""Points from which the contours and the limits are estimated."""


def density_2d(
    fun: Callable[[np.ndarray], Any],
    searches: Mapping[str, Optimizer],
    *,
    minimum: Sequence[float] | None = None,
    limits: Limits | None = None,
    title: str = "",
) -> "Figure":
    """Draw the search distributions of optimisers in dimension 2 over the contours of the objective, one panel each.

    The inner line encloses half of a distribution, the outer one 95%. The dots are the points of the next generation.

    >>> import thalweg
    >>> es = thalweg.Optimizer([1.0, 2.0], sigma0=0.5, method="cma", seed=1)
    >>> figure = density_2d(lambda X: (X**2).sum(1), {"CMA-ES": es}, minimum=[0.0, 0.0])
    >>> [axes.get_title() for axes in figure.axes]
    ['CMA-ES']

    Args:
        fun: The objective, called once with all points of a grid, (n, 2). Its contours are those of log f, or of
            log(f - min f) where f is negative somewhere.
        searches: Optimisers by name, in dimension 2 and without bounds; they are not changed.
        minimum: The minimum of the objective, marked by a star.
        limits: The axes, ((left, right), (bottom, top)); by default all distributions and the minimum fit in.
        title: The title of the figure.
    """
    check_searches(searches)
    samples = {name: _samples(es) for name, es in searches.items()}
    limits = limits or _limits(list(searches.values()), list(samples.values()), minimum)
    x, y, grid = make_grid(limits)
    cell = (x[0, 1] - x[0, 0]) * (y[1, 0] - y[0, 0])
    values = np.asarray(fun(grid), float).reshape(x.shape)
    height = log_heights(values, min(0.0, values.min()))

    figure = new_figure(0.4 + 3.3 * len(searches), 3.9)
    panels = figure.subplots(1, len(searches), sharex=True, sharey=True, squeeze=False)[0]
    for i, (axes, (name, es)) in enumerate(zip(panels, searches.items(), strict=True)):
        colour, line = line_style(i)
        density = _density(es, grid).reshape(x.shape)
        points = samples[name][: es.popsize]
        levels = _grid_levels(density, cell) if len(points) == 0 else _sample_levels(_density(es, samples[name]))
        draw_level_lines(axes, x, y, height)
        axes.contourf(x, y, density, levels=[*levels, np.inf], colors=[colour, colour], alpha=0.16)
        axes.contour(x, y, density, levels=levels, colors=colour, linewidths=[1.4, 1.8], linestyles=line)
        axes.plot(*points.T, ".", color="black", markersize=3.5, label="points of the generation")
        if minimum is not None:
            axes.plot(*minimum, "*", color="black", markersize=11, markerfacecolor="white", label="minimum")
        axes.set(xlim=limits[0], ylim=limits[1], xlabel="$x_1$")
        axes.set_title(name, fontsize=10)
        clean(axes)
    panels[0].set_ylabel("$x_2$")
    panels[0].plot([], [], color="none", label="lines around half and 95% of the search distribution")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], loc="outside lower center", ncols=3, frameon=False, fontsize=9, handletextpad=0.2
    )
    figure.suptitle(title, fontsize=10.5)
    return figure


def draw(es: Optimizer, number: int) -> np.ndarray:
    """Return points from the search distribution of an optimiser, (number, d), without changing it."""
    with jax.enable_x64(True):
        return es.space.to_objective(np.asarray(_ask(with_popsize(es.strategy, number), es.state)))


def reach(es: Optimizer, point: Sequence[float]) -> float:
    """Return the density at a point in units of that on the line around 95%: above 1 the line goes round the point."""
    return float(_density(es, np.array([point, point]))[0] / _sample_levels(_density(es, draw(es, SAMPLES)))[0])


@partial(jax.jit, static_argnums=0)
def _ask(strategy: Strategy, state: State) -> jax.Array:
    return strategy.ask(state)[1]


def _samples(es: Optimizer) -> np.ndarray:
    """Return the next generation and many more points; none for a strategy that asking would change."""
    if not es.strategy.traceable:
        return np.empty((0, 2))
    own = np.asarray(es.run.steps.ask(es.state).y)
    with jax.enable_x64(True):  # once: to compile it would take longer
        more = with_popsize(es.strategy, SAMPLES).ask(es.state)[1]
    return es.space.to_objective(np.concatenate([own, np.asarray(more)]))


def _density(es: Optimizer, points: np.ndarray) -> np.ndarray:
    with jax.enable_x64(True):
        density = np.exp(np.asarray(es.strategy.log_prob(es.state, jnp.asarray(es.space.to_search(points)))))
    return density / np.prod(np.broadcast_to(es.space.scale, 2))  # with units the search runs in these


def _sample_levels(density: np.ndarray) -> np.ndarray:
    """Return the densities above which the fractions `MASSES` of a sample lie, ascending."""
    return np.quantile(density, 1 - np.asarray(MASSES))


def _grid_levels(density: np.ndarray, cell: float) -> list[float]:
    """Return the densities whose contours enclose the fractions `MASSES` of the mass on a grid, ascending."""
    falling = np.sort(density, axis=None)[::-1]
    mass = np.cumsum(falling) * cell
    levels = [float(falling[min(np.searchsorted(mass, part), len(falling) - 1)]) for part in MASSES]
    return levels if levels[0] < levels[1] else [0.5 * levels[1], levels[1]]  # all mass lies in one cell of the grid


def _limits(searches: Sequence[Optimizer], samples: Sequence[np.ndarray], minimum: Sequence[float] | None) -> Limits:
    """Return limits that hold all distributions and the minimum; a bent distribution is not centred on its mean."""
    spots = [es.mean + side * es.std for es in searches for side in (-3.2, 3.2)]
    spots += [np.quantile(points, part, axis=0) for points in samples if len(points) for part in (0.002, 0.998)]
    low, high = np.min(spots, axis=0), np.max(spots, axis=0)
    if minimum is not None:
        room = 0.05 * (high - low)
        low, high = np.minimum(low, minimum - room), np.maximum(high, minimum + room)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))
