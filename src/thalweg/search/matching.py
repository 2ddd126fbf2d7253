"""Points that come back rounded, as float32 or as text: each is taken for the open point that it must have been."""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from thalweg._common.checks import as_array, is_plain, shortened
from thalweg.search.known import as_vectors
from thalweg.search.pending import key_of
from thalweg.search.run import Asked
from thalweg.space import Space

NEAR = 0.01
"""Largest change of a coordinate, in standard deviations of the search distribution."""
SINGLE = 2.0**-22
"""Relative change that is allowed besides: single precision rounds by less."""
APART = 2.0
"""Times as far as the nearest open point the next one must be, else the two cannot be told apart."""


def as_asked(
    X: Any,
    asked: Asked | None,
    pending: Collection[bytes],
    late: Collection[bytes],
    d: int,
    std: Callable[[], np.ndarray],
    variables: Space | None = None,
) -> Any:
    """Return points X of a user, with open points in place of those that are close to one of these, and to no other.

    Open are the points of a generation that was asked as a whole, pending ones and late ones, the latter two by their keys. All
    other points stay what they are. Mappings by the names of the variables are points too.
    """
    given = as_vectors(X, "X", variables)
    generation = np.empty((0, d)) if asked is None else asked.x
    points = given if is_plain(given) else as_array(given, "X")
    if points.ndim == 0:
        raise ValueError(f"X must hold points of shape (n, {d}), got {shortened(X)}")
    if np.array_equal(points, generation) or points.ndim != 2 or points.shape[1] != d:
        return given  # the usual case, or an error that is explained where points are looked for
    own = {key_of(x) for x in generation}
    strange = [i for i, x in enumerate(points) if not any(key_of(x) in open_ones for open_ones in (own, pending, late))]
    strange = [i for i in strange if np.all(np.isfinite(points[i]))]
    keys = {*own, *pending, *late} if strange else set[bytes]()
    if not keys:
        return given
    from scipy.spatial import KDTree

    candidates = np.array([np.frombuffer(key) for key in keys])
    unit = np.maximum(NEAR * std() + SINGLE * np.abs(candidates).max(axis=0), np.finfo(float).tiny)
    found: Any = KDTree(candidates / unit).query(points[strange] / unit, k=2, p=np.inf)
    (nearest, second), places = found[0].T, found[1][:, 0]
    clear = (nearest <= 1) & (second >= APART * nearest)
    points = points.copy()
    points[np.array(strange)[clear]] = candidates[places[clear]]
    return points
