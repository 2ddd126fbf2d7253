"""Numbers and tolerances of the constraints of a search, and the values that are told of them."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg._common.checks import dimensions, shortened

logger = logging.getLogger("thalweg")


@dataclass(frozen=True)
class Kinds:
    """The kinds of constraints: the rows g <= 0 come first, then the rows h = 0.

    >>> kinds = Kinds(2, 1)
    >>> kinds.violation(np.array([[-1.0, 0.5, 0.0], [-1.0, 0.0, 1e-7], [-2.0, -1.0, -0.1]])).tolist()
    [0.5, 0.0, 0.1]
    """

    inequalities: int
    equalities: int = 0
    tolerance: float = 0.0
    """Violation of an inequality that still counts as feasible."""
    equality_tolerance: float = 1e-6
    """Violation of an equality that still counts as feasible."""

    @property
    def number(self) -> int:
        """Number of all rows."""
        return self.inequalities + self.equalities

    @property
    def equal(self) -> np.ndarray:
        """True for each row that is an equality."""
        return np.arange(self.number) >= self.inequalities

    def violation(self, c: np.ndarray) -> np.ndarray:
        """Return the largest violation of each point's rows, 0 where the point is feasible; NaN counts as infinite."""
        excess = np.where(self.equal, np.abs(c), c)
        allowed = np.where(self.equal, self.equality_tolerance, self.tolerance)
        excess = np.where(np.isnan(excess), np.inf, np.where(excess <= allowed, 0.0, excess))
        return np.max(excess, axis=-1, initial=0.0)


def read_rows(G: Any, H: Any, n: int, kinds: Kinds | None) -> tuple[np.ndarray, Kinds | None]:
    """Return the rows (n, g + h) of n points, NaN for points without, and the kinds, which the first valid rows decide.

    `G` and `H` have one sequence of numbers for each point, or None for a point without; `H` may be None.

    >>> read_rows([[1, 2], None], None, 2, None)[0].tolist()
    [[1.0, 2.0], [nan, nan]]
    """
    parts = [_listed(given, name, n) for name, given in (("G", G), ("H", H))]
    found = [_row(g, h) for g, h in zip(*parts, strict=True)]
    if kinds is None:
        first = next((row for row in found if row is not None), None)
        if first is None:
            return np.empty((n, 0)), None
        kinds = Kinds(*map(len, first))
    rows = np.full((n, kinds.number), np.nan)
    for i, row in enumerate(found):
        if row is not None and tuple(map(len, row)) == (kinds.inequalities, kinds.equalities):
            rows[i] = np.concatenate(row)
        elif row is not None:
            logger.warning("a point has %d and %d constraints, others %s; it counts as failed", *map(len, row), kinds)
    rows[~np.isfinite(rows).all(axis=1)] = np.nan
    return rows, kinds


def _listed(given: Any, name: str, n: int) -> list[Any]:
    """Return one entry for each point."""
    if given is None:
        return [None] * n
    if not isinstance(given, Iterable) or isinstance(given, str | bytes) or getattr(given, "ndim", 1) == 0:
        raise TypeError(f"{name} must hold a sequence of constraint values for each point, got {shortened(given)}")
    entries: list[Any] = list(given)
    if len(entries) != n:
        raise ValueError(f"{name} must hold the constraint values of each of the {n} points of X, got {len(entries)}")
    for entry in entries:
        if entry is not None and dimensions(entry) != 1:
            raise ValueError(f"{name} must hold a sequence of numbers for each point, shape (n, m), got {shortened(entry)}")
    return entries


def _row(g: Any, h: Any) -> tuple[np.ndarray, np.ndarray] | None:
    if g is None and h is None:
        return None
    try:
        both = tuple(np.asarray([] if part is None else part, float) for part in (g, h))
    except (TypeError, ValueError):
        return None
    return both[0], both[1]
