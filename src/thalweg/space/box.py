"""Box constraints by a smooth periodic map: the search is unbounded, the objective's argument is always feasible.

The map is the identity inside, quadratic in a margin a at each bound, and mirrored beyond, docs/math.md (23):

    u = distance of y from l - a, folded into one half period of length h - l + a + b
    x = l + u^2 / (4 a)                          where u < 2 a            (b is the margin at the upper bound)
    x = h - (h - l + a + b - u)^2 / (4 b)        where u > h - l + a - b
    x = y                                        between

It is continuously differentiable, and one-to-one from [l - a, h + b] to [l, h]. Hansen's pycma has the same shape with
margins min((h - l) / 2, max(1, |l|) / 20). Ours are (h - l) / 20, which makes the map the same whatever the variable is
measured in, and the identity on nine tenths of every box. Where the other side is open, the margin is max(s, |l|) / 20 with
the coordinate's size s, 1 where it has no unit of its own.
"""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.space.space_map import Points, SpaceMap

WIDEST = 1 / 4
"""The largest standard deviation as a share of the width. A uniform distribution over the box has 0.29."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Box(SpaceMap):
    """Bounds per coordinate, infinite where a side is open, and the widths of the quadratic margins.

    >>> box = Box.between(np.array([0.0, -np.inf]), np.array([1.0, 5.0]))
    >>> box.to_objective(np.array([0.5, 7.0])).tolist()
    [0.5, 3.5]
    >>> box.to_search(np.array([0.5, 3.5])).tolist()
    [0.5, 3.5]
    """

    low: Any
    high: Any
    low_margin: Any
    high_margin: Any

    @classmethod
    def between(cls, low: np.ndarray, high: np.ndarray, size: Any = 1.0) -> "Box":
        """Make a box with the default margins; `size` is s of half-open sides."""
        width = high - low
        return cls(low, high, _margin(low, width, size), _margin(high, width, size))

    def to_objective(self, y: Points, xp: Any = np) -> Points:
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

    def to_search(self, x: Points, xp: Any = np) -> Points:
        below, above = xp.isfinite(self.low), xp.isfinite(self.high)
        low, high = xp.where(below, self.low, 0.0), xp.where(above, self.high, 0.0)
        a, b = self.low_margin, self.high_margin
        up, down = xp.maximum(x - low, 0.0), xp.maximum(high - x, 0.0)
        y = xp.where(below & (up < a), low - a + 2 * xp.sqrt(a * up), x)
        return xp.where(above & (down < b), high + b - 2 * xp.sqrt(b * down), y)

    def contains(self, x: Points) -> np.ndarray:
        return (self.low <= x) & (x <= self.high)

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        fresh = rng.uniform(np.where(self.closed, self.low, 0.0), np.where(self.closed, self.high, 1.0))
        return np.where(self.closed, fresh, x0)

    @property
    def widest(self) -> Any:
        return WIDEST * (self.high - self.low)  # infinite where a side is open

    @property
    def bounded(self) -> bool:
        return True

    @property
    def closed(self) -> np.ndarray:
        return np.isfinite(self.low) & np.isfinite(self.high)

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.low, self.high


def _margin(bound: np.ndarray, width: np.ndarray, size: Any) -> np.ndarray:
    half_open = np.maximum(size, np.abs(np.where(np.isfinite(bound), bound, 0.0)))
    return np.where(np.isfinite(bound), np.where(np.isfinite(width), width, half_open) / 20, 1.0)
