"""The start of a search in a space: the first standard deviations and the middle of the bounds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg._common.checks import as_array, as_positive, shortened
from thalweg.space.bounds import SHARE, count_coordinates, make_space
from thalweg.space.space_map import SpaceMap

Sigma0 = float | Sequence[float] | np.ndarray | None
"""Type of the argument `sigma0`."""


def make_scaled_space(bounds: Any, d: int, sigma0: Any) -> tuple[SpaceMap, float]:
    """Return the space of a search with these arguments, and the first standard deviation in it, the same in all directions.

    >>> space, sigma0 = make_scaled_space([(0, 1e-3), (0, 1e3)], 2, None)
    >>> space.scale.tolist(), sigma0
    ([0.0003, 300.0], 1.0)
    >>> make_scaled_space((-5, 5), 2, None)[1], make_scaled_space(None, 2, None)[1]
    (3.0, 1.0)
    """
    plain = make_space(bounds, d)
    steps = _default_steps(plain, d) if sigma0 is None else _as_steps(sigma0, d)
    return (make_space(bounds, d, steps), 1.0) if isinstance(steps, np.ndarray) else (plain, steps)


def middle(bounds: Any, sigma0: Any) -> np.ndarray:
    """Return the start of a search without one: the middle of closed bounds; elsewhere 0, or sigma0 inside the bound.

    >>> middle([(0, 10), (0, None), (-9, None), (None, -4)], 1.0).tolist()
    [5.0, 1.0, 0.0, -5.0]
    """
    d = count_coordinates(bounds)
    if d is None:
        given = "there are no bounds" if bounds is None else f"bounds {shortened(bounds)} leave the number of coordinates open"
        raise ValueError(
            f"x0 is None and {given}; pass the start, such as x0=[0.0, 0.0], or bounds with a pair for each coordinate, such "
            "as bounds=[(0, 1)] * 2"
        )
    space, common = make_scaled_space(bounds, d, sigma0)
    step, low, high = (np.broadcast_to(part, (d,)) for part in (common * space.scale, *space.sides))
    inside = np.minimum(np.maximum(0.0, low + step), high - step)
    with np.errstate(invalid="ignore"):  # inf - inf, where a side is open
        return np.where(space.closed, low / 2 + high / 2, inside)


def _default_steps(space: SpaceMap, d: int) -> float | np.ndarray:
    low, high = space.sides
    with np.errstate(invalid="ignore"):
        steps = np.broadcast_to(np.where(space.closed, SHARE * (high - low), 1.0), (d,))
    return float(steps[0]) if np.all(steps == steps[0]) else steps


def _as_steps(sigma0: Any, d: int) -> float | np.ndarray:
    fix = "a third of the distance to where the minimum may be is a good start"
    try:
        single = np.ndim(sigma0) == 0
    except ValueError:  # lists of different lengths, which as_array explains
        single = False
    if single:
        return as_positive(sigma0, "sigma0", fix)
    steps = as_array(sigma0, "sigma0")
    if steps.shape != (d,):
        raise ValueError(
            f"sigma0 must be one number or one for each of the {d} coordinates, got shape {steps.shape}; pass as many as x0 has"
        )
    for i, step in enumerate(steps.tolist()):
        as_positive(step, f"sigma0[{i}]", fix)
    return steps
