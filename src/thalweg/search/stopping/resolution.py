"""Resolution of the values: how small the differences are that a search has told apart."""

from math import inf
from sys import float_info

ROUNDING = 4 * float_info.epsilon
"""Relative differences up to here are those of neighbouring floating-point numbers."""
GRAIN = 1e-6
"""Differences below this part of the range of values are those of an objective without steps."""


def smallest_difference(so_far: float, *differences: float) -> float:
    """Return the smallest difference that is not 0.

    >>> smallest_difference(inf, 0.0, 0.5), smallest_difference(0.1, 0.5)
    (0.5, 0.1)
    """
    return min((so_far, *(each for each in differences if each > 0)))


def is_resolved(finest: float, highest: float, lowest: float, tolerance: float) -> bool:
    """Return whether values that end up equal were made so by convergence, and not by steps of the objective.

    That is so if the search has told values apart that differ by very little: by less than a tolerance on values, than 1e-6 of
    the range of the generations' best values, or by no more than rounding. This range must be well above rounding, too.

    >>> is_resolved(1e-12, 5.0, 0.0, 1e-11), is_resolved(1.0, 5.0, 0.0, 1e-11), is_resolved(1e-16, 1.0, 1.0, 1e-11)
    (True, False, False)
    """
    scale, rounding = highest - lowest, ROUNDING * abs(lowest)
    return 100 * rounding < scale < inf and finest <= max(tolerance, GRAIN * scale, rounding)
