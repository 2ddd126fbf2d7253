"""Numbers with their uncertainty: bootstrap intervals and paired tests. Deterministic: the same values give the same digits."""

from collections.abc import Callable

import numpy as np
from scipy import stats

RESAMPLES = 4000
LEVEL = (2.5, 97.5)
"""The percentiles of a 95% interval."""

Interval = tuple[float, float]


def mean_interval(values: np.ndarray, size: int | None = None) -> Interval:
    """The 95% bootstrap interval of a mean; with `size`, where the mean of that many runs would fall.

    >>> mean_interval(np.ones(20))
    (1.0, 1.0)
    """
    index = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, size or len(values)))
    low, high = np.percentile(values[index].mean(1), LEVEL)
    return float(low), float(high)


def median_ratio(above: np.ndarray, below: np.ndarray) -> tuple[float, Interval]:
    """median(above) / median(below) and its 95% bootstrap interval over pairs.

    Values at the limits of the floating-point numbers count as that limit, so that the ratio of two solved runs is 1.
    """
    least = np.finfo(float).tiny
    above, below = np.maximum(above, least), np.maximum(below, least)
    index = np.random.default_rng(0).integers(len(above), size=(RESAMPLES, len(above)))
    ratios = np.exp(_log_median(above[index]) - _log_median(below[index]))
    low, high = np.percentile(ratios, LEVEL)
    return float(np.exp(_log_median(above) - _log_median(below))), (float(low), float(high))


def _log_median(values: np.ndarray) -> np.ndarray:
    """The median on the logarithmic scale: between two runs that differ by decades it lies in the middle of the decades."""
    return np.median(np.log(values), axis=-1)


def paired_p(a: np.ndarray, b: np.ndarray, same: float = 0.0) -> float:
    """The two-sided p of Wilcoxon's signed-rank test of pairs; differences up to `same` are none, and left out.

    >>> paired_p(np.zeros(5), np.full(5, 1e-9), same=1e-6)
    1.0
    """
    difference = np.where(np.abs(a - b) <= same, 0.0, a - b)
    if not np.any(difference):
        return 1.0
    return _wilcoxon(difference[difference != 0])


def _wilcoxon(difference: np.ndarray) -> float:
    test: Callable[..., object] = stats.wilcoxon
    return float(getattr(test(difference), "pvalue"))  # noqa: B009 (scipy's result is typed as a plain tuple)
