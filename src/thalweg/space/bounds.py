"""The space that a user's bounds describe."""

import sys
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from thalweg._common.checks import as_number, dimensions, shortened
from thalweg.space.box import Box
from thalweg.space.scaled import Scaled
from thalweg.space.space_map import SpaceMap

SHARE = 0.3
"""A coordinate's unit, the first standard deviation in it, as a share of its range: two of three points lie in the middle."""
LARGEST = 1e140
"""Largest bound of a coordinate that is not searched by its logarithm; the inverse is the least width."""


def make_space(bounds: Any, d: int, units: np.ndarray | None = None) -> SpaceMap:
    """Make a space from pairs (low, high), one pair for all coordinates, or scipy's `Bounds`; None is an open side.

    With `units` a step of 1 in R^d is a step of that length in each coordinate.

    >>> make_space((-5, 5), d=3).sides[0].tolist()
    [-5.0, -5.0, -5.0]
    >>> make_space(None, d=3).bounded
    False
    """
    return space_between(*read_sides(bounds, d), units)


def space_between(low: np.ndarray, high: np.ndarray, units: np.ndarray | None = None) -> SpaceMap:
    """Make a space from lower and upper bounds, infinite where a side is open."""
    for i in np.flatnonzero(low == high).tolist():
        raise ValueError(f"bounds of coordinate {i} are equal: ({low[i]:g}, {high[i]:g}); leave it out of the search")
    if not (np.any(np.isfinite(low)) or np.any(np.isfinite(high))):
        return _with_units(SpaceMap(), units)
    return _with_units(Box.between(low, high, 1.0 if units is None else units / SHARE), units)


def read_sides(bounds: Any, d: int, logs: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (d,), infinite where a side is open; two that are equal fix a coordinate.

    `logs` is True for each coordinate that is searched by its logarithm.
    """
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    if bounds is None:
        return low, high
    for i, (below, above) in enumerate(_pairs(bounds, d)):
        low[i] = _side(below, i, "low", -np.inf)
        high[i] = _side(above, i, "high", np.inf)
        if low[i] > high[i]:
            raise ValueError(f"bounds of coordinate {i} are inverted: ({low[i]:g}, {high[i]:g}); give the lower number first")
        if (fault := width_fault(low[i], high[i], log=logs is not None and bool(logs[i]))) is not None:
            raise ValueError(f"bounds of coordinate {i} are {fault}")
    return low, high


def width_fault(low: float, high: float, *, log: bool = False) -> str | None:
    """Return in words what is wrong with the width of a range that is not inverted; None if nothing is.

    >>> width_fault(0.0, 1e-200)
    'closer together than floating-point numbers can resolve: (0, 1e-200); widen them'
    """
    low, high = float(low), float(high)
    ends = [abs(side) for side in (low, high) if np.isfinite(side)]
    closed, largest = len(ends) == 2, max(ends, default=0.0)
    if not log and largest > LARGEST:  # the box squares them
        return f"too far apart: ({low:g}, {high:g}); use None for an open side"
    if closed and low < high and high - low < max(1e-12 * largest, 0.0 if log else 1 / LARGEST):
        return f"closer together than floating-point numbers can resolve: ({low:g}, {high:g}); widen them"
    return None


def count_coordinates(bounds: Any) -> int | None:
    """Return the number of coordinates that have bounds of their own; None where one pair, or none, is for all.

    >>> count_coordinates([(0, 1), (0, None)]), count_coordinates((0, 1)), count_coordinates(None)
    (2, None, None)
    """
    if (sides := _scipy_sides(bounds)) is not None:
        count = max(np.size(side) for side in sides)
        return count if count > 1 else None  # scipy makes one pair for all an array of one
    rows = [] if bounds is None else _rows(bounds)
    return len(rows) if rows and not _is_pair(rows) else None


def _with_units(space: SpaceMap, units: np.ndarray | None) -> SpaceMap:
    return space if units is None else Scaled(space, units)


def _pairs(bounds: Any, d: int) -> Sequence[tuple[Any, Any]]:
    if (found := _scipy_sides(bounds)) is not None:
        sides = [np.broadcast_to(np.asarray(side, float), (d,)).tolist() for side in found]
        # scipy writes an open side as an infinite number
        return [(None if low == -np.inf else low, None if high == np.inf else high) for low, high in zip(*sides, strict=True)]
    rows = _rows(bounds)
    pairs = [(rows[0], rows[1])] * d if _is_pair(rows) else rows
    if len(pairs) != d:
        raise ValueError(f"bounds must hold one (low, high) pair for each of the {d} coordinates of x0, got {len(pairs)}")
    for i, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ValueError(f"bounds of coordinate {i} must be a pair (low, high), got {shortened(pair)}")
    return cast("Sequence[tuple[Any, Any]]", pairs)


def _scipy_sides(bounds: Any) -> tuple[Any, Any] | None:
    optimize = sys.modules.get("scipy.optimize")  # slow to import, and whoever has made a Bounds has imported it
    return (bounds.lb, bounds.ub) if optimize is not None and isinstance(bounds, optimize.Bounds) else None


def _rows(bounds: Any) -> list[Any]:
    """Return the two numbers of a pair for all coordinates, or a tuple for each coordinate."""
    try:
        rows = list(bounds)
        return rows if _is_pair(rows) else [tuple(cast("Sequence[Any]", row)) for row in rows]
    except Exception:  # foreign objects may raise anything
        raise TypeError(
            f"bounds must be (low, high) pairs, one pair for all coordinates, or scipy.optimize.Bounds, got {shortened(bounds)}"
        ) from None


def _is_pair(rows: Sequence[Any]) -> bool:
    return len(rows) == 2 and all(row is None or dimensions(row) == 0 for row in rows)


def _side(value: Any, i: int, side: str, missing: float) -> float:
    if value is None:
        return missing
    number = as_number(value, f"bounds of coordinate {i} ({side})")
    if not np.isfinite(number):
        raise ValueError(f"bounds of coordinate {i} ({side}) are infinite: {number:g}; use None for an open side")
    return number
