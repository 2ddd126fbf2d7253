"""Injected points: known good points take the places of samples in a generation."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from thalweg._common.checks import as_array
from thalweg.search.known import as_vectors
from thalweg.space import Space, SpaceMap


def check_injected(points: Any, d: int, space: SpaceMap, name: str = "points", variables: Space | None = None) -> np.ndarray:
    """Return points (n, d) from a user's argument of that name, one point or several, as vectors or by name."""
    given = np.atleast_2d(as_array(as_vectors(points, name, variables), name))
    if given.ndim != 2 or given.shape[1] != d:
        raise ValueError(f"{name} must have shape (n, {d}) or ({d},), got {np.shape(points)}")
    if not np.all(np.isfinite(given)):
        raise ValueError(f"{name} must be finite, got {given[~np.isfinite(given).all(1)][0].tolist()}")
    space.check(given, name)
    return given


def place_injected(
    given: np.ndarray, e: np.ndarray, y: np.ndarray, mean: np.ndarray, invert: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Put given points into the first places of a generation (e, y), pulled towards the mean where they are too far out.

    As in pycma a standard draw may be sqrt(d) + 2 d / (d + 2) long, so that one far point cannot break the search. Through a
    flow the length is not proportional to the distance from the mean, hence the bisection; without a flow the first try is
    exact.
    """
    n, d = given.shape
    longest = sqrt(d) + 2 * d / (d + 2)
    e, y = e.copy(), y.copy()

    def place(share: np.ndarray) -> np.ndarray:
        y[:n] = mean + share * (given - mean)
        e[:n] = invert(y)[:n]
        with np.errstate(over="ignore"):
            return np.linalg.norm(e[:n], axis=1, keepdims=True) / longest

    excess = place(np.ones((n, 1)))
    if np.any(excess > 1):
        first = 1 / np.maximum(excess, 1.0)
        near = np.abs(place(first) - 1) < 1e-9
        low, high = np.where(near | (excess <= 1), first, 0.0), np.where(near | (excess <= 1), first, 1.0)
        for _ in range(50 if np.any(low < high) else 0):
            middle = (low + high) / 2
            inside = place(middle) <= 1
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        place(low)
    return e, y
