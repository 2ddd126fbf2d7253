"""Kendall's rank correlation."""

import numpy as np


def kendall_tau(a: np.ndarray, b: np.ndarray) -> float:
    """Return Kendall's tau-a of two samples of at most some hundred numbers: concordant less discordant pairs, over all pairs.

    Ties count as pairs that are not ranked: on a plateau no model ranks well. 0 for less than two numbers.

    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0]))
    0.333
    >>> kendall_tau(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    0.667
    """
    # comparisons, as differences of large values overflow
    one, two = (each[:, None] > each for each in (a, b))
    number = len(a) * (len(a) - 1) // 2
    return float(np.count_nonzero(one & two) - np.count_nonzero(one & two.T)) / number if number else 0.0
