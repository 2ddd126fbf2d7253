"""Models of the objective in dimension 2, over the objective itself."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg._common.checks import shortened
from thalweg.plots.landscape import Limits, check_searches, draw_level_lines, log_heights, make_grid
from thalweg.plots.style import clean, line_style, new_figure
from thalweg.search.modelled import ModelledPoints
from thalweg.search.optimizer import Optimizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def model_2d(
    fun: Callable[[np.ndarray], Any],
    searches: Mapping[str, Optimizer],
    *,
    limits: Limits,
    minimum: Sequence[float] | None = None,
    title: str = "",
) -> "Figure":
    """Draw the level lines of the models of optimisers in dimension 2 over those of the objective, one panel each.

    Both have the same levels: where a model is right, its lines lie on those of the objective. The dots are the points to which
    it may be fitted.

    >>> import thalweg
    >>> es = thalweg.Optimizer([1.0, 2.0], sigma0=0.5, method="cma", model="quadratic", seed=1)
    >>> es.tell(X := es.ask(), (X**2).sum(1))
    >>> X = es.ask()
    >>> figure = model_2d(lambda X: (X**2).sum(1), {"flat": es}, limits=((-2, 3), (-2, 3)), minimum=[0.0, 0.0])
    >>> [axes.get_title() for axes in figure.axes]
    ['flat']

    Args:
        fun: The objective, called once with all points of a grid, (n, 2). Its level lines are those of log f, or of
            log(f - min f) where f is negative somewhere.
        searches: Optimisers by name, with a model, in dimension 2 and without bounds; they are not changed. Ask them for points
            before, so that the model is that of the present generation.
        limits: The axes, ((left, right), (bottom, top)).
        minimum: The minimum of the objective, marked by a star.
        title: The title of the figure.
    """
    check_searches(searches)
    x, y, grid = make_grid(limits)
    models: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, es in searches.items():
        points = es.pending
        found = points.predict(es.space.to_search(grid)) if isinstance(points, ModelledPoints) else None
        if found is None or not isinstance(points, ModelledPoints):
            raise ValueError(
                f"searches must have a model, but {shortened(name)} has none now; tell values, then ask for points"
            )
        models[name] = found.reshape(x.shape), es.space.to_objective(points.surrogate.archive.y)
    values = np.asarray(fun(grid), float).reshape(x.shape)
    base = min(0.0, values.min())

    figure = new_figure(0.4 + 3.3 * len(searches), 3.9)
    panels = figure.subplots(1, len(searches), sharex=True, sharey=True, squeeze=False)[0]
    colour, _ = line_style(0)
    for axes, (name, (found, known)) in zip(panels, models.items(), strict=True):
        levels = draw_level_lines(axes, x, y, log_heights(values, base))
        axes.contour(x, y, log_heights(found, base), levels=levels, colors=colour, linewidths=1.3, linestyles="solid")
        axes.plot([], [], color="0.6", linewidth=0.8, label="the function")
        axes.plot([], [], color=colour, linewidth=1.3, label="the model, same levels")
        axes.plot(*known.T, ".", color="black", markersize=5, label="points of the model")
        if minimum is not None:
            axes.plot(*minimum, "*", color="black", markersize=11, markerfacecolor="white", label="minimum")
        axes.set(xlim=limits[0], ylim=limits[1], xlabel="$x_1$")
        axes.set_title(name, fontsize=10)
        clean(axes)
    panels[0].set_ylabel("$x_2$")
    handles, labels = panels[0].get_legend_handles_labels()
    columns = 2 if len(searches) == 1 else 4
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9, handletextpad=0.5)
    figure.suptitle(title, fontsize=10.5)
    return figure
