"""A space in which some coordinates are whole numbers."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.space.cells import Cells, cells_of
from thalweg.space.space_map import Points, SpaceMap


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Rounded(SpaceMap):
    """Another space whose coordinates are rounded where `whole` is true."""

    inner: SpaceMap
    """The map to numbers from half a step below the least whole number to half a step above the largest."""
    whole: Any

    def to_objective(self, y: Points, xp: Any = np) -> Points:
        x = self.inner.to_objective(y, xp)
        return xp.where(self.whole, xp.clip(xp.round(x), *self._sides(xp)), x)

    def to_search(self, x: Points, xp: Any = np) -> Points:
        return self.inner.to_search(x, xp)

    def contains(self, x: Points) -> np.ndarray:
        low, high = self.sides
        return (low <= x) & (x <= high) & (~self.whole | (x == np.round(x))) & self.inner.contains(x)

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        fresh, (low, high) = self.inner.restart_point(x0, rng), self.sides
        return np.where(self.whole, np.clip(np.round(fresh), low, high), fresh)

    def spread(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        return self.inner.spread(y, std)

    def cells(self, y: Points, xp: Any = np) -> Cells:
        return cells_of(self.inner, self.whole, self._sides(xp), y, xp)

    @property
    def scale(self) -> Any:
        return self.inner.scale

    @property
    def widest(self) -> Any:
        return self.inner.widest

    @property
    def logarithmic(self) -> Any:
        return self.inner.logarithmic

    @property
    def whole_numbers(self) -> Any:
        return self.whole

    @property
    def bounded(self) -> bool:
        return self.inner.bounded

    @property
    def closed(self) -> np.ndarray:
        return self.inner.closed

    @property
    def sides(self) -> tuple[Any, Any]:
        return self._sides(np)

    def _sides(self, xp: Any) -> tuple[Any, Any]:
        low, high = self.inner.sides
        half = xp.where(self.whole, 0.5, 0.0)
        return low + half, high - half
