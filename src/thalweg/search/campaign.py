"""Which run comes after which (IPOP: Auger and Hansen 2005; BIPOP: Hansen 2009), and the account over all runs."""

from dataclasses import dataclass, replace
from math import log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg._common.checks import as_count, as_flag, as_point, as_seed
from thalweg.space.box import Box

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

FINAL = ("ftarget", "callback", "interrupt")
"""Reasons after which nothing is begun again; a budget for all runs that is used up is another."""


class Start(NamedTuple):
    """How a run begins."""

    x0: np.ndarray
    sigma0: float
    popsize: int
    seed: int
    max_evals: int | None
    """Of this run alone."""


@dataclass(frozen=True)
class Schedule:
    """The present run among all: what it begins with follows from how many there were and what they took.

    IPOP doubles the population with each restart. BIPOP has two regimes: large runs, which are those of IPOP, and small runs,
    which search locally from fresh points at a fraction of sigma0; next comes the one that has taken fewer evaluations so far,
    the first run counted among the small ones. Plain numbers, so that a checkpoint can hold it.

    >>> schedule = Schedule(popsize=6, sigma0=2.0, seed=1, bipop=True)
    >>> for evaluations in (500, 900, 300, 200):
    ...     print(schedule.large, schedule.start(np.zeros(2), None).popsize)
    ...     schedule = schedule.after(evaluations)
    False 6
    True 12
    False 6
    False 6
    """

    popsize: int
    """Of the first run."""
    sigma0: float
    seed: int
    bipop: bool = False
    runs: int = 0
    """How many runs have ended."""
    doubled: int = 0
    """How many of them were large."""
    small_evals: int = 0
    large_evals: int = 0
    last_large: int = 0
    """Evaluations of the last large run."""

    @property
    def large(self) -> bool:
        """Whether the present run has twice the population of the last large one."""
        return self.runs > 0 and not (self.bipop and self.small_evals < max(1, self.large_evals))  # as in pycma's fmin

    def start(self, x0: Any, box: Box | None) -> Start:
        """The beginning of the present run.

        `x0` is a point or draws one from a generator. A restart from a given point begins anywhere in the box where that is
        closed, and at the point where it is not.
        """
        source = np.random.SeedSequence(self.seed, spawn_key=(self.runs,))
        draw, child = np.random.default_rng(source), source.spawn(1)[0]
        seed = as_seed(child) if self.runs else self.seed
        point = draw_point(x0, draw)
        if self.runs and box is not None and not callable(x0):
            fresh = draw.uniform(np.where(box.closed, box.low, 0.0), np.where(box.closed, box.high, 1.0))
            point = np.where(box.closed, fresh, point)
        if self.runs == 0:
            return Start(point, self.sigma0, self.popsize, seed, None)
        if self.large:
            return Start(point, self.sigma0, self.popsize * 2 ** (self.doubled + 1), seed, None)
        # Hansen 2009: between the default population and half the last large one. Rounded to half a doubling, so that many
        # problems side by side need few compiled programs; all engines do the same.
        halves = round(2 * log2(2**self.doubled / 2) * draw.uniform() ** 2)
        popsize = round(self.popsize * 2 ** (halves / 2))
        return Start(point, self.sigma0 * 10 ** (-2 * draw.uniform()), popsize, seed, max(1, self.last_large // 2))

    def after(self, evaluations: int) -> "Schedule":
        """The next run, once this one has ended after so many evaluations."""
        if self.large:
            more = {"doubled": self.doubled + 1, "large_evals": self.large_evals + evaluations, "last_large": evaluations}
        else:
            more = {"small_evals": self.small_evals + evaluations}
        return replace(self, runs=self.runs + 1, **more)


def draw_point(x0: Any, draw: np.random.Generator) -> np.ndarray:
    """A start: x0, or what it draws."""
    return as_point(x0(draw), "x0(generator)") if callable(x0) else as_point(x0)


def first_point(x0: Any, seed: int) -> np.ndarray:
    """The start of the first run, before its population is known."""
    return Schedule(popsize=2, sigma0=1.0, seed=seed).start(x0, None).x0


def check_restarts(restarts: Any, bipop: Any) -> int:
    """The number of restarts from what a user wrote."""
    restarts = as_count(restarts, "restarts", least=0)
    if as_flag(bipop, "bipop") and restarts == 0:
        raise ValueError("bipop=True needs restarts, got restarts=0; pass the number of large restarts, such as restarts=9")
    return restarts


@dataclass
class Tally:
    """What the finished runs add up to; plain numbers, so that a checkpoint can hold it."""

    runs: int = 0
    nfev: int = 0
    nit: int = 0
    failures: int = 0
    fun: float = np.inf
    x: list[float] | None = None
    success: bool = False
    """Of the run that found the best point."""
    found: int = 0
    """Evaluations until the best point was found."""

    def include(self, result: "OptimizeResult") -> "OptimizeResult":
        """The result of the present run as that of all runs so far."""
        combined = type(result)(result)
        combined.update(
            nfev=result.nfev + self.nfev,
            nit=result.nit + self.nit,
            failures=result.failures + self.failures,
            restarts=self.runs,
        )
        if self.x is not None and self.fun <= result.fun:
            combined.update(x=np.array(self.x), fun=self.fun, success=self.success or "ftarget" in result.stop)
        if self.runs:
            combined.message = f"{result.message} Best of {self.runs + 1} runs."
        return combined

    def add(self, result: "OptimizeResult", found: int) -> "Tally":
        """The account once this run has ended, after which the best point is the one that was `found` then."""
        total = self.include(result)
        best = float(total.fun), total.x.tolist(), bool(total.success), found
        return Tally(self.runs + 1, total.nfev, total.nit, total.failures, *best)

    def add_late(self, x: np.ndarray, f: float | None, found: int) -> "Tally":
        """The account with one more value of a run that has ended before, None if there was none."""
        if f is None or not f < self.fun:
            return replace(self, nfev=self.nfev + 1, failures=self.failures + (f is None))
        return replace(self, nfev=self.nfev + 1, fun=f, x=x.tolist(), found=found)
