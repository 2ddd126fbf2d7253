"""Positions, widths and heights of the peaks of Gallagher's functions f21 and f22."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from thalweg_studies.bbob.functions.instances import read_only, rotation, uniform

MAX_PEAKS = 101
"""The number of peaks of f21. f22 has 21, padded to the same shape by peaks of height 0."""

CONDITION = 1000.0


class Peaks(NamedTuple):
    centres: np.ndarray
    """Positions (101, d) in rotated coordinates; the first is the global peak."""

    scales: np.ndarray
    """Diagonals (101, d) of the inverse covariance matrices, in rotated coordinates."""

    heights: np.ndarray
    """Heights (101,): 10 for the global peak, 1.1 to 9.1 for the others."""


class Layout(NamedTuple):
    number: int
    half_width: float
    """Half the width of the box that holds the peaks; the global peak lies in 0.8 of it."""

    first_condition: float
    """Condition number of the global peak; those of the others are spread over 1 to 1000."""


LAYOUTS = {21: Layout(101, 5.0, CONDITION**0.5), 22: Layout(21, 4.9, CONDITION)}


@lru_cache(maxsize=1)
def no_peaks(d: int) -> Peaks:
    """Return peaks of height 0, for the functions without peaks."""
    return Peaks(read_only(np.zeros((MAX_PEAKS, d))), read_only(np.zeros((MAX_PEAKS, d))), read_only(np.zeros(MAX_PEAKS)))


def global_peak(function: int, d: int, seed: int) -> np.ndarray:
    """Return the minimiser of f21 or f22, in the coordinates of the search."""
    half_width = LAYOUTS[function].half_width
    return 0.8 * (2 * half_width * uniform(d, seed) - half_width)


def draw_peaks(function: int, d: int, seed: int) -> Peaks:
    """Draw the peaks of f21 or f22."""
    layout = LAYOUTS[function]
    others = layout.number - 1
    conditions = CONDITION ** (np.argsort(uniform(others, seed)) / (others - 1))
    conditions = np.concatenate(([layout.first_condition], conditions))
    orders = np.array([np.argsort(uniform(d, seed + 1000 * i)) for i in range(layout.number)])
    scales = conditions[:, None] ** (orders / (d - 1) - 0.5)
    centres = 2 * layout.half_width * uniform(layout.number * d, seed).reshape(layout.number, d) - layout.half_width
    centres[0] *= 0.8
    heights = np.concatenate(([10.0], np.linspace(1.1, 9.1, others)))
    padding = MAX_PEAKS - layout.number
    return Peaks(
        np.pad(centres @ rotation(d, seed).T, ((0, padding), (0, 0))),
        np.pad(scales, ((0, padding), (0, 0))),
        np.pad(heights, (0, padding)),
    )
