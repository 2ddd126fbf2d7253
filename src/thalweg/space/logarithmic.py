"""A space in which some coordinates are searched by their logarithms: a step multiplies them."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.space.around import Around
from thalweg.space.space_map import Points


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Logarithmic(Around):
    """The exponential of some coordinates after another map, which gives their logarithms, docs/math.md (23).

    >>> from thalweg.space.space_map import SpaceMap
    >>> space = Logarithmic(SpaceMap(), np.array([True, False]), np.array([1e-3, -np.inf]), np.array([10.0, np.inf]))
    >>> space.to_objective(np.array([0.0, 0.0])).tolist(), space.to_search(np.array([1.0, 5.0])).tolist()
    ([1.0, 0.0], [0.0, 5.0])
    """

    logs: Any
    """True for each coordinate that is the exponential of the inner one."""
    low: Any
    """Bounds of the coordinates themselves, infinite where a side is open; the inner map has their logarithms."""
    high: Any

    def to_objective(self, y: Points, xp: Any = np) -> Points:
        inside = self.inner.to_objective(y, xp)
        numbers = np.finfo(inside.dtype)  # a search that diverges gives large numbers and not infinite ones, or 0
        logarithms = xp.clip(xp.where(self.logs, inside, 0.0), np.log(numbers.tiny), np.log(numbers.max))
        x = xp.where(self.logs, xp.clip(xp.exp(logarithms), numbers.tiny, numbers.max), inside)
        return xp.clip(x, self.low, self.high)  # rounding

    def to_search(self, x: Points, xp: Any = np) -> Points:
        return self.inner.to_search(self._logarithms(x, xp), xp)

    def contains(self, x: Points) -> np.ndarray:
        return (self.low <= x) & (x <= self.high) & (~self.logs | (x > 0))

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        inside = self.inner.restart_point(self._logarithms(x0), rng)
        fresh = np.where(self.logs, np.exp(np.where(self.logs, inside, 0.0)), inside)
        return np.where(self.closed, np.clip(fresh, self.low, self.high), x0)

    def spread(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        inside = self.inner.spread(y, std)
        return np.where(self.logs, inside * self.to_objective(y), inside)

    @property
    def logarithmic(self) -> Any:
        return self.logs

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.low, self.high

    def _logarithms(self, x: Points, xp: Any = np) -> Points:
        return xp.where(self.logs, xp.log(xp.where(self.logs, x, 1.0)), x)
