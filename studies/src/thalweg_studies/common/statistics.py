"""Intervals and paired tests. Bootstraps draw from a fixed seed, so the same values give the same digits."""

from collections.abc import Callable
from math import inf, sqrt

import numpy as np

RESAMPLES = 4000
"""The number of draws of a bootstrap."""
LEVEL = (2.5, 97.5)
"""The percentiles of a 95% interval."""

NORMAL = 1.959964
"""The 97.5% quantile of the standard normal distribution."""

Interval = tuple[float, float]


def mean_interval(values: np.ndarray) -> Interval:
    """Return the 95% bootstrap interval of a mean.

    >>> mean_interval(np.ones(20))
    (1.0, 1.0)
    """
    return _interval(_means(values, len(values), np.random.default_rng(0)))


def next_mean_interval(values: np.ndarray, size: int) -> Interval:
    """Return the interval that holds the mean of `size` further runs with 95%; allows for chance in them and in the values."""
    rng = np.random.default_rng(0)
    return _interval(_means(values, size, rng) + _means(values, len(values), rng) - values.mean())


def share_interval(happened: np.ndarray) -> tuple[float, Interval]:
    """Return the share of true values and its 95% interval by Wilson, which has a width even if all values agree.

    >>> part, (low, high) = share_interval(np.ones(10, bool))
    >>> part, round(low, 3), round(high, 3)
    (1.0, 0.722, 1.0)
    """
    n, part = len(happened), float(np.mean(happened))
    centre = part + NORMAL**2 / (2 * n)
    half = NORMAL * sqrt(part * (1 - part) / n + (NORMAL / (2 * n)) ** 2)
    scale = 1 + NORMAL**2 / n
    return part, (max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale))


def t_interval(values: np.ndarray) -> Interval:
    """Return the 95% interval of a mean by Student's t: of five runs a bootstrap's is too narrow.

    >>> low, high = t_interval(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> round(low, 2), round(high, 2)
    (1.04, 4.96)
    """
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return -inf, inf
    half = float(stdtrit(n - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(n)
    return float(values.mean()) - half, float(values.mean()) + half


def _means(values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    return values[rng.integers(len(values), size=(RESAMPLES, size))].mean(1)


def _interval(samples: np.ndarray) -> Interval:
    low, high = np.percentile(samples, LEVEL)
    return float(low), float(high)


def median(values: np.ndarray) -> float:
    """Return the median on the logarithmic scale: halfway between two runs is their geometric mean.

    >>> round(median(np.array([1e-8, 1e-4, 1.0, 1e-6])), 7)
    1e-05
    """
    return float(np.exp(_log_median(values)))


def median_ratio(above: np.ndarray, below: np.ndarray) -> tuple[float, Interval]:
    """Return median(above) / median(below) and its 95% bootstrap interval over pairs."""
    index = np.random.default_rng(0).integers(len(above), size=(RESAMPLES, len(above)))
    ratios = np.exp(_log_median(above[index]) - _log_median(below[index]))
    return median(above) / median(below), _interval(ratios)


def _log_median(values: np.ndarray) -> np.ndarray:
    least = np.finfo(float).tiny  # the ratio of two solved runs is 1
    return np.median(np.log(np.maximum(values, least)), axis=-1)


def paired_p(a: np.ndarray, b: np.ndarray, same: float = 0.0) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test of pairs, without those that differ by at most `same`.

    >>> paired_p(np.zeros(5), np.full(5, 1e-9), same=1e-6)
    1.0
    """
    difference = np.where(np.abs(a - b) <= same, 0.0, a - b)
    if not np.any(difference):
        return 1.0
    return _wilcoxon(difference[difference != 0])


def _wilcoxon(difference: np.ndarray) -> float:
    from scipy import stats  # takes a second to import, which other commands need not wait for

    test: Callable[..., object] = stats.wilcoxon
    return float(getattr(test(difference), "pvalue"))  # noqa: B009 (scipy's result is typed as a plain tuple)
