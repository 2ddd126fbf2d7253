"""A space whose coordinates have units of their own: a step of 1 in R^d is a step of `units` in the objective's argument."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.space.space_map import Points, SpaceMap


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Scaled(SpaceMap):
    """Another space after a multiplication of each coordinate by its unit, docs/math.md (23).

    >>> space = Scaled(SpaceMap(), np.array([1e-3, 1e3]))
    >>> space.to_objective(np.array([2.0, 2.0])).tolist(), space.to_search(np.array([1e-3, 1e3])).tolist()
    ([0.002, 2000.0], [1.0, 1.0])
    """

    inner: SpaceMap
    """The map in the units of the objective's argument: the identity or a box."""
    units: Any

    def to_objective(self, y: Points, xp: Any = np) -> Points:
        return self.inner.to_objective(y * self.units, xp)

    def to_search(self, x: Points, xp: Any = np) -> Points:
        return self.inner.to_search(x, xp) / self.units

    def contains(self, x: Points) -> np.ndarray:
        return self.inner.contains(x)

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.inner.restart_point(x0, rng)

    @property
    def scale(self) -> Any:
        return self.units

    @property
    def widest(self) -> Any:
        return self.inner.widest / self.units

    @property
    def bounded(self) -> bool:
        return self.inner.bounded

    @property
    def closed(self) -> np.ndarray:
        return self.inner.closed

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.inner.sides
