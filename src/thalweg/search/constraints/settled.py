"""Whole numbers on which the search has settled: the fits go across the other variables alone, docs/math.md (51)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from thalweg.space import SpaceMap

Array = np.ndarray

SHARED = 1 / 2
"""Least probability of a point to have the mean's numbers in all coordinates that count as settled."""
STEP = 0.1
"""Step from the mean to find a direction in standard coordinates, in standard deviations."""


@dataclass(frozen=True, eq=False)
class Settled:
    """The search distribution with this mean and standard deviation, for fits to points with its settled whole numbers.

    These do not change from one point of a cell to the next, and a point beyond is a whole step away, however narrow the
    distribution has become. A fit to both would take that step for slope and curvature of all variables.
    """

    space: SpaceMap
    mean: Array
    std: Array

    @property
    def coordinates(self) -> Array:
        """True for each whole coordinate that has settled."""
        from scipy.special import ndtr

        cells = self.space.cells(self.mean)
        if cells is None:
            return np.zeros(len(self.mean), bool)
        below, above = ((side - cells.inside) / self.std for side in (cells.below, cells.above))
        within = np.where(cells.whole, ndtr(above) - ndtr(below), 0.0)
        order = np.argsort(-within, kind="stable")
        settled = np.zeros(len(within), bool)
        settled[order] = np.cumprod(within[order]) >= SHARED
        return settled

    def reduce(self, y: Array, e: Array, invert: Callable[[Array], Array]) -> tuple[Array, Array | None]:
        """Return points y (k, d) in standard coordinates of the free variables, given all, e; and which points to take.

        `invert` maps as many points as the fits may have to standard coordinates.
        """
        settled, cells, present = self.coordinates, self.space.cells(y), self.space.cells(self.mean)
        if cells is None or present is None or not np.any(settled) or np.all(settled):
            return e, None
        directions = np.diag(STEP * self.std)[~settled]
        found = np.asarray(invert(self.mean + directions)) - np.asarray(invert(self.mean[None]))
        return e @ np.linalg.qr(found.T)[0], np.all((cells.number == present.number) | ~settled, axis=1)
