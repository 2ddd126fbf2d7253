"""When a run ends: pycma's criteria with pycma's defaults, each with a sentence that says what happened."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from thalweg._common.checks import as_count, as_number, as_positive


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


class Seen(NamedTuple):
    """What the criteria compare: numbers for one generation of one run, or arrays over runs and generations."""

    recent: Any
    """How many best values are remembered."""
    range_now: Any
    range_recent: Any
    largest: Any
    """The largest standard deviation."""
    moved: Any
    """How far the mean has moved, in its fastest coordinate."""
    still: Any
    """The first coordinate that a step of 0.2 standard deviations does not change; -1 where there is none."""
    flat: Any
    """Generations in a row with flat values."""
    stagnates: Any
    condition: Any
    failed: Any
    """Generations in a row without a finite value."""


def criteria(t: Tolerances, sigma0: Any, stagnation: float, seen: Seen) -> list[tuple[str, Any, Any]]:
    """Each criterion by its name: whether it holds, and its threshold. NaN is below no tolerance and above none."""
    tiny = t.tolx * sigma0
    return [
        ("tolx", (seen.largest < tiny) & (seen.moved < tiny), t.tolx),
        ("tolfun", (seen.range_now < t.tolfun) & (seen.range_recent < t.tolfun), t.tolfun),
        ("tolfunhist", (seen.recent > 9) & (seen.range_recent < t.tolfunhist), t.tolfunhist),
        ("noeffectcoord", seen.still >= 0, seen.still),
        ("tolflatfitness", seen.flat > t.tolflatfitness, seen.flat),
        ("tolstagnation", seen.stagnates, stagnation),
        ("tolconditioncov", (seen.condition > t.tolconditioncov) & (t.tolconditioncov > 0), t.tolconditioncov),
        ("tolfacupx", (seen.largest > t.tolfacupx * sigma0) & (t.tolfacupx > 0), t.tolfacupx),
        ("failures", seen.failed >= 20, seen.failed),
    ]


MEMORY = 20000
"""How many of the values of every fifth generation are remembered."""


def remembered(d: int, popsize: int) -> int:
    """How many generations `recent` values come from."""
    return int(10 + 30 * d / popsize)


def stagnation_time(t: Tolerances, d: int, popsize: int) -> float:
    """In generations."""
    if t.tolstagnation is None:
        return 100 + 100 * d**1.5 / popsize
    return t.tolstagnation if isfinite(t.tolstagnation) else 0.0  # either never ends a run


def stagnation_part(generations: float, length: int) -> int:
    """How much of the history is compared with as much before it."""
    return int(max(generations / 5 / 2, length / 10))


def may_stagnate(d: int, popsize: int, generations: float, nit: Any, since_best: Any) -> Any:
    """Whether it is time to look at the history; `since_best` counts evaluations."""
    return (
        (generations > 0)
        & (nit % 5 == 0)
        & (nit > d * (5 + 100 / popsize))
        & (since_best / popsize > generations / 2)
        & (nit // 5 > max(100, 2 * stagnation_part(generations, 0)))  # at least as long the history must be, see `stagnates`
    )


def stagnates(generations: float, bests: list[float], medians: list[float]) -> bool:
    """pycma's rule: neither best nor median improved from the older to the newer part of the history."""
    part = stagnation_part(generations, len(bests))
    return (
        len(bests) > max(100, 2 * part)
        and bool(np.median(medians[-part:]) >= np.median(medians[-2 * part : -part]))
        and bool(np.median(bests[-part:]) >= np.median(bests[-2 * part : -part]))
    )


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
        self.recent = [*self.recent, best][-remembered(self.d, self.popsize) :]
        if self.nit % 5 == 0:
            for history, newest in (
                (self.bests, best),
                (self.medians, float(now.f[(self.popsize - 1) // 2 : self.popsize // 2 + 1].mean())),
            ):
                history.append(newest)
                del history[:-MEMORY]
        self.failed = 0 if isfinite(best) else self.failed + 1
        if isfinite(best):  # a generation of failures says nothing about flatness
            self.flat = self.flat + 1 if best == now.f[flat_place(self.popsize)] else 0
        self.reasons = dict(self._reasons(now, previous_mean))

    def _reasons(self, now: Generation, previous_mean: np.ndarray) -> list[tuple[str, float]]:
        if not now.finite:
            return [("nonfinite", self.nit)]
        still = now.mean == now.mean + 0.2 * now.std
        stagnation = stagnation_time(self.tolerances, self.d, self.popsize)
        since_best = now.nfev - now.best_nfev
        seen = Seen(  # in floats of Python, which are quicker than arrays of one; inf - inf is NaN
            recent=len(self.recent),
            range_now=float(now.f[-1]) - float(now.f[0]),
            range_recent=max(self.recent) - min(self.recent),
            largest=float(now.std.max()),
            moved=float(np.abs(now.mean - previous_mean).max()),
            still=int(still.argmax()) if still.any() else -1,
            flat=self.flat,
            stagnates=may_stagnate(self.d, self.popsize, stagnation, self.nit, since_best)
            and stagnates(stagnation, self.bests, self.medians),
            condition=now.condition,
            failed=self.failed,
        )
        tests = criteria(self.tolerances, self.sigma0, stagnation, seen)
        return [(name, value) for name, holds, value in tests if holds]


def flat_place(popsize: int) -> int:
    """Where, in the ascending values, the best value tells of a flat objective."""
    return int(0.75 * popsize)


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
