"""Numbers that the judges of several claims need."""

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from thalweg_studies.paper import statistics
from thalweg_studies.paper.arms import ARMS
from thalweg_studies.paper.claims.claim import Cases
from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.race import Race
from thalweg_studies.paper.statistics import Interval
from thalweg_studies.paper.verdict import Verdict

FEW = 10
"""Fewer runs decide nothing."""

TOO_FEW = f"fewer than {FEW} runs"

REACHED = 1e-4
"""A run below it on a function with one minimum has found its valley's end, and descends from there on."""

FLOOR = 1e-18
"""Lower values are rounding errors of the objective, and count as the same."""

AHEAD, EVEN, BEHIND = "ahead", "no clear difference", "behind"


class Share(NamedTuple):
    """In what part of the runs something happened."""

    value: float
    interval: Interval
    runs: int

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.0%} [{low:.0%}, {high:.0%}]"


class Difference(NamedTuple):
    """Of two shares from the same seeds."""

    first: Share
    second: Share
    value: float
    interval: Interval

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.first} against {self.second}, difference {self.value:+.0%} [{low:+.0%}, {high:+.0%}]"


class Comparison(NamedTuple):
    """How many times lower the median best value of one arm is than another's from the same seeds."""

    mark: int
    """After how many evaluations."""
    lower: float
    interval: Interval
    p: float
    runs: int

    @property
    def outcome(self) -> str:
        """What the interval says."""
        low, high = self.interval
        return AHEAD if low > 1 else BEHIND if high < 1 else EVEN

    def __str__(self) -> str:
        return "{:.3g} [{:.3g}, {:.3g}] at {:,}".format(self.lower, *self.interval, self.mark)


def share(happened: np.ndarray) -> Share:
    """With its 95% interval.

    >>> print(share(np.zeros(20, bool)))
    0% [0%, 16%]
    """
    return Share(*statistics.share_interval(happened), len(happened))


def share_difference(first: np.ndarray, second: np.ndarray) -> Difference:
    """The first minus the second, from the same seeds; Wald's interval for pairs with Agresti and Min's correction.

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
    """Of the shares of runs that are below `REACHED` at the end: the case minus another arm.

    Where some runs converge and some never do, medians jump between the two kinds, and this is the steadier number.
    """
    own, reference = (cases[each][:, -1] < REACHED for each in (case, case._replace(method=other)))
    return share_difference(own, reference)


def compare(race: Race, cases: Cases, case: Case, other: str, mark: int) -> Comparison:
    """The case against another arm after that many evaluations."""
    at = column(race, case.dimension, mark)
    own, reference = (np.maximum(cases[each][:, at], FLOOR) for each in (case, case._replace(method=other)))
    pairs = min(len(own), len(reference))  # the first seeds are the same landscapes
    own, reference = own[:pairs], reference[:pairs]
    lower, interval = statistics.median_ratio(reference, own)
    return Comparison(mark, lower, interval, statistics.paired_p(np.log(own), np.log(reference)), pairs)


def column(race: Race, d: int, mark: int) -> int:
    """The place of a number of evaluations in the grid."""
    return int(np.searchsorted(race.grid(d), mark, side="right")) - 1


def marks(race: Race, d: int) -> list[int]:
    """Those that the runs reach, or their end."""
    grid = race.grid(d)
    return [mark for mark in race.marks.get(d, ()) if grid[0] <= mark <= grid[-1]] or [int(grid[-1])]


def overall(comparisons: Sequence[Comparison]) -> str:
    """Of several marks together: clear ones count, and those that contradict each other decide nothing."""
    clear = {each.outcome for each in comparisons} - {EVEN}
    return clear.pop() if len(clear) == 1 else EVEN if not clear else "ahead at some marks, behind at others"


def listed(comparisons: Sequence[Comparison]) -> str:
    """For people."""
    return "; ".join(map(str, comparisons))


COMPARISON_HEAD = (
    "function", "d", "evaluations", "algorithm", "against", "runs", "median best f", "times lower [95%]", "p", "",
)  # fmt: skip


def compare_all(
    race: Race, cases: Cases, methods: Iterable[str], judge: Callable[[Case, str, list[Comparison]], Verdict]
) -> tuple[list[tuple[str, ...]], list[Verdict]]:
    """Each method everywhere against the arm that it is measured against: rows under `COMPARISON_HEAD`, and verdicts."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    chosen = [name for name in methods if name in race.arms]
    for case in (Case(function, d, method) for function in race.functions for d in race.generations for method in chosen):
        other = ARMS[case.method].against
        found = [compare(race, cases, case, other, mark) for mark in marks(race, case.dimension)]
        rows += [comparison_row(race, cases, case, other, each) for each in found]
        verdicts.append(judge(case, other, found))
    return rows, verdicts


def comparison_row(race: Race, cases: Cases, case: Case, other: str, each: Comparison) -> tuple[str, ...]:
    """Cells under `COMPARISON_HEAD`."""
    median = statistics.median(cases[case][:, column(race, case.dimension, each.mark)])
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
