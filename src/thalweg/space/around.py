"""A space map that changes another one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.space.cells import Cells
from thalweg.space.space_map import Points, SpaceMap


@dataclass(frozen=True, eq=False)
class Around(SpaceMap):
    """A map around another one, whose properties it has unless a subclass defines them anew."""

    inner: SpaceMap
    """The map that is applied first."""

    def to_search(self, x: Points, xp: Any = np) -> Points:
        return self.inner.to_search(x, xp)

    def contains(self, x: Points) -> np.ndarray:
        return self.inner.contains(x)

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return self.inner.restart_point(x0, rng)

    def spread(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        return self.inner.spread(y, std)

    def cells(self, y: Points, xp: Any = np) -> Cells | None:
        return self.inner.cells(y, xp)

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
        return self.inner.whole_numbers

    @property
    def bounded(self) -> bool:
        return self.inner.bounded

    @property
    def closed(self) -> np.ndarray:
        return self.inner.closed

    @property
    def sides(self) -> tuple[Any, Any]:
        return self.inner.sides
