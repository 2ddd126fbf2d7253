"""Average runtimes, and their ratios with bootstrap intervals over instances.

The average runtime to a target (aRT; Hansen et al., "COCO: Performance Assessment", arXiv:1605.03560) is the number of
evaluations of all runs, failed ones included, until the target or the end, divided by the number of successes. The intervals
are meant for the suite's 15 instances: with 5 or fewer they are too narrow.
"""

from collections.abc import Sequence
from math import inf, nan
from typing import NamedTuple

import numpy as np

from thalweg_studies.bbob.record import LADDER, Run
from thalweg_studies.common.statistics import LEVEL, Interval

RESAMPLES = 2000
"""The number of resamples of the instances, which are the same for both methods."""


class Runtimes(NamedTuple):
    """The runs of an entrant on all instances of a function in one dimension."""

    hits: np.ndarray
    """The evaluations to each target, (instances, targets); inf if not reached."""
    ends: np.ndarray
    """The evaluations of the whole run, (instances,)."""

    @classmethod
    def of(cls, runs: Sequence[Run]) -> "Runtimes":
        """Return the runtimes of records, in the order of the instances."""
        return cls(np.array([run.hits for run in runs], float), np.array([run.evaluations for run in runs], float))

    def art(self, rung: int) -> float:
        """Return the average runtime to a target, given by its index on the ladder.

        >>> Runtimes(np.array([[10.0], [30.0], [np.inf]]), np.array([50.0, 50.0, 100.0])).art(0)
        70.0
        """
        return float(_art(self.hits[:, rung], self.ends))

    def reached(self, rung: int) -> int:
        """Return the number of runs that reached a target."""
        return int(np.isfinite(self.hits[:, rung]).sum())


class Ratio(NamedTuple):
    """The aRT of a method over that of its baseline; below 1 the method is faster."""

    value: float
    """NaN if neither reached the target, inf if the method did not, 0 if the baseline did not."""
    interval: Interval
    """The 95% bootstrap interval of the value."""
    draws: np.ndarray
    """The ratios of all resamples."""


def _art(hits: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return average runtimes over the last axis; inf without a success."""
    reached = np.isfinite(hits)
    spent, successes = np.where(reached, hits, ends).sum(-1), reached.sum(-1)
    return np.where(successes > 0, spent / np.maximum(successes, 1), inf)


def _over(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return ratios; NaN where both are infinite."""
    both = np.isinf(above) & np.isinf(below)
    return np.where(both, nan, above / np.where(both, 1.0, below))


def interval(draws: np.ndarray) -> Interval:
    """Return the 95% bootstrap interval without NaN draws; an end is infinite if enough draws are.

    >>> interval(np.array([1.0] * 50 + [np.inf] * 50))
    (1.0, inf)
    """
    known = draws[~np.isnan(draws)]
    if not len(known):
        return nan, nan
    low, high = np.percentile(known, LEVEL, method="nearest")  # no mean of a number and infinity
    return float(low), float(high)


def ratio(method: Runtimes, baseline: Runtimes, rung: int, function: int) -> Ratio:
    """Return the ratio of average runtimes to a target; the function's number seeds the draws, so its ratios share them."""
    n = len(method.ends)
    if n != len(baseline.ends):
        raise ValueError(f"both methods must have run on the same instances, got {n} and {len(baseline.ends)} of them")
    draws = _over(*(_resampled(runs, rung, function) for runs in (method, baseline)))
    value = float(_over(np.array(method.art(rung)), np.array(baseline.art(rung))))
    return Ratio(value, interval(draws), draws)


def ratio_to(method: Runtimes, art: float, rung: int, function: int) -> Ratio:
    """Return the ratio of the average runtime to a target over a published one, whose own error is not known."""
    draws = _over(_resampled(method, rung, function), np.array(art))
    return Ratio(float(_over(np.array(method.art(rung)), np.array(art))), interval(draws), draws)


def _resampled(runs: Runtimes, rung: int, function: int) -> np.ndarray:
    n = len(runs.ends)
    index = np.random.default_rng((0, function)).integers(n, size=(RESAMPLES, n))
    return _art(runs.hits[:, rung][index], runs.ends[index])


class Hardest(NamedTuple):
    """The ratio at the hardest target that both solve."""

    target: float
    ratio: Ratio
    everywhere: bool
    """True if both reach it in enough instances; else it is the hardest that both reach at all."""


def hardest(method: Runtimes, baseline: Runtimes, function: int, share: float = 1.0) -> Hardest | None:
    """Return the ratio at the hardest target that both reach in that share of the instances.

    If there is none, it is the hardest that both reach in at least one instance, marked as such; None without even that.
    """
    n = len(method.ends)
    for least, everywhere in ((max(1, int(np.ceil(share * n))), True), (1, False)):
        rungs = [i for i in range(len(LADDER)) if min(method.reached(i), baseline.reached(i)) >= least]
        if rungs:
            return Hardest(LADDER[rungs[-1]], ratio(method, baseline, rungs[-1], function), everywhere)
    return None


def geometric_mean(ratios: Sequence[Ratio]) -> tuple[float, Interval, int]:
    """Return the geometric mean over the functions where both have a runtime, its interval, and their number.

    A draw in which a function has no ratio is a mean over the others.
    """
    usable = [each for each in ratios if 0 < each.value < inf]
    if not usable:
        return nan, (nan, nan), 0
    value = float(np.exp(np.mean(np.log([each.value for each in usable]))))
    draws = np.array([each.draws for each in usable])
    logs = np.log(draws, where=np.isfinite(draws) & (draws > 0), out=np.full(draws.shape, nan))
    known = ~np.isnan(logs)
    means = np.where(known, logs, 0.0).sum(0) / np.maximum(known.sum(0), 1)
    return value, interval(np.exp(means[known.any(0)])), len(usable)
