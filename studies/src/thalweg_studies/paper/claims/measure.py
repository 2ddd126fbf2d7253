"""Measures that several claims use: shares of runs, their differences, and ratios of medians."""

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from thalweg_studies.common import statistics
from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.experiment import Case
from thalweg_studies.common.statistics import Interval
from thalweg_studies.common.verdict import Verdict
from thalweg_studies.paper.claims.claim import Cases
from thalweg_studies.paper.comparison import Comparison

FEW = 10
"""The smallest number of runs that allows a verdict."""

TOO_FEW = f"fewer than {FEW} runs"

REACHED = 1e-4
"""A value of f that means success on a function with one minimum: runs below it go on to descend."""

FLOOR = 1e-18
"""The least value that is told apart; lower ones are rounding errors of the objective."""

AHEAD, EVEN, BEHIND = "ahead", "no clear difference", "behind"


class Share(NamedTuple):
    """The share of the runs in which something happened, with its 95% interval."""

    value: float
    interval: Interval
    runs: int

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.0%} [{low:.0%}, {high:.0%}]"


class Difference(NamedTuple):
    """The difference of two shares from the same seeds, with its 95% interval."""

    first: Share
    second: Share
    value: float
    interval: Interval

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.first} against {self.second}, difference {self.value:+.0%} [{low:+.0%}, {high:+.0%}]"


class MedianRatio(NamedTuple):
    """The median best value of another algorithm over that of this one, from the same seeds."""

    mark: int
    """The number of evaluations of the comparison."""
    lower: float
    """The ratio: how many times lower this one is."""
    interval: Interval
    p: float
    runs: int

    @property
    def outcome(self) -> str:
        """The conclusion from the interval."""
        low, high = self.interval
        return AHEAD if low > 1 else BEHIND if high < 1 else EVEN

    def __str__(self) -> str:
        return "{:.3g} [{:.3g}, {:.3g}] at {:,}".format(self.lower, *self.interval, self.mark)


def share(happened: np.ndarray) -> Share:
    """Return the share of true values.

    >>> print(share(np.zeros(20, bool)))
    0% [0%, 16%]
    """
    return Share(*statistics.share_interval(happened), len(happened))


def share_difference(first: np.ndarray, second: np.ndarray) -> Difference:
    """Return the first share minus the second, from the same seeds; Wald's interval for pairs, corrected by Agresti and Min.

    >>> print(share_difference(np.array([True] * 9 + [False]), np.zeros(10, bool)))
    90% [60%, 98%] against 0% [0%, 28%], difference +90% [+46%, +100%]
    """
    n = min(len(first), len(second))
    first, second = first[:n], second[:n]
    up, down = float(np.sum(first & ~second)), float(np.sum(second & ~first))
    b, c, m = up + 0.5, down + 0.5, n + 2  # half a run is added to each of the four cells
    half = statistics.NORMAL * sqrt(max(b + c - (b - c) ** 2 / m, 0.0)) / m
    interval = max(-1.0, (b - c) / m - half), min(1.0, (b - c) / m + half)
    return Difference(share(first), share(second), (up - down) / n, interval)


def successes(cases: Cases, case: Case, other: str) -> Difference:
    """Return the share of runs below `REACHED` at the end, minus that of another algorithm.

    Where some runs converge and some never do, medians jump between the two kinds, and this number is steadier.
    """
    own, reference = (cases[each][:, -1] < REACHED for each in (case, case._replace(method=other)))
    return share_difference(own, reference)


def compare(comparison: Comparison, cases: Cases, case: Case, other: str, mark: int) -> MedianRatio:
    """Compare a case with another algorithm after `mark` evaluations."""
    at = column(comparison, case.dimension, mark)
    own, reference = (np.maximum(cases[each][:, at], FLOOR) for each in (case, case._replace(method=other)))
    pairs = min(len(own), len(reference))  # the first seeds are the same landscapes
    own, reference = own[:pairs], reference[:pairs]
    lower, interval = statistics.median_ratio(reference, own)
    return MedianRatio(mark, lower, interval, statistics.paired_p(np.log(own), np.log(reference)), pairs)


def column(comparison: Comparison, d: int, mark: int) -> int:
    """Return the index of a number of evaluations in the grid."""
    return int(np.searchsorted(comparison.grid(d), mark, side="right")) - 1


def marks(comparison: Comparison, d: int) -> list[int]:
    """Return the marks that the runs reach, or their end."""
    grid = comparison.grid(d)
    return [mark for mark in comparison.marks.get(d, ()) if grid[0] <= mark <= grid[-1]] or [int(grid[-1])]


def overall(comparisons: Sequence[MedianRatio]) -> str:
    """Combine the outcomes at several marks; clear ones count, unless they contradict each other."""
    clear = {each.outcome for each in comparisons} - {EVEN}
    return clear.pop() if len(clear) == 1 else EVEN if not clear else "ahead at some marks, behind at others"


def listed(comparisons: Sequence[MedianRatio]) -> str:
    """Format several ratios for a table."""
    return "; ".join(map(str, comparisons))


RATIO_HEAD = (
    "function", "d", "evaluations", "algorithm", "against", "runs", "median best f", "times lower [95%]", "p", "",
)  # fmt: skip


def compare_all(
    comparison: Comparison, cases: Cases, methods: Iterable[str], judge: Callable[[Case, str, list[MedianRatio]], Verdict]
) -> tuple[list[tuple[str, ...]], list[Verdict]]:
    """Compare each method in each case with its reference; returns rows under `RATIO_HEAD`, and verdicts."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    chosen = [name for name in methods if name in comparison.algorithms]
    for case in (
        Case(function, d, method) for function in comparison.functions for d in comparison.generations for method in chosen
    ):
        other = ALGORITHMS[case.method].against
        found = [compare(comparison, cases, case, other, mark) for mark in marks(comparison, case.dimension)]
        rows += [ratio_row(comparison, cases, case, other, each) for each in found]
        verdicts.append(judge(case, other, found))
    return rows, verdicts


def ratio_row(comparison: Comparison, cases: Cases, case: Case, other: str, each: MedianRatio) -> tuple[str, ...]:
    """Return the cells of a row under `RATIO_HEAD`."""
    median = statistics.median(cases[case][:, column(comparison, case.dimension, each.mark)])
    return (
        case.function,
        str(case.dimension),
        f"{each.mark:,}",
        case.method,
        other,
        str(each.runs),
        f"{median:.2g}",
        "{:.3g} [{:.3g}, {:.3g}]".format(each.lower, *each.interval),
        f"{each.p:.1g}",
        each.outcome,
    )
