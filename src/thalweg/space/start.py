"""The start of a search in a space: the first standard deviations and the middle of the bounds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg._common.checks import as_array, as_positive, dimensions, shortened
from thalweg.space.bounds import SHARE, count_coordinates
from thalweg.space.coordinates import Coordinates
from thalweg.space.space_map import SpaceMap

Sigma0 = float | Sequence[float | None] | np.ndarray | None
"""Type of the argument `sigma0`."""
FIX = "a third of the distance to where the minimum may be is a good start"


def make_scaled_space(
    bounds: Any, d: int, sigma0: Any, *, scale: Any = None, log: Any = None, integers: Any = None
) -> tuple[SpaceMap, float]:
    """Return the space of a search with these arguments, and the first standard deviation in it, the same in all directions.

    >>> space, sigma0 = make_scaled_space([(0, 1e-3), (0, 1e3)], 2, None)
    >>> space.scale.tolist(), sigma0
    ([0.0003, 300.0], 1.0)
    >>> make_scaled_space((-5, 5), 2, None)[1], make_scaled_space(None, 2, None)[1]
    (3.0, 1.0)
    """
    coordinates = Coordinates.read(bounds, d, log, integers)
    steps = _steps(coordinates, sigma0, scale)
    return (coordinates.space(steps), 1.0) if isinstance(steps, np.ndarray) else (coordinates.space(None), steps)


def middle(bounds: Any, sigma0: Any, *, scale: Any = None, log: Any = None, integers: Any = None) -> np.ndarray:
    """Return the start of a search without one: the middle of closed bounds; elsewhere 0, or sigma0 inside the bound.

    Of a logarithmic coordinate that is the middle of the logarithms.

    >>> middle([(0, 10), (0, None), (-9, None), (None, -4)], 1.0).tolist()
    [5.0, 1.0, 0.0, -5.0]
    >>> middle([(1e-5, 1e-1), (1, 8)], None, log=[0], integers=[1]).round(9).tolist()
    [0.001, 4.0]
    """
    d = count_coordinates(bounds)
    if d is None:
        given = "there are no bounds" if bounds is None else f"bounds {shortened(bounds)} leave the number of coordinates open"
        raise ValueError(
            f"x0 is None and {given}; pass the start, such as x0=[0.0, 0.0], or bounds with a pair for each coordinate, such "
            "as bounds=[(0, 1)] * 2"
        )
    coordinates = Coordinates.read(bounds, d, log, integers)
    low, high = coordinates.search_sides
    step = _steps(coordinates, sigma0, scale)
    inside = np.minimum(np.maximum(0.0, low + step), high - step)
    with np.errstate(invalid="ignore"):  # inf - inf, where a side is open
        return coordinates.outward(np.where(np.isfinite(low) & np.isfinite(high), low / 2 + high / 2, inside))


def first_steps(bounds: Any, sigma0: Sequence[float | None], *, log: Any = None, integers: Any = None) -> np.ndarray:
    """Return the first standard deviation of each free coordinate as the search sees it; None is the default.

    >>> first_steps([(0, 10), (7, 7), (1, 8)], [None, None, 2.0]).tolist()
    [3.0, 2.0]
    """
    steps = _steps(Coordinates.read(bounds, len(sigma0), log, integers), list(sigma0), None)
    return np.atleast_1d(steps)


def _steps(coordinates: Coordinates, sigma0: Any, scale: Any) -> float | np.ndarray:
    """Return the first standard deviation of all free coordinates, or of each."""
    d, free = len(coordinates.low), coordinates.free
    if scale is None and sigma0 is not None and _is_single(sigma0):
        return as_positive(sigma0, "sigma0", FIX)
    low, high = coordinates.search_sides
    with np.errstate(invalid="ignore"):
        default = np.where(np.isfinite(low) & np.isfinite(high), SHARE * (high - low), 1.0)
    sizes = None if scale is None else _sizes(scale, d)[free]
    if sizes is not None:
        default = np.where(np.isfinite(low) & np.isfinite(high), default, sizes)
    if sigma0 is None:
        steps = default
    elif _is_single(sigma0):
        steps = np.full(len(low), as_positive(sigma0, "sigma0", FIX)) * (1.0 if sizes is None else sizes)
    else:
        given = _one_each(sigma0, "sigma0", d)[free] * (1.0 if sizes is None else sizes)
        return np.where(np.isnan(given), default, given)
    return float(steps[0]) if np.all(steps == steps[0]) else steps


def _sizes(scale: Any, d: int) -> np.ndarray:
    return np.full(d, as_positive(scale, "scale")) if _is_single(scale) else _one_each(scale, "scale", d)


def _is_single(value: Any) -> bool:
    try:
        return dimensions(value) == 0
    except ValueError:  # lists of different lengths, which as_array explains
        return False


def _one_each(given: Any, name: str, d: int) -> np.ndarray:
    """Return a positive number for each coordinate; NaN where sigma0 has None, which stands for the default."""
    default = (None,) if name == "sigma0" and isinstance(given, list | tuple) else ()
    numbers = as_array([np.nan if each is None else each for each in given] if default else given, name)
    if numbers.shape != (d,):
        raise ValueError(
            f"{name} must be one number or one for each of the {d} coordinates, got shape {numbers.shape}; pass as many as x0 "
            "has"
        )
    for i, each in enumerate(given):
        if each not in default:
            as_positive(each, f"{name}[{i}]", FIX if name == "sigma0" else "pass a number above 0")
    return numbers
