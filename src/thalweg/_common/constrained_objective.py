"""Objectives with constraints: values (f, g) or (f, g, h), where g <= 0 and h = 0 make a point feasible."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

Rows = tuple[tuple[float, ...], tuple[float, ...]]
"""Constraint values of a point: g, which must not be above 0, and h, which must be 0."""


class Limited(NamedTuple):
    """A function c with low <= c(x) <= high; equal sides ask for that value."""

    fun: Callable[[Any], Any]
    low: np.ndarray
    high: np.ndarray
    """Sides as arrays that broadcast with c."""


@dataclass(frozen=True)
class Product:
    """The function A x of a linear constraint."""

    A: np.ndarray

    def __call__(self, x: Any) -> Any:
        return self.A @ x


def split(returned: Any) -> tuple[Any, Rows | None]:
    """Return the value and the constraint values of a pair (f, g) or triple (f, g, h); else what was returned, and None.

    A pair of two numbers is no such thing: g is a sequence.

    >>> split((2.0, [-1.0, 0.5]))
    (2.0, ((-1.0, 0.5), ()))
    >>> split((2.0, 1.0))
    ((2.0, 1.0), None)
    """
    if not isinstance(returned, tuple | list) or len(cast("Sequence[Any]", returned)) not in (2, 3):
        return returned, None
    rows: list[Any]
    value, *rows = cast("Sequence[Any]", returned)
    if len(rows) == 1:
        rows = [*rows, ()]
    try:
        found = [np.asarray(row.astype(float).filled(np.nan) if np.ma.is_masked(row) else row) for row in rows]
        if np.ndim(value) > 0 and np.size(value) != 1:
            return returned, None
        if any(row.ndim != 1 or (row.size and row.dtype.kind not in "biuf") for row in found):
            return returned, None
    except Exception:  # foreign objects may raise anything here
        return returned, None
    return value, (tuple(found[0].astype(float).tolist()), tuple(found[1].astype(float).tolist()))


@dataclass(frozen=True)
class ConstrainedObjective:
    """An objective whose values carry those of constraints: (f, g, h); `required` makes a plain number a failure.

    >>> disc = Limited(lambda x: x @ x, np.array(-np.inf), np.array(1.0))
    >>> ConstrainedObjective(lambda x: 2.5, (disc,))(np.array([3.0, 0.0]))
    (2.5, (8.0,), ())
    """

    fun: Callable[..., Any]
    limited: tuple[Limited, ...]
    vectorized: bool = False
    required: bool = False

    def __call__(self, x: Any, *args: Any) -> Any:
        if self.vectorized:
            return self._all(x, *args)
        value, rows = split(self.fun(x, *args))
        if self.required and rows is None:
            raise TypeError('with constraints="returned" fun must return a pair (f, g), g a sequence of numbers')
        return value, *self._rows(x, rows or ((), ()))

    def _all(self, x: Any, *args: Any) -> Any:
        """Return values and constraint values of a generation; the constraints' own functions take one point each."""
        returned = self.fun(x, *args)
        given = isinstance(returned, tuple) and len(cast("Any", returned)) in (2, 3) and np.ndim(cast("Any", returned)[1]) == 2
        if self.required and not given:
            raise TypeError('with constraints="returned" fun must return a pair (F, G), G of shape (n, m)')
        values, *own = cast("Any", returned) if given else (returned,)
        own = [np.asarray(part, float) for part in own] + [np.empty((len(x), 0))] * (2 - len(own))
        rows = [self._rows(point, (tuple(g.tolist()), tuple(h.tolist()))) for point, g, h in zip(x, *own, strict=True)]
        return values, np.array([g for g, _ in rows]), np.array([h for _, h in rows])

    def _rows(self, x: Any, own: Rows) -> Rows:
        g, h = list(own[0]), list(own[1])
        for each in self.limited:
            c = np.ravel(np.asarray(each.fun(x), float))
            low, high = np.broadcast_to(each.low, c.shape), np.broadcast_to(each.high, c.shape)
            equal = low == high
            h += (c - low)[equal].tolist()
            g += (low - c)[~equal & (low > -np.inf)].tolist()
            g += (c - high)[~equal & (high < np.inf)].tolist()
        return tuple(g), tuple(h)
