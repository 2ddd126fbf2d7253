"""A space in which some coordinates are whole numbers."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.space.around import Around
from thalweg.space.cells import Cells, cells_of
from thalweg.space.space_map import Points


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Rounded(Around):
    """Another space whose coordinates are rounded where `whole` is true.

    The inner map gives numbers from half a step below the least whole number to half a step above the largest.
    """

    whole: Any

    def to_objective(self, y: Points, xp: Any = np) -> Points:
        x = self.inner.to_objective(y, xp)
        return xp.where(self.whole, xp.clip(xp.round(x), *self._sides(xp)), x)

    def linearised(self, y: np.ndarray, root: np.ndarray) -> np.ndarray:
        return self.inner.linearised(y, root)

    def contains(self, x: Points) -> np.ndarray:
        low, high = self.sides
        return (low <= x) & (x <= high) & (~self.whole | (x == np.round(x))) & self.inner.contains(x)

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        fresh, (low, high) = self.inner.restart_point(x0, rng), self.sides
        return np.where(self.whole, np.clip(np.round(fresh), low, high), fresh)

    def cells(self, y: Points, xp: Any = np) -> Cells:
        return cells_of(self.inner, self.whole, self._sides(xp), y, xp)

    @property
    def whole_numbers(self) -> Any:
        return self.whole

    @property
    def sides(self) -> tuple[Any, Any]:
        return self._sides(np)

    def _sides(self, xp: Any) -> tuple[Any, Any]:
        low, high = self.inner.sides
        half = xp.where(self.whole, 0.5, 0.0)
        return low + half, high - half
