"""A space in which some coordinates have fixed values: the search runs over the others alone."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.space.around import Around
from thalweg.space.space_map import Points, SpaceMap


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class WithFixed(Around):
    """Another space for the free coordinates, with the fixed ones put in between.

    >>> space = WithFixed.around(SpaceMap(), np.array([True, False, True]), np.array([0.0, 7.0, 0.0]))
    >>> space.to_objective(np.array([1.0, 2.0])).tolist(), space.to_search(np.array([1.0, 7.0, 2.0])).tolist()
    ([1.0, 7.0, 2.0], [1.0, 2.0])
    """

    free: Any
    """Indices of the free coordinates."""
    fixed: Any
    """Values of the fixed ones, in their order."""
    order: Any
    """For each coordinate its place among the free ones followed by the fixed ones."""

    @classmethod
    def around(cls, inner: SpaceMap, free: np.ndarray, values: np.ndarray) -> "WithFixed":
        """Make the space; `free` is true for each free coordinate, and `values` has numbers for the others."""
        places = np.concatenate([np.flatnonzero(free), np.flatnonzero(~free)])
        return cls(inner, np.flatnonzero(free), values[~free], np.argsort(places))

    def to_objective(self, y: Points, xp: Any = np) -> Points:
        return self._with(self.inner.to_objective(y, xp), self.fixed, xp)

    def to_search(self, x: Points, xp: Any = np) -> Points:
        return self.inner.to_search(x[..., self.free], xp)

    def contains(self, x: Points) -> np.ndarray:
        low, high = self.sides
        inside = (low <= x) & (x <= high)
        inside[..., self.free] &= self.inner.contains(x[..., self.free])
        return inside

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self._with(self.inner.restart_point(x0[self.free], rng), self.fixed)

    def spread(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        return self._with(self.inner.spread(y, std), 0.0 * self.fixed)

    def linearised(self, y: np.ndarray, root: np.ndarray) -> np.ndarray:
        return self._with(self.inner.linearised(y, root).T, 0.0 * self.fixed).T

    @property
    def scale(self) -> Any:
        scale = self.inner.scale
        return self._with(scale, 1.0 + 0.0 * self.fixed) if np.ndim(scale) else scale

    @property
    def unit(self) -> float:
        return self.inner.unit

    @property
    def logarithmic(self) -> Any:
        return self._with(self._each(self.inner.logarithmic), self.fixed != self.fixed)

    @property
    def whole_numbers(self) -> Any:
        return self._with(self._each(self.inner.whole_numbers), self.fixed != self.fixed)

    @property
    def bounded(self) -> bool:
        return True

    @property
    def closed(self) -> np.ndarray:
        return self._with(self._each(self.inner.closed), self.fixed == self.fixed)

    @property
    def sides(self) -> tuple[Any, Any]:
        low, high = (self._with(self._each(side), self.fixed) for side in self.inner.sides)
        return low, high

    def _each(self, part: Any) -> np.ndarray:
        return np.broadcast_to(part, np.shape(self.free))

    def _with(self, free: Points, fixed: Any, xp: Any = np) -> Points:
        """Return an array of all coordinates, whose last axis has these entries for the free and for the fixed ones."""
        shape = (*np.shape(free)[:-1], *np.shape(fixed))
        return xp.concatenate([free, xp.broadcast_to(fixed, shape)], axis=-1)[..., self.order]
