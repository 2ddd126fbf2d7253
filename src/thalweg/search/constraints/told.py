"""Values that a user tells, with those of constraints where there are any."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from thalweg._common.outcome import Failure, to_value
from thalweg.search.campaign import Best
from thalweg.search.constraints.kinds import Kinds, read_rows
from thalweg.search.told import numbers


class HasRows(Protocol):
    """A point that keeps its constraint values."""

    rows: np.ndarray | None


Point = TypeVar("Point", bound=HasRows)


@dataclass(eq=False, slots=True)
class Told:
    """Values and constraint values of points; a point that lacks one of them has failed and has NaN for all."""

    f: np.ndarray
    failed: np.ndarray
    """True for each failure that is not counted yet; one that was told as NaN is."""
    rows: np.ndarray | None = None
    """Constraint values, (n, m); None without constraints."""
    kinds: Kinds | None = None
    """None as long as no point has had constraint values."""

    @classmethod
    def read(cls, F: Iterable[Any], G: Any, H: Any, kinds: Kinds | None) -> "Told":
        """Read what a user tells, given the kinds of constraints if these are known."""
        given = list(F) if isinstance(F, Iterator) else F
        values, failures = numbers(given)
        failed = np.zeros(len(values), bool)
        if failures:
            failed[:] = [isinstance(to_value(each), Failure) for each in given]
        if kinds is None and G is None and H is None:
            return cls(values, failed)
        rows, kinds = read_rows(G, H, len(values), kinds)
        if kinds is None:
            return cls(values, failed)
        lost = np.isnan(rows).any(axis=1)
        return cls(np.where(lost, np.nan, values), failed | (lost & ~np.isnan(values)), rows, kinds)

    @property
    def failures(self) -> int:
        """Number of failures that are not counted yet."""
        return int(np.count_nonzero(self.failed))

    def at(self, places: Sequence[int] | np.ndarray) -> "Told":
        """Return the values at these places."""
        i = np.asarray(places, int)
        return Told(self.f[i], self.failed[i], None if self.rows is None else self.rows[i], self.kinds)

    def to(self, points: Iterable[Point]) -> Iterator[tuple[Point, float]]:
        """Give the points their constraint values, and yield each with its value."""
        for i, point in enumerate(points):
            point.rows = None if self.rows is None else self.rows[i]
            yield point, float(self.f[i])

    def best(self, i: int, x: np.ndarray, nfev: int, kinds: Kinds | None) -> Best | None:
        """Return a point as a candidate for the best; None for a failure."""
        if self.failed[i]:
            return None
        if kinds is None or self.rows is None:
            return Best(x.copy(), float(self.f[i]), nfev)
        return Best(x.copy(), float(self.f[i]), nfev, float(kinds.violation(self.rows[i])), self.rows[i].copy())


def rows_of(points: Sequence[HasRows], kinds: Kinds | None) -> np.ndarray | None:
    """Return the constraint values of a generation of points, NaN where there are none; None without constraints."""
    if kinds is None:
        return None
    empty = np.full(kinds.number, np.nan)
    return np.stack([empty if point.rows is None or len(point.rows) != kinds.number else point.rows for point in points])
