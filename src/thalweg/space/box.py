"""Box constraints by a smooth periodic map: the search is unbounded, the objective's argument is always feasible.

The map is the identity inside, quadratic in a margin a at each bound, and mirrored beyond, docs/math.md (23):

    u = distance of y from l - a, folded into one half period of length h - l + a + b
    x = l + u^2 / (4 a)                          where u < 2 a            (b is the margin at the upper bound)
    x = h - (h - l + a + b - u)^2 / (4 b)        where u > h - l + a - b
    x = y                                        between

It is continuously differentiable, and one-to-one from [l - a, h + b] to [l, h]. Hansen's pycma has the same shape with
margins min((h - l) / 2, max(1, |l|) / 20); ours are min(h - l, max(1, |l|)) / 20, which keeps it the identity on nine tenths
of a small box too.
"""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from thalweg._common.checks import as_number, shortened

Points = Any
"""An array (..., d) of numpy or JAX."""


class Box(NamedTuple):
    """Bounds per coordinate, infinite where a side is open, and the widths of the quadratic margins. A pytree of arrays.

    >>> box = parse_bounds([(0, 1), (None, 5)], d=2)
    >>> box.into(np.array([0.5, 7.0])).tolist()
    [0.5, 3.5]
    >>> box.out_of(np.array([0.5, 3.5])).tolist()
    [0.5, 3.5]
    """

    low: Any
    high: Any
    low_margin: Any
    high_margin: Any

    def into(self, y: Points, xp: Any = np) -> Points:
        """From the unbounded search space into the box; `xp` is numpy or jax.numpy."""
        below, above = xp.isfinite(self.low), xp.isfinite(self.high)
        both = below & above
        low, high = xp.where(below, self.low, 0.0), xp.where(above, self.high, 0.0)
        a, b = self.low_margin, self.high_margin
        half = xp.where(both, high - low + a + b, 1.0)
        # u: height above l - a, and v: depth below h + b, each at least 0 after folding
        wrapped = xp.mod(y - (low - a), 2 * half)
        u = xp.where(both, xp.minimum(wrapped, 2 * half - wrapped), xp.abs(y - (low - a)))
        v = xp.where(both, half - u, xp.abs(high + b - y))
        folded = xp.where(below, low - a + u, xp.where(above, high + b - v, y))
        inside = xp.where(below, y >= low + a, True) & xp.where(above, y <= high - b, True)
        x = xp.where(inside, y, folded)  # not even a rounding error inside
        x = xp.where(below & (u < 2 * a), low + u * u / (4 * a), x)
        x = xp.where(above & (v < 2 * b), high - v * v / (4 * b), x)
        return xp.clip(x, self.low, self.high)  # rounding

    def out_of(self, x: Points) -> Points:
        """The point of [l - a, h + b] that `into` maps to the feasible point x."""
        below, above = np.isfinite(self.low), np.isfinite(self.high)
        low, high = np.where(below, self.low, 0.0), np.where(above, self.high, 0.0)
        a, b = self.low_margin, self.high_margin
        up, down = np.maximum(x - low, 0.0), np.maximum(high - x, 0.0)
        y = np.where(below & (up < a), low - a + 2 * np.sqrt(a * up), x)
        return np.where(above & (down < b), high + b - 2 * np.sqrt(b * down), y)

    def contains(self, x: Points) -> np.ndarray:
        """Per coordinate, whether x is feasible."""
        return (self.low <= x) & (x <= self.high)

    @property
    def closed(self) -> np.ndarray:
        """Per coordinate, whether both sides are bounded."""
        return np.isfinite(self.low) & np.isfinite(self.high)


def parse_bounds(bounds: Any, d: int) -> Box | None:
    """A box from pairs (low, high), one pair for all coordinates, or scipy's `Bounds`; None is an open side.

    >>> parse_bounds((-5, 5), d=3).low.tolist()
    [-5.0, -5.0, -5.0]
    """
    if bounds is None:
        return None
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    for i, (below, above) in enumerate(_pairs(bounds, d)):
        low[i] = _side(below, i, "low", -np.inf)
        high[i] = _side(above, i, "high", np.inf)
        if not low[i] < high[i]:
            relation = "equal" if low[i] == high[i] else "inverted"
            fix = "leave a fixed coordinate out of the search" if relation == "equal" else "give the lower number first"
            raise ValueError(f"bounds of coordinate {i} are {relation}: ({low[i]:g}, {high[i]:g}); {fix}")
    if not (np.any(np.isfinite(low)) or np.any(np.isfinite(high))):
        return None
    with np.errstate(over="ignore"):
        width = high - low
    narrow = np.isfinite(width) & (width < 1e-12 * np.maximum(np.abs(low), np.abs(high)))
    endless = np.isfinite(low) & np.isfinite(high) & ~np.isfinite(width)
    if np.any(narrow | endless):
        i = int(np.flatnonzero(narrow | endless)[0])
        reason = (
            "closer together than floating-point numbers can resolve"
            if narrow[i]
            else "too far apart; use None for an open side"
        )
        raise ValueError(f"bounds of coordinate {i} are {reason}: ({low[i]:g}, {high[i]:g})")
    return Box(low, high, _margin(low, width), _margin(high, width))


def _margin(bound: np.ndarray, width: np.ndarray) -> np.ndarray:
    margin = np.minimum(width, np.maximum(1.0, np.abs(np.where(np.isfinite(bound), bound, 1.0)))) / 20
    return np.where(np.isfinite(bound), margin, 1.0)


def _pairs(bounds: Any, d: int) -> Sequence[tuple[Any, Any]]:
    optimize = sys.modules.get("scipy.optimize")  # slow to import, and who has made a Bounds has done so
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
