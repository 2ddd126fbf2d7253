"""A generation on its way through the user's hands: points go out in one order and may come back in another."""

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from thalweg.stepping import Drawn
from thalweg.validation import as_array, shortened


class Asked(NamedTuple):
    """A generation that waits for its values."""

    drawn: Drawn
    """Standard draws, points in the unbounded search space, and the state that has drawn them."""
    x: np.ndarray
    """Points as the objective sees them."""
    injected: int
    """How many of them were not drawn but given by the user."""


def match(asked: np.ndarray, told: Any) -> np.ndarray:
    """For each told point its place among the asked ones; both must hold the same points, in any order.

    >>> match(np.array([[1.0], [2.0], [3.0]]), [[3], [1], [2]]).tolist()
    [2, 0, 1]
    """
    points = as_array(told, "X")
    if points.ndim != 2 or points.shape[1] != asked.shape[1]:
        raise ValueError(f"X must hold the {len(asked)} points of the last ask, shape {asked.shape}, got shape {points.shape}")
    if points.shape == asked.shape and np.array_equal(points, asked):  # as they went out; no loop over large generations
        return np.arange(len(asked))
    open_places: dict[bytes, list[int]] = {}
    for i, point in reversed(list(enumerate(asked + 0.0))):  # + 0.0 makes -0.0 and 0.0 the same
        open_places.setdefault(point.tobytes(), []).append(i)
    places = [places.pop() if (places := open_places.get(point.tobytes())) else -1 for point in points + 0.0]
    foreign = [i for i, place in enumerate(places) if place < 0]
    missing = sorted(i for places in open_places.values() for i in places)
    if foreign:
        raise ValueError(
            f"X holds {len(foreign)} point(s) that the last ask did not return, the first one X[{foreign[0]}] = "
            f"{shortened(points[foreign[0]].tolist())}; tell the points of ask as they are, or offer others with inject"
        )
    if missing:
        raise ValueError(
            f"X lacks {len(missing)} of the {len(asked)} points of the last ask, the first one at place {missing[0]}; "
            "tell a whole generation at once, with the value NaN for what could not be evaluated"
        )
    return np.array(places)


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
