"""Restarts with a growing population (IPOP: Auger and Hansen 2005), and the account over all runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg.bounds import Box
from thalweg.validation import as_seed

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


class Start(NamedTuple):
    """Where a run begins."""

    x0: Any
    popsize: int | None
    seed: int


def start_of(run: int, x0: np.ndarray, box: Box | None, popsize: int, seed: int) -> Start:
    """The start of a restart, counted from 1: twice the population each time, given that of the first run.

    It begins anywhere in the box where that is closed, and at x0 where it is not.

    >>> start_of(2, np.zeros(3), None, popsize=7, seed=1).popsize
    28
    """
    source = np.random.SeedSequence(seed, spawn_key=(run,))
    draw, child = np.random.default_rng(source), source.spawn(1)[0]
    if box is not None:
        fresh = draw.uniform(np.where(box.closed, box.low, 0.0), np.where(box.closed, box.high, 1.0))
        x0 = np.where(box.closed, fresh, x0)
    return Start(x0, popsize * 2**run, as_seed(child))


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

    def add(self, result: "OptimizeResult") -> "Tally":
        """The account once this run has ended."""
        total = self.include(result)
        return Tally(
            self.runs + 1, total.nfev, total.nit, total.failures, float(total.fun), total.x.tolist(), bool(total.success)
        )
