"""The ground of plots in dimension 2: which optimisers they take, a grid, and level lines of the objective."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from thalweg._common.checks import shortened
from thalweg.search.optimizer import Optimizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Limits = tuple[tuple[float, float], tuple[float, float]]


def check_searches(searches: Mapping[str, Optimizer]) -> None:
    """Raise a ValueError unless there are optimisers, all in dimension 2 and without bounds, logarithms or whole numbers."""
    if not searches:
        raise ValueError("searches must hold at least one optimiser, got none; write {'CMA-ES': es}")
    for name, es in searches.items():
        curved = bool(np.any(es.space.logarithmic) or np.any(es.space.whole_numbers))
        if es.d != 2 or es.space.bounded or curved:
            what = f"dimension {es.d}" if es.d != 2 else "bounds" if es.space.bounded else "logarithms or whole numbers"
            raise ValueError(f"searches must be without bounds and in dimension 2, but {shortened(name)} has {what}")


def make_grid(limits: Limits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both coordinates of a grid, (240, 240) each, and its points, (n, 2)."""
    (left, right), (bottom, top) = limits
    x, y = np.meshgrid(np.linspace(left, right, 240), np.linspace(bottom, top, 240))
    return x, y, np.stack([x.ravel(), y.ravel()], 1)


def log_heights(values: np.ndarray, base: float) -> np.ndarray:
    """Return the logarithms of values above a base."""
    return np.log(np.maximum(values - base, 1e-12))


def draw_level_lines(axes: "Axes", x: np.ndarray, y: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Draw grey lines of heights on a grid; return the heights that they have."""
    levels = np.quantile(height, np.linspace(0.005, 0.98, 11))
    axes.contour(x, y, height, levels=levels, colors="0.72", linewidths=0.6, linestyles="solid")
    return levels
