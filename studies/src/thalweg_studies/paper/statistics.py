"""Numbers with their uncertainty: bootstrap intervals and paired tests. Deterministic: the same values give the same digits."""

from collections.abc import Callable
from math import sqrt

import numpy as np

RESAMPLES = 4000
LEVEL = (2.5, 97.5)
"""The percentiles of a 95% interval."""

NORMAL = 1.959964
"""The same of the standard normal distribution, on either side."""

Interval = tuple[float, float]


def mean_interval(values: np.ndarray) -> Interval:
    """The 95% bootstrap interval of a mean.

    >>> mean_interval(np.ones(20))
    (1.0, 1.0)
    """
    return _interval(_means(values, len(values), np.random.default_rng(0)))


def next_mean_interval(values: np.ndarray, size: int) -> Interval:
    """Where the mean of `size` other runs of the same kind falls with 95%: their chance, and that of the values themselves."""
    rng = np.random.default_rng(0)
    return _interval(_means(values, size, rng) + _means(values, len(values), rng) - values.mean())


def share_interval(happened: np.ndarray) -> tuple[float, Interval]:
    """In what part of the runs something happened, and Wilson's 95% interval: it has a width even where all runs agree.

    >>> part, (low, high) = share_interval(np.ones(10, bool))
    >>> part, round(low, 3), round(high, 3)
    (1.0, 0.722, 1.0)
    """
    n, part = len(happened), float(np.mean(happened))
    centre = part + NORMAL**2 / (2 * n)
    half = NORMAL * sqrt(part * (1 - part) / n + (NORMAL / (2 * n)) ** 2)
    scale = 1 + NORMAL**2 / n
    return part, (max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale))


def _means(values: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    return values[rng.integers(len(values), size=(RESAMPLES, size))].mean(1)


def _interval(samples: np.ndarray) -> Interval:
    low, high = np.percentile(samples, LEVEL)
    return float(low), float(high)


def median(values: np.ndarray) -> float:
    """The median on the logarithmic scale: between two runs that differ by decades it lies in the middle of the decades.

    >>> round(median(np.array([1e-8, 1e-4, 1.0, 1e-6])), 7)
    1e-05
    """
    return float(np.exp(_log_median(values)))


def median_ratio(above: np.ndarray, below: np.ndarray) -> tuple[float, Interval]:
    """median(above) / median(below) and its 95% bootstrap interval over pairs."""
    index = np.random.default_rng(0).integers(len(above), size=(RESAMPLES, len(above)))
    ratios = np.exp(_log_median(above[index]) - _log_median(below[index]))
    return median(above) / median(below), _interval(ratios)


def _log_median(values: np.ndarray) -> np.ndarray:
    least = np.finfo(float).tiny  # the ratio of two solved runs is 1
    return np.median(np.log(np.maximum(values, least)), axis=-1)


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
    from scipy import stats  # takes a second to import, which other commands need not wait for

    test: Callable[..., object] = stats.wilcoxon
    return float(getattr(test(difference), "pvalue"))  # noqa: B009 (scipy's result is typed as a plain tuple)
