"""Kendall's rank correlation."""

from math import sqrt

import numpy as np


def kendall_tau(a: np.ndarray, b: np.ndarray) -> float:
    """Return Kendall's tau-b of two samples, at most some hundred numbers each; 0 where it is not defined.

    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0]))
    0.333
    """
    i, j = np.triu_indices(len(a), 1)
    # comparisons, as differences of large values overflow
    one, two = (1.0 * (each[i] > each[j]) - 1.0 * (each[i] < each[j]) for each in (a, b))
    untied = float(np.sum(one != 0)) * float(np.sum(two != 0))
    return float(one @ two) / sqrt(untied) if untied else 0.0
