"""The space that a user's bounds describe."""

import sys
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from thalweg._common.checks import as_number, shortened
from thalweg.space.box import Box
from thalweg.space.space import Space


def make_space(bounds: Any, d: int) -> Space:
    """Make a space from pairs (low, high), one pair for all coordinates, or scipy's `Bounds`; None is an open side.

    >>> make_space((-5, 5), d=3).sides[0].tolist()
    [-5.0, -5.0, -5.0]
    >>> make_space(None, d=3).bounded
    False
    """
    if bounds is None:
        return Space()
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    for i, (below, above) in enumerate(_pairs(bounds, d)):
        low[i] = _side(below, i, "low", -np.inf)
        high[i] = _side(above, i, "high", np.inf)
        if not low[i] < high[i]:
            relation = "equal" if low[i] == high[i] else "inverted"
            fix = "leave a fixed coordinate out of the search" if relation == "equal" else "give the lower number first"
            raise ValueError(f"bounds of coordinate {i} are {relation}: ({low[i]:g}, {high[i]:g}); {fix}")
    if not (np.any(np.isfinite(low)) or np.any(np.isfinite(high))):
        return Space()
    with np.errstate(over="ignore"):
        width = high - low
    narrow = np.isfinite(width) & (width < 1e-12 * np.maximum(np.abs(low), np.abs(high)))
    endless = np.isfinite(low) & np.isfinite(high) & ~np.isfinite(width)
    if np.any(narrow | endless):
        i = int(np.flatnonzero(narrow | endless)[0])
        fault = "closer together than floating-point numbers can resolve" if narrow[i] else "too far apart"
        fix = "widen them" if narrow[i] else "use None for an open side"
        raise ValueError(f"bounds of coordinate {i} are {fault}: ({low[i]:g}, {high[i]:g}); {fix}")
    return Box.between(low, high)


def _pairs(bounds: Any, d: int) -> Sequence[tuple[Any, Any]]:
    optimize = sys.modules.get("scipy.optimize")  # slow to import, and whoever has made a Bounds has imported it
    if optimize is not None and isinstance(bounds, optimize.Bounds):
        sides = [np.broadcast_to(np.asarray(side, float), (d,)).tolist() for side in (bounds.lb, bounds.ub)]
        # scipy writes an open side as an infinite number
        return [(None if low == -np.inf else low, None if high == np.inf else high) for low, high in zip(*sides, strict=True)]
    try:
        rows = list(bounds)
        if len(rows) == 2 and all(row is None or np.ndim(row) == 0 for row in rows):
            return [(rows[0], rows[1])] * d
        pairs = [tuple(cast("Sequence[Any]", row)) for row in rows]
    except TypeError:
        raise TypeError(
            f"bounds must be (low, high) pairs, one pair for all coordinates, or scipy.optimize.Bounds, got {shortened(bounds)}"
        ) from None
    if len(pairs) != d:
        raise ValueError(f"bounds must hold one (low, high) pair for each of the {d} coordinates of x0, got {len(pairs)}")
    for i, pair in enumerate(pairs):
        if len(pair) != 2:
            raise ValueError(f"bounds of coordinate {i} must be a pair (low, high), got {shortened(pair)}")
    return cast("Sequence[tuple[Any, Any]]", pairs)


def _side(value: Any, i: int, side: str, missing: float) -> float:
    if value is None:
        return missing
    number = as_number(value, f"bounds of coordinate {i} ({side})")
    if not np.isfinite(number):
        raise ValueError(f"bounds of coordinate {i} ({side}) are infinite: {number:g}; use None for an open side")
    return number
