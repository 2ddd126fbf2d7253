"""A space whose coordinates have units of their own: a step of 1 in R^d is a step of `units` in the objective's argument."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from thalweg.space.around import Around
from thalweg.space.space_map import Points


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class Scaled(Around):
    """Another space, the identity or a box, after a multiplication of each coordinate by its unit, docs/math.md (23).

    >>> from thalweg.space.space_map import SpaceMap
    >>> space = Scaled(SpaceMap(), np.array([1e-3, 1e3]))
    >>> space.to_objective(np.array([2.0, 2.0])).tolist(), space.to_search(np.array([1e-3, 1e3])).tolist()
    ([0.002, 2000.0], [1.0, 1.0])
    """

    units: Any

    def to_objective(self, y: Points, xp: Any = np) -> Points:
        return self.inner.to_objective(y * self.units, xp)

    def to_search(self, x: Points, xp: Any = np) -> Points:
        return self.inner.to_search(x, xp) / self.units

    def spread(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        return self.inner.spread(y * self.units, std * self.units)

    @property
    def scale(self) -> Any:
        return self.units

    @property
    def widest(self) -> Any:
        return self.inner.widest / self.units
