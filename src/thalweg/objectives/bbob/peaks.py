"""The peaks of Gallagher's functions f21 and f22: where they are, how wide and how high."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thalweg.objectives.bbob.instances import frozen, rotation, uniform

MOST = 101
"""Peaks of f21; f22 has 21, and the rest of the arrays is peaks of height 0."""

CONDITION = 1000.0


class Peaks(NamedTuple):
    centres: np.ndarray
    """(101, d), in rotated coordinates; the first is the global one."""

    scales: np.ndarray
    """(101, d): the diagonal of a peak's inverse covariance matrix, in rotated coordinates."""

    heights: np.ndarray
    """(101,): 10 for the global peak, 1.1 to 9.1 for the others."""


class Kind(NamedTuple):
    number: int
    half_width: float
    """Peaks lie in [-half_width, half_width]^d, the global one in 0.8 of it."""

    first_condition: float
    """Of the global peak; the others' are spread over 1 to 1000."""


KINDS = {21: Kind(101, 5.0, CONDITION**0.5), 22: Kind(21, 4.9, CONDITION)}


@lru_cache(maxsize=1)
def none(d: int) -> Peaks:
    """Nothing but padding, for the functions without peaks."""
    return Peaks(frozen(np.zeros((MOST, d))), frozen(np.zeros((MOST, d))), frozen(np.zeros(MOST)))


def global_peak(function: int, d: int, seed: int) -> np.ndarray:
    """Where f21 or f22 has its minimum, in the coordinates of the search."""
    half_width = KINDS[function].half_width
    return 0.8 * (2 * half_width * uniform(d, seed) - half_width)


def peaks(function: int, d: int, seed: int) -> Peaks:
    """The peaks of f21 or f22."""
    kind = KINDS[function]
    others = kind.number - 1
    conditions = CONDITION ** (np.argsort(uniform(others, seed)) / (others - 1))
    conditions = np.concatenate(([kind.first_condition], conditions))
    orders = np.array([np.argsort(uniform(d, seed + 1000 * i)) for i in range(kind.number)])
    scales = conditions[:, None] ** (orders / (d - 1) - 0.5)
    centres = 2 * kind.half_width * uniform(kind.number * d, seed).reshape(kind.number, d) - kind.half_width
    centres[0] *= 0.8
    heights = np.concatenate(([10.0], np.linspace(1.1, 9.1, others)))
    padding = MOST - kind.number
    return Peaks(
        np.pad(centres @ rotation(d, seed).T, ((0, padding), (0, 0))),
        np.pad(scales, ((0, padding), (0, 0))),
        np.pad(heights, (0, padding)),
    )
