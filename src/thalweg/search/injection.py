"""A whole generation on its way through the user's hands."""

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from thalweg._common.checks import as_array
from thalweg.compiled.steps import Drawn


class Asked(NamedTuple):
    """A generation that waits for its values."""

    drawn: Drawn
    """Standard draws, points in the unbounded search space, and the state that has drawn them."""
    x: np.ndarray
    """Points as the objective sees them."""
    injected: int
    """How many of them were not drawn but given by the user."""


def is_whole(asked: np.ndarray, told: Any) -> bool:
    """Whether these are all points of a generation, as they went out; no loop over large generations.

    >>> is_whole(np.array([[1.0], [2.0]]), [[1], [2]])
    True
    """
    return np.array_equal(as_array(told, "X"), asked)


def place_given(
    given: np.ndarray, e: np.ndarray, y: np.ndarray, mean: np.ndarray, invert: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Put given points into the first places of a generation (e, y), pulled towards the mean where they are too far out.

    As in pycma a standard draw may be sqrt(d) + 2 d / (d + 2) long, so that one far point cannot break the search. Through a
    flow the length is not proportional to the distance from the mean, hence the bisection; without one the first is exact.
    """
    n, d = given.shape
    longest = sqrt(d) + 2 * d / (d + 2)
    e, y = e.copy(), y.copy()

    def place(share: np.ndarray) -> np.ndarray:
        y[:n] = mean + share * (given - mean)
        e[:n] = invert(y)[:n]
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
