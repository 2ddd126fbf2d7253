"""Resolution of the values: how small the differences are that a search has told apart."""

from collections.abc import Sequence
from math import inf, isfinite
from sys import float_info
from typing import Any

import numpy as np

from thalweg.search.stopping.criterion import Observed, Tolerance

ROUNDING = 4 * float_info.epsilon
"""Relative differences up to here are those of neighbouring floating-point numbers."""
GRAIN = 1e-6
"""Differences below this part of the range of values are those of an objective without steps."""

SETTLED = 1e-9
"""Values that no longer fall have settled if they differ by less than this part of the progress."""
NOISE = 1000 * float_info.epsilon
"""The same as a part of their size: sums of many terms have some hundred times the rounding error of one."""


def _relative(seen: Observed, tolerance: float | None) -> Any:
    if tolerance == 0:
        return False
    limit = (tolerance or 0.0) * seen.progress
    near = (seen.range_now < limit) & (seen.range_recent < limit) & (seen.remembered > 9)
    return (near & (seen.remembered >= seen.patience)) | seen.settled


TOLFUNREL = Tolerance(
    "tolfunrel",
    "Converged: recent values differ by less than tolfunrel = {:g} times the progress of the run, or by rounding errors.",
    success=True,
    flat="The objective is flat: recent values differ by rounding errors at most.",
    default=None,
    holds=_relative,
    threshold=lambda seen, tolerance: SETTLED if tolerance is None else tolerance,
)


def early_values(window: int) -> int:
    """Return the number of values, best ones of every fifth generation, from which progress is measured."""
    return max(3, window // 5)


def early_level(bests: Sequence[float]) -> float:
    """Return the lower median of these values, which a penalty in the first generations does not raise; -inf if infinite.

    >>> early_level([1e30, 7.0, 5.0, 2.0])
    5.0
    """
    middle = sorted(bests)[(len(bests) - 1) // 2]
    return middle if isfinite(middle) else -inf


def settled_limit(progress: Any, lowest: Any) -> Any:
    """Return the difference below which values that no longer fall have settled."""
    if isinstance(progress, float):
        return max(SETTLED * progress, NOISE * abs(lowest))
    return np.maximum(SETTLED * progress, NOISE * np.abs(lowest))


def no_longer_fall(bests: Any) -> Any:
    """Return whether the newer half of best values has a median as high as the older half's, along the last axis.

    >>> bool(no_longer_fall([4.0, 3.0, 2.0, 1.0])), bool(no_longer_fall([4.0, 3.0, 3.0, 4.0]))
    (False, True)
    """
    if isinstance(bests, list):  # of one run: for some tens of numbers quicker than arrays
        half = len(bests) // 2
        return _median(bests[half:]) >= _median(bests[:half])
    values = np.asarray(bests)
    half = values.shape[-1] // 2
    return np.median(values[..., half:], -1) >= np.median(values[..., :half], -1)


def _median(values: list[float]) -> float:
    ordered, n = sorted(values), len(values)
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


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
