"""When a run ends: pycma's criteria with pycma's defaults, each with a sentence that says what happened."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from thalweg.validation import as_count, as_number, as_positive


class Reason(NamedTuple):
    status: int
    """`status` of the result."""
    success: bool
    """Whether a run that ends so has done what it was asked for."""
    sentence: str


REASONS: dict[str, Reason] = {
    "ftarget": Reason(0, True, "The target value ftarget = {:g} was reached."),
    "tolx": Reason(1, True, "Converged: steps and standard deviations are below tolx = {:g} times sigma0."),
    "tolfun": Reason(2, True, "Converged: recent values differ by less than tolfun = {:g}."),
    "tolfunhist": Reason(3, True, "Converged: the best values of recent generations differ by less than tolfunhist = {:g}."),
    "noeffectcoord": Reason(4, True, "Converged: a step of 0.2 standard deviations no longer changes coordinate {:g}."),
    "tolflatfitness": Reason(5, False, "The objective is flat: most values of {:g} generations in a row are equal."),
    "tolstagnation": Reason(
        6, False, "Stagnation: the medians of best and median value have not improved over {:g} generations."
    ),
    "tolconditioncov": Reason(7, False, "The condition number of the covariance exceeds tolconditioncov = {:g}."),
    "tolfacupx": Reason(8, False, "Diverged: a standard deviation has grown beyond tolfacupx = {:g} times sigma0."),
    "max_evals": Reason(9, False, "The budget of max_evals = {:g} evaluations is used up."),
    "max_iter": Reason(10, False, "The budget of max_iter = {:g} generations is used up."),
    "timeout": Reason(11, False, "The time of timeout = {:g} seconds is used up."),
    "failures": Reason(12, False, "No generation of the last {:g} had a single finite value."),
    "nonfinite": Reason(13, False, "Numerical breakdown: the search distribution is no longer finite after generation {:g}."),
    "callback": Reason(14, False, "The callback raised StopIteration in generation {:g}."),
    "interrupt": Reason(15, False, "Interrupted from the keyboard in generation {:g}."),
}
"""All stop reasons, the most telling first: a result's `status` is that of the first that holds."""


@dataclass(frozen=True)
class Tolerances:
    """Thresholds of the stop criteria, set through `options`; 0 (for the last three: inf) turns one off.

    >>> Tolerances.pick({"tolx": 1e-6, "active": False})
    (Tolerances(tolx=1e-06, ...), {'active': False})
    """

    tolx: float = 1e-11
    """In units of sigma0."""
    tolfun: float = 1e-11
    tolfunhist: float = 1e-12
    tolstagnation: float | None = None
    """In generations; None is pycma's 100 + 100 d^1.5 / popsize."""
    tolflatfitness: float = 1
    tolconditioncov: float = 1e14
    tolfacupx: float = 1e3

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and as_number(value, f"option {name!r}") < 0:
                raise ValueError(f"option {name!r} must be 0 or above, got {value:g}; 0 or inf turns a criterion off")

    @classmethod
    def pick(cls, options: Mapping[str, Any] | None) -> "tuple[Tolerances, dict[str, Any]]":
        """The tolerances among the options, and the other options."""
        if options is not None and not isinstance(options, Mapping):
            raise TypeError(f"options must be a dictionary, got {options!r}")
        options = dict(options or {})
        names = [tolerance.name for tolerance in fields(cls)]
        return cls(**{name: options.pop(name) for name in names if name in options}), options


@dataclass(frozen=True)
class Budget:
    """What a run may cost at most, and the value at which it is done; None is no limit."""

    max_evals: int | None = None
    max_iter: int | None = None
    ftarget: float | None = None
    timeout: float | None = None

    @classmethod
    def checked(cls, max_evals: Any, max_iter: Any, ftarget: Any, timeout: Any) -> "Budget":
        """A budget from what a user wrote."""
        return cls(
            None if max_evals is None or max_evals == inf else as_count(max_evals, "max_evals"),
            None if max_iter is None or max_iter == inf else as_count(max_iter, "max_iter"),
            None if ftarget is None else as_number(ftarget, "ftarget"),
            None if timeout is None or timeout == inf else as_positive(timeout, "timeout"),
        )

    @property
    def limited(self) -> bool:
        """Whether the run must end some day."""
        return not (self.max_evals is None and self.max_iter is None and self.timeout is None)


def default_max_iter(d: int, popsize: int) -> int:
    """pycma's limit on generations, for runs without any other budget."""
    return int(100 + 150 * (d + 3) ** 2 // popsize**0.5)


class Generation(NamedTuple):
    """What the stop tests look at after a generation."""

    f: np.ndarray
    """The values, failures as inf, ascending."""
    mean: np.ndarray
    std: np.ndarray
    condition: float
    """Of the covariance; NaN where it is unknown or was not computed this time."""
    finite: bool
    """Whether the state is."""
    nfev: int
    best_f: float
    best_nfev: int
    """How many evaluations it took to the best point."""


@dataclass
class StopTests:
    """The criteria that look at the course of a run. Its fields below the first four are all it remembers."""

    d: int
    popsize: int
    sigma0: float
    tolerances: Tolerances
    nit: int = 0
    recent: list[float] = field(default_factory=list[float])
    """Best values of the last generations."""
    bests: list[float] = field(default_factory=list[float])
    """Best value of every fifth generation, newest last."""
    medians: list[float] = field(default_factory=list[float])
    flat: int = 0
    """Generations in a row with flat values."""
    failed: int = 0
    """Generations in a row without a finite value."""
    first: float = inf
    """Best value of the first generation."""
    reasons: dict[str, float] = field(default_factory=dict[str, float])

    def observe(self, now: Generation, previous_mean: np.ndarray) -> None:
        """Take a generation into account and renew `reasons`."""
        best = float(now.f[0])
        if self.nit == 0:
            self.first = best
        self.nit += 1
        self.recent = [*self.recent, best][-int(10 + 30 * self.d / self.popsize) :]
        if self.nit % 5 == 0:
            for history, newest in (
                (self.bests, best),
                (self.medians, float(now.f[(self.popsize - 1) // 2 : self.popsize // 2 + 1].mean())),
            ):
                history.append(newest)
                del history[:-20000]
        self.failed = 0 if isfinite(best) else self.failed + 1
        if isfinite(best):  # a generation of failures says nothing about flatness
            self.flat = self.flat + 1 if best == now.f[int(0.75 * self.popsize)] else 0
        self.reasons = dict(self._reasons(now, previous_mean))

    def _reasons(self, now: Generation, previous_mean: np.ndarray) -> list[tuple[str, float]]:
        t = self.tolerances
        if not now.finite:
            return [("nonfinite", self.nit)]
        # in floats of Python, which are quicker than arrays of one; inf - inf is NaN, and NaN is below no tolerance
        range_now = float(now.f[-1]) - float(now.f[0])
        range_recent = max(self.recent) - min(self.recent)
        largest, tiny = float(now.std.max()), t.tolx * self.sigma0
        still = now.mean == now.mean + 0.2 * now.std
        stagnation = 100 + 100 * self.d**1.5 / self.popsize if t.tolstagnation is None else t.tolstagnation
        tests = [
            ("tolx", largest < tiny and float(np.abs(now.mean - previous_mean).max()) < tiny, t.tolx),
            ("tolfun", range_now < t.tolfun and range_recent < t.tolfun, t.tolfun),
            ("tolfunhist", len(self.recent) > 9 and range_recent < t.tolfunhist, t.tolfunhist),
            ("noeffectcoord", still.any(), float(still.argmax())),
            ("tolflatfitness", self.flat > t.tolflatfitness, self.flat),
            ("tolstagnation", self.nit % 5 == 0 and stagnation > 0 and self._stagnates(now, stagnation), stagnation),
            ("tolconditioncov", now.condition > t.tolconditioncov > 0, t.tolconditioncov),
            ("tolfacupx", t.tolfacupx > 0 and largest > t.tolfacupx * self.sigma0, t.tolfacupx),
            ("failures", self.failed >= 20, self.failed),
        ]
        return [(name, value) for name, holds, value in tests if holds]

    def _stagnates(self, now: Generation, generations: float) -> bool:
        """pycma's rule: neither best nor median improved from the older to the newer part of the history."""
        part = int(max(generations / 5 / 2, len(self.bests) / 10))
        return (
            self.nit > self.d * (5 + 100 / self.popsize)
            and (now.nfev - now.best_nfev) / self.popsize > generations / 2
            and len(self.bests) > max(100, 2 * part)
            and bool(np.median(self.medians[-part:]) >= np.median(self.medians[-2 * part : -part]))
            and bool(np.median(self.bests[-part:]) >= np.median(self.bests[-2 * part : -part]))
        )


def spent(budget: Budget, nfev: int, nit: int, best_f: float, elapsed: float) -> dict[str, float]:
    """The criteria that only count: target, evaluations, generations, time.

    >>> spent(Budget(max_evals=100), nfev=102, nit=17, best_f=3.0, elapsed=0.5)
    {'max_evals': 100}
    """
    tests = [
        ("ftarget", budget.ftarget, budget.ftarget is not None and best_f <= budget.ftarget),
        ("max_evals", budget.max_evals, budget.max_evals is not None and nfev >= budget.max_evals),
        ("max_iter", budget.max_iter, budget.max_iter is not None and nit >= budget.max_iter),
        ("timeout", budget.timeout, budget.timeout is not None and elapsed >= budget.timeout),
    ]
    return {name: limit for name, limit, holds in tests if holds and limit is not None}


def verdict(reasons: Mapping[str, float], *, improved: bool) -> tuple[int, bool, str]:
    """Status, success and message of a run that ended for these reasons.

    A flat objective counts as converged if the run had improved on its first generation before: then it is the rounding of the
    values that makes them equal.

    >>> verdict({"ftarget": 1e-8}, improved=True)
    (0, True, 'The target value ftarget = 1e-08 was reached.')
    """
    names = [name for name in REASONS if name in reasons]
    if not names:
        return -1, False, "The run has not stopped."
    success = any(REASONS[name].success or (name == "tolflatfitness" and improved) for name in names)
    return REASONS[names[0]].status, success, " ".join(REASONS[name].sentence.format(reasons[name]) for name in names)
