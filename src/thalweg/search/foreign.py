"""Foreign points: points with values that the search has not asked for, from another optimiser or a colleague.

The best of them take places in the next generation, at most half of them, as injected points do (Hansen 2011): at their
standard draws, which are shortened where they are too far out. Those that are worse than the median of the points that were
drawn take none. So good points pull the search towards them, and any number of bad ones cannot break it. All values count.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from thalweg._common.checks import shortened
from thalweg.search.injection import check_injected, place_injected
from thalweg.search.known import as_points
from thalweg.search.run import Run
from thalweg.space import Space, SpaceMap

WAITING = 4
"""Number of foreign points that may wait, in units of the population."""


class ForeignPoints:
    """The foreign points that wait for the next generation, best first."""

    def __init__(self, popsize: int) -> None:
        self.places = popsize // 2
        """Maximal number of them in a generation."""
        self.room = WAITING * popsize
        """Maximal number of them that wait."""
        self.points: list[tuple[list[float], float]] = []
        """Places in R^d with their values."""

    def __len__(self) -> int:
        return len(self.points)

    @property
    def ready(self) -> int:
        """Number of them that take part in the next generation."""
        return min(len(self.points), self.places)

    def add(self, y: np.ndarray, f: np.ndarray) -> None:
        """Keep the best of the points and of new ones, those with values f at y (n, d); NaN and infinity say nothing."""
        new = [(place, value) for place, value in zip(y.tolist(), f.tolist(), strict=True) if value < np.inf]
        both = [*self.points, *new]
        self.points = sorted(both, key=lambda point: point[1])[: self.room]  # first come, first served among equal values

    def drop_worse(self, values: Sequence[float]) -> None:
        """Let go of the points that are worse than the median of these values of points that were drawn.

        The search distribution loses variance towards the worse half of a generation. Many bad points that it did not draw,
        all in one direction, would make it flat.
        """
        finite = [value for value in values if value < np.inf]
        median = float(np.median(finite)) if finite else np.inf
        self.points = [point for point in self.points if point[1] <= median]

    def join(self, run: Run, e: np.ndarray, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return a generation with the best of these points in the places that others have left; those wait no more."""
        number = self.ready
        if not number:
            return e, y, f
        chosen, self.points = self.points[:number], self.points[number:]
        given, values = np.array([y for y, _ in chosen]), [f for _, f in chosen]
        everywhere = np.concatenate([given, y])  # the program takes a whole generation
        invert = partial(run.steps.invert, run.packed)
        e, y = place_injected(given, np.concatenate([np.zeros_like(given), e]), everywhere, run.mean, invert)
        return e, y, np.concatenate([values, f])

    def pack(self) -> list[dict[str, Any]]:
        """Return all of it as JSON's types."""
        return [{"y": y, "f": f} for y, f in self.points]

    def unpack(self, packed: Sequence[dict[str, Any]], d: int) -> None:
        """Restore what `pack` has returned, in dimension d."""
        self.points = [([float(each) for each in point["y"]], float(point["f"])) for point in packed]
        for y, f in self.points:
            if len(y) != d or not np.all(np.isfinite(y)) or np.isnan(f):
                raise ValueError(f"a foreign point is {shortened(y)} with the value {f}")


def check_foreign(X: Any, number: int, d: int, space: SpaceMap, variables: Space | None, *, constrained: bool) -> np.ndarray:
    """Return points (n, d) from a user's arguments of `tell`, some of them perhaps foreign, with this number of values."""
    if constrained:
        raise ValueError("foreign must be False in a search with constraints; offer points from elsewhere by inject")
    points = check_injected(as_points(X, "X", variables), d, space, "X")
    if number != len(points):
        raise ValueError(f"F must hold one value for each of the {len(points)} points of X, got {number}")
    return points
