"""Stop criteria: pycma's, with pycma's defaults. A criterion is one object in `CRITERIA`; everything else reads that list.

Host and batch test the criteria, `options` sets their tolerances by name, results and checkpoints know them by name.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from thalweg._common.checks import as_number, one_of, shortened
from thalweg.search.stopping.budget import (
    CALLBACK,
    FTARGET,
    INTERRUPT,
    MAX_EVALS,
    MAX_ITER,
    TERMINATED,
    TIMEOUT,
    Budget,
    default_max_iter,
)
from thalweg.search.stopping.convergence import NOEFFECTCOORD, TOLFUN, TOLFUNHIST, TOLX
from thalweg.search.stopping.criterion import Criterion, Limit, Observed, Tolerance
from thalweg.search.stopping.resolution import TOLFUNREL
from thalweg.search.stopping.stagnation import TOLSTAGNATION
from thalweg.search.stopping.trouble import FAILURES, NONFINITE, TOLCONDITIONCOV, TOLFACUPX, TOLFLATFITNESS, UNBOUNDED
from thalweg.strategies.registry import check_options

__all__ = [
    "CRITERIA",
    "REASONS",
    "Budget",
    "Criterion",
    "Limit",
    "Observed",
    "Tolerance",
    "Tolerances",
    "default_max_iter",
    "is_final",
    "verdict",
]

CRITERIA: list[Criterion] = [
    FTARGET,
    TOLX,
    TOLFUN,
    TOLFUNHIST,
    NOEFFECTCOORD,
    TOLFLATFITNESS,
    TOLSTAGNATION,
    TOLCONDITIONCOV,
    TOLFACUPX,
    MAX_EVALS,
    MAX_ITER,
    TIMEOUT,
    FAILURES,
    NONFINITE,
    CALLBACK,
    INTERRUPT,
    UNBOUNDED,
    TOLFUNREL,
    TERMINATED,
]
"""All stop criteria, the most telling first. A result's `status` is the index of the first that holds."""


ARGUMENTS = {"popsize", "sigma0", "bounds", "restarts", "bipop", "seed", "max_evals", "max_iter", "ftarget", "timeout"}
"""Arguments of a search that are easily taken for options."""


class Reason(NamedTuple):
    """The status, success and message of a run that stopped for a reason."""

    status: int
    success: bool
    sentence: str


REASONS = {each.name: Reason(status, each.success, each.sentence) for status, each in enumerate(CRITERIA)}
"""The stop reasons by name."""


class Tolerances:
    """Thresholds of the stop criteria, set through `options`. 0 turns a criterion off; `tolflatfitness` is turned off by inf.

    >>> Tolerances(tolx=1e-6).tolx, Tolerances().tolfun
    (1e-06, 1e-11)
    """

    def __init__(self, **given: float | None) -> None:
        self.values: dict[str, float | None] = {each.name: each.default for each in _tolerances() if each.option}
        if unknown := given.keys() - self.values.keys():
            name = min(unknown)
            raise TypeError(f"there is no tolerance {name!r}; {one_of(name, list(self.values), 'the tolerances are')}")
        self.values |= given
        for name, value in self.values.items():
            if value is not None and as_number(value, f"option {name!r}") < 0:
                raise ValueError(f"option {name!r} must be 0 or above, got {value:g}; 0 or inf turns a criterion off")

    def __getattr__(self, name: str) -> float | None:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(f"there is no tolerance {name!r}") from None

    def __repr__(self) -> str:
        return f"Tolerances({', '.join(f'{name}={value}' for name, value in self.values.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tolerances) and self.values == other.values

    def __hash__(self) -> int:
        return hash(tuple(self.values.items()))

    @classmethod
    def pick(cls, options: Mapping[str, Any] | None, method: Any = None) -> "tuple[Tolerances, dict[str, Any]]":
        """Return the tolerances among the options, and the other options, which a method by its name must have.

        >>> Tolerances.pick({"tolx": 1e-6, "active": False})
        (Tolerances(tolx=1e-06, ...), {'active': False})
        """
        if options is not None and not isinstance(options, Mapping):
            raise TypeError(f"options must be a dictionary, got {options!r}")
        given = dict(options or {})
        if odd := [name for name in given if not isinstance(name, str)]:
            raise TypeError(f"options must have texts as names, got {shortened(odd[0])}")
        names = [each.name for each in _tolerances() if each.option]
        for name in given.keys() & ARGUMENTS:
            raise ValueError(
                f"option {name!r} is an argument of its own; pass {name}={shortened(given[name])}, not as an option"
            )
        if isinstance(method, str):
            check_options(method, given, names)
        return cls(**{name: given.pop(name) for name in names if name in given}), given

    def tests(self) -> list[tuple[Tolerance, float | None]]:
        """Return all criteria that look at the run, each with its tolerance."""
        return [(each, self.values.get(each.name)) for each in _tolerances()]


def verdict(reasons: Mapping[str, float], *, resolved: bool) -> tuple[int, bool, str]:
    """Return status, success and message of a run that ended for these reasons; see `is_resolved`.

    >>> verdict({"ftarget": 1e-8}, resolved=True)
    (0, True, 'The target value ftarget = 1e-08 was reached.')
    """
    held = [(status, each) for status, each in enumerate(CRITERIA) if each.name in reasons]
    if not held:
        return -1, False, "The run has not stopped."
    sentences = [each.sentence if resolved or each.flat is None else each.flat for _, each in held]
    success = any(each.success and (resolved or each.flat is None) for _, each in held)
    told = " ".join(sentence.format(reasons[each.name]) for sentence, (_, each) in zip(sentences, held, strict=True))
    return held[0][0], success, told


def is_final(reasons: Mapping[str, float]) -> bool:
    """Return whether one of the reasons forbids a restart."""
    return any(each.final for each in CRITERIA if each.name in reasons)


def _tolerances() -> list[Tolerance]:
    return [each for each in CRITERIA if isinstance(each, Tolerance)]
