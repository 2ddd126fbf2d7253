"""The coordinates of the objective's argument: their bounds, and which are logarithmic, whole numbers or fixed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg._common.checks import shortened
from thalweg.space.bounds import read_sides, space_between
from thalweg.space.logarithmic import Logarithmic
from thalweg.space.rounded import Rounded
from thalweg.space.space_map import SpaceMap
from thalweg.space.with_fixed import WithFixed

MOST = 2**53
"""Beyond this number not every whole number is a float."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A description of the objective's argument. Arrays without "search" in their names have an entry for each coordinate."""

    low: np.ndarray
    high: np.ndarray
    logs: np.ndarray
    """True for each coordinate that is searched by its logarithm."""
    whole: np.ndarray
    """True for each coordinate that takes whole numbers alone."""

    @classmethod
    def read(cls, bounds: Any, d: int, log: Any = None, integers: Any = None) -> "Coordinates":
        """Read a user's arguments; `log` and `integers` have indices of coordinates, or True and False for each.

        >>> Coordinates.read([(1e-5, 1), (0, 9), (7, 7)], 3, log=[0], integers=[False, True, False]).free.tolist()
        [True, True, False]
        """
        logs, whole = as_mask(log, d, "log"), as_mask(integers, d, "integers")
        low, high = read_sides(bounds, d, logs)
        low[logs & whole & np.isinf(low)] = 1.0  # the least whole number with a logarithm
        made = cls(low, high, logs, whole)
        made._check()
        return made

    @property
    def free(self) -> np.ndarray:
        """False for each coordinate with a fixed value, given by equal bounds."""
        return self.low != self.high

    @property
    def plain(self) -> bool:
        """True if there are no logarithmic, whole or fixed coordinates."""
        return not (np.any(self.logs) or np.any(self.whole)) and bool(np.all(self.free))

    @property
    def search_sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the free coordinates as the search sees them: of logarithms, and half a step beyond whole numbers."""
        low, high = np.where(self.whole, self.low - 0.5, self.low), np.where(self.whole, self.high + 0.5, self.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (np.where(self.logs & np.isfinite(side), np.log(side), side) for side in (low, high))
        return low[self.free], high[self.free]

    def space(self, units: np.ndarray | None) -> SpaceMap:
        """Return the map from R^d; `units` are those of the free coordinates, of logarithms where these are searched."""
        free = self.free
        space = space_between(*self.search_sides, units)
        half = np.where(self.whole, 0.5, 0.0)
        low, high, logs, whole = (part[free] for part in (self.low - half, self.high + half, self.logs, self.whole))
        if np.any(logs):
            space = Logarithmic(space, logs, low, high)
        if np.any(whole):
            space = Rounded(space, whole)
        return space if np.all(free) else WithFixed.around(space, free, self.low)

    def outward(self, inside: np.ndarray) -> np.ndarray:
        """Return the point of the objective's argument whose free coordinates the search sees as these."""
        x, free = self.low.copy(), self.free
        logs, whole = self.logs[free], self.whole[free]
        values = np.where(logs, np.exp(np.where(logs, inside, 0.0)), inside)
        x[free] = np.clip(np.where(whole, np.round(values), values), self.low[free], self.high[free])
        return x

    def _check(self) -> None:
        if not np.any(self.free):
            raise ValueError("bounds fix all coordinates, so that nothing is left to search; widen those of one at least")
        for i in np.flatnonzero(self.logs & (self.low != self.high)).tolist():
            least = self.low[i] - 0.5 * self.whole[i]
            if (np.isfinite(self.low[i]) and not least > 0) or self.high[i] <= 0:
                below = "at least 1" if self.whole[i] else "above 0"
                raise ValueError(
                    f"bounds of coordinate {i} must be {below}, as it is logarithmic, got ({self.low[i]:g}, {self.high[i]:g}); "
                    "raise the lower one or leave the coordinate out of log"
                )
        for i in np.flatnonzero(self.whole).tolist():
            for side in (self.low[i], self.high[i]):
                if np.isfinite(side) and (side != np.round(side) or abs(side) > MOST):
                    raise ValueError(
                        f"bounds of coordinate {i} must be whole numbers of at most 2^53, as it is among integers, got {side:g}"
                    )


def as_mask(which: Any, d: int, name: str) -> np.ndarray:
    """Return True for each coordinate that is named: by indices, or by True and False for each; None is for none.

    >>> as_mask([2, 0], 3, "log").tolist(), as_mask(None, 2, "log").tolist()
    ([True, False, True], [False, False])
    """
    mask = np.zeros(d, bool)
    if which is None:
        return mask
    try:
        given = np.asarray(which)
        fits = given.ndim == 1 and (given.dtype.kind in "biu" or given.size == 0)
    except ValueError:  # lists of different lengths
        given, fits = mask, False
    if not fits:
        raise TypeError(f"{name} must be a list of indices of coordinates, or of True and False, got {shortened(which)}")
    if given.dtype.kind == "b":
        if given.shape != (d,):
            raise ValueError(f"{name} must have True or False for each of the {d} coordinates, got {len(given)}")
        return given.copy()
    for index in given.tolist():
        if not 0 <= index < d:
            raise ValueError(f"{name} must have indices from 0 to {d - 1}, got {index}")
    mask[given.astype(int)] = True
    return mask
