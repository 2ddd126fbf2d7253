"""The budget of a search, and the criteria that end it when a limit is reached."""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

from thalweg._common.checks import as_count, as_number, as_positive
from thalweg.search.stopping.criterion import Counts, Criterion, Limit

FTARGET = Limit(
    "ftarget",
    "The target value ftarget = {:g} was reached.",
    success=True,
    final=True,
    reached=lambda counts, limit: counts.best_f <= limit,
)
MAX_EVALS = Limit(
    "max_evals",
    "The budget of max_evals = {:.0f} evaluations is used up.",
    reached=lambda counts, limit: counts.nfev >= limit,
)
MAX_ITER = Limit(
    "max_iter",
    "The budget of max_iter = {:.0f} generations is used up.",
    reached=lambda counts, limit: counts.nit >= limit,
)
TIMEOUT = Limit(
    "timeout",
    "The time of timeout = {:g} seconds is used up.",
    reached=lambda counts, limit: counts.elapsed >= limit,
)
CALLBACK = Criterion("callback", "The callback ended the run in generation {:.0f}.", final=True)
INTERRUPT = Criterion("interrupt", "Interrupted from the keyboard in generation {:.0f}.", final=True)
TERMINATED = Criterion("terminated", "Terminated by a signal in generation {:.0f}.", final=True)

LIMITS = (FTARGET, MAX_EVALS, MAX_ITER, TIMEOUT)


@dataclass(frozen=True)
class Budget:
    """Limits of a search, and the value at which it is done; None is no limit.

    >>> Budget(max_evals=100).spent(nfev=102, nit=17, best_f=3.0, elapsed=0.5)
    {'max_evals': 100}
    """

    max_evals: int | None = None
    max_iter: int | None = None
    ftarget: float | None = None
    timeout: float | None = None

    @classmethod
    def checked(cls, max_evals: Any, max_iter: Any, ftarget: Any, timeout: Any) -> "Budget":
        """Make a budget from a user's arguments."""
        return cls(
            None if _is_open(max_evals) else as_count(max_evals, "max_evals"),
            None if _is_open(max_iter) else as_count(max_iter, "max_iter"),
            None if ftarget is None else as_number(ftarget, "ftarget"),
            None if _is_open(timeout) else as_positive(timeout, "timeout"),
        )

    @cached_property
    def limits(self) -> list[tuple[Limit, float]]:
        """The limits that are set, each with its value."""
        values = [(limit, getattr(self, limit.name)) for limit in LIMITS]
        return [(limit, value) for limit, value in values if value is not None]

    def spent(self, nfev: int, nit: int, best_f: float, elapsed: float) -> dict[str, float]:
        """Return the limits that are reached, by name."""
        if not self.limits:
            return {}
        counts = Counts(nfev, nit, best_f, elapsed)
        return {limit.name: value for limit, value in self.limits if limit.reached(counts, value)}


def _is_open(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value == inf)


def default_max_iter(d: int, popsize: int) -> int:
    """Return pycma's limit on generations, for runs that nothing else limits."""
    return int(100 + 150 * (d + 3) ** 2 // popsize**0.5)
