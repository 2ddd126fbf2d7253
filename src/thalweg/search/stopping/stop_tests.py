"""The stop criteria of one run, and what they remember of it."""

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from thalweg.search.stopping import Observed, Tolerances
from thalweg.search.stopping.resolution import (
    early_level,
    early_values,
    is_resolved,
    no_longer_fall,
    settled_limit,
    smallest_difference,
)
from thalweg.search.stopping.stagnation import may_stagnate, stagnates, stagnation_time
from thalweg.search.stopping.trouble import LARGEST

MEMORY = 20000
"""Number of values of every fifth generation that are remembered."""


class Generation(NamedTuple):
    """The input of the tests after a generation."""

    f: np.ndarray
    """The values, failures as inf, ascending."""
    mean: np.ndarray
    std: np.ndarray
    condition: float
    """Condition number of the covariance; NaN where it is unknown or was not computed."""
    finite: bool
    """True if all numbers of the strategy's state are finite."""
    nfev: int
    best_f: float
    best_nfev: int
    """Evaluations until the best point was found."""


@dataclass
class StopTests:
    """Tests the criteria after each generation of a run. The fields below `whole` are all that it remembers."""

    d: int
    popsize: int
    sigma0: float
    tolerances: Tolerances
    whole: np.ndarray | None = None
    """True for each coordinate that is a whole number; None without any."""
    nit: int = 0
    recent: list[float] = field(default_factory=list[float])
    """Best values of the last generations."""
    bests: list[float] = field(default_factory=list[float])
    """Best value of every fifth generation, newest last."""
    medians: list[float] = field(default_factory=list[float])
    """Median value of every fifth generation, newest last."""
    flat: int = 0
    """Consecutive generations with flat values."""
    failed: int = 0
    """Consecutive generations without a finite value."""
    highest: float = -inf
    """Highest of the generations' best values that are finite."""
    lowest: float = inf
    """Lowest of them."""
    finest: float = inf
    """Smallest difference seen, of values of a generation or of best values of two in a row; 0 does not count."""
    early: float = -inf
    """Level of the values early in the run, from which progress is measured; -inf before that."""
    resolved: bool = False
    """True if equal values are a sign of convergence; see `is_resolved`."""
    reasons: dict[str, float] = field(default_factory=dict[str, float])
    """The criteria that hold, by name, each with its threshold."""

    def __post_init__(self) -> None:
        self.window = recent_generations(self.d, self.popsize)
        self.stagnation = stagnation_time(self.tolerances.tolstagnation, self.d, self.popsize)
        self.patience = 0 if self.whole is None else self.window
        self.real = np.True_ if self.whole is None else ~self.whole
        self.has_reals = bool(np.any(self.real))
        self.settles = True
        self.tests = self.tolerances.tests()

    def ignore_stagnation(self) -> None:
        """Turn the tests for values that no longer fall off, unless they were asked for: the function moves."""
        if self.tolerances.tolstagnation is None:
            self.stagnation = 0.0
        self.settles = self.tolerances.tolfunrel is not None

    def observe(self, now: Generation, previous_mean: np.ndarray) -> None:
        """Take a generation into account and renew `reasons`."""
        best = float(now.f[0])
        self._resolve(best, float(now.f[-1]))
        self.nit += 1
        self.recent = [*self.recent, best][-self.window :]
        if self.nit % 5 == 0:
            for history, newest in (
                (self.bests, best),
                (self.medians, float(now.f[(self.popsize - 1) // 2 : self.popsize // 2 + 1].mean())),
            ):
                history.append(newest)
                del history[:-MEMORY]
            if self.nit == 5 * (number := early_values(self.window)):
                self.early = early_level(self.bests[:number])
        self.failed = 0 if best < inf else self.failed + 1
        if best < inf:  # a generation of failures says nothing about flatness
            self.flat = self.flat + 1 if best == now.f[flat_rank(self.popsize)] else 0
        self.reasons = self._reasons(now, previous_mean)

    def _resolve(self, best: float, worst: float) -> None:
        """Take account of how small the differences are that values have."""
        if isfinite(best):
            self.highest, self.lowest = max(self.highest, best), min(self.lowest, best)
        before = self.recent[-1] if self.recent else best
        self.finest = smallest_difference(self.finest, worst - best, abs(before - best))
        if self.whole is not None:  # points may be equal, and steps are as they should be
            self.resolved = self.finest < inf
        elif not self.resolved:
            given = (self.tolerances.values[name] or 0.0 for name in ("tolfun", "tolfunhist"))
            self.resolved = is_resolved(self.finest, self.highest, self.lowest, max(given))

    def _reasons(self, now: Generation, previous_mean: np.ndarray) -> dict[str, float]:
        largest = float(now.std.max())
        if not (now.finite and largest < LARGEST):
            return {"nonfinite": self.nit}
        still = now.mean == now.mean + 0.2 * now.std
        step = inf
        if self.whole is None:
            step = max(largest, float(np.abs(now.mean - previous_mean).max()))
        elif self.has_reals:
            step = float(np.maximum(now.std, np.abs(now.mean - previous_mean))[self.real].max())
        since_best = now.nfev - now.best_nfev
        range_now, range_recent = float(now.f[-1]) - float(now.f[0]), max(self.recent) - min(self.recent)
        seen = Observed(  # in floats of Python, which are quicker than arrays of one; inf - inf is NaN
            nit=self.nit,
            best_f=now.best_f,
            sigma0=self.sigma0,
            remembered=len(self.recent),
            range_now=range_now,
            range_recent=range_recent,
            progress=self.early - self.lowest,
            settled=self._has_settled(max(range_now, range_recent)),
            largest=largest,
            step=step,
            still=int(still.argmax()) if still.any() else -1,
            flat=self.flat,
            patience=self.patience,
            stagnates=may_stagnate(self.d, self.popsize, self.stagnation, self.nit, since_best)
            and stagnates(self.stagnation, self.bests, self.medians),
            stagnation=self.stagnation,
            condition=now.condition,
            failed=self.failed,
        )
        return {each.name: each.threshold(seen, value) for each, value in self.tests if each.holds(seen, value)}

    def _has_settled(self, largest_range: float) -> bool:
        if not self.settles or len(self.recent) < self.window:
            return False
        return largest_range <= settled_limit(self.early - self.lowest, self.lowest) and no_longer_fall(self.recent)


def recent_generations(d: int, popsize: int) -> int:
    """Return the number of generations whose best values are compared."""
    return int(10 + 30 * d / popsize)


def flat_rank(popsize: int) -> int:
    """Return the rank whose value, if it equals the best one, tells of a flat objective."""
    return int(0.75 * popsize)
