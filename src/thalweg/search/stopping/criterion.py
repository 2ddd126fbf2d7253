"""Kinds of stop criteria: those that look at the run, limits that only count, and reasons from outside."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple


class Observed(NamedTuple):
    """The input of criteria after a generation: numbers for one run, or arrays (runs, generations) for many."""

    nit: Any
    """Generations of the run."""
    best_f: Any
    """Best value of the run so far."""
    sigma0: Any
    remembered: Any
    """Number of generations in `range_recent`."""
    range_now: Any
    """Range of the values of the generation."""
    range_recent: Any
    """Range of the best values of recent generations."""
    progress: Any
    """Difference of an early and the lowest value; -inf where it is unknown."""
    settled: Any
    """True if best values no longer fall, and all recent values are equal up to noise; see `settled_limit`."""
    largest: Any
    """Largest standard deviation over the coordinates."""
    step: Any
    """Largest standard deviation or change of the mean over the coordinates that are real numbers; inf where none is."""
    still: Any
    """First coordinate that a step of 0.2 standard deviations does not change; -1 where there is none."""
    flat: Any
    """Consecutive generations with flat values."""
    patience: Any
    """Generations whose equal values say nothing: in whole numbers the points of a generation may all be the same."""
    stagnates: Any
    """True if best and median values no longer improve."""
    stagnation: Any
    """Generations over which they are compared."""
    condition: Any
    """Condition number of the covariance; NaN where it is unknown or was not computed."""
    failed: Any
    """Consecutive generations without a finite value."""


class Counts(NamedTuple):
    """The input of limits: counts of a run or of a whole search."""

    nfev: int
    nit: int
    best_f: float
    elapsed: float


Test = Callable[[Observed, Any], Any]
"""Takes what was observed and the tolerance."""


@dataclass(frozen=True)
class Criterion:
    """A reason to stop; by itself one that comes from outside, such as an interrupt."""

    name: str
    sentence: str
    """The message of the result; {:g} stands for the threshold."""
    success: bool = False
    """True if a run that stops for this reason has found what it looked for."""
    flat: str | None = None
    """The message where values are equal because the objective has steps, which is no success; None where that cannot be."""
    final: bool = False
    """True if no restart follows a run that stops for this reason."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)  # its functions have no names


def _named(name: str) -> Criterion:
    from thalweg.search.stopping import CRITERIA

    return next(each for each in CRITERIA if each.name == name)


@dataclass(frozen=True)
class Tolerance(Criterion):
    """A criterion that looks at the run after each generation.

    >>> high = Tolerance("high", "The values are above {:g}.", holds=lambda seen, limit: seen.best_f > limit, default=10.0)
    """

    holds: Test = lambda seen, tolerance: False
    """Returns True where the criterion holds. NaN must count as False: compare so that it does."""
    default: float | None = None
    """The tolerance, unless `options` sets it by the criterion's name."""
    option: bool = True
    """False for criteria without a tolerance."""
    threshold: Test = lambda seen, tolerance: tolerance
    """Returns the number that the sentence shows."""


@dataclass(frozen=True)
class Limit(Criterion):
    """A criterion that compares a count with the field of the budget that has its name."""

    reached: Callable[[Counts, Any], bool] = lambda counts, limit: False
