"""Variables of an objective: ranges of real numbers, ranges of whole numbers, and fixed values."""

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from thalweg._common.checks import as_flag, as_number, as_positive
from thalweg.space.bounds import LARGEST, width_fault
from thalweg.space.coordinates import MOST

CATEGORICAL = (
    "is a choice among categories, which a search by steps cannot order; let Optuna's suggest_categorical choose it around a "
    "search over the other variables, or make a run for each"
)


@dataclass(frozen=True)
class Real:
    """A real number from `low` to `high`; None is an open side.

    >>> Real(1e-5, 1e-1, log=True)
    Real(1e-05, 0.1, log=True)
    """

    low: float | None = None
    high: float | None = None
    log: bool = False
    """True to search its logarithm: for numbers above 0 whose order of magnitude is unknown."""
    x0: float | None = None
    """The start; None is the middle of the range, with `log` the middle of the logarithms."""
    sigma0: float | None = None
    """The first standard deviation, with `log` that of the natural logarithm; None is 0.3 times the width of the range."""

    def __post_init__(self) -> None:
        _check_range(self, float)

    def __repr__(self) -> str:
        return _shown(self)


@dataclass(frozen=True)
class Integer:
    """A whole number from `low` to `high`, both included; None is an open side.

    >>> Integer(8, 512, log=True)
    Integer(8, 512, log=True)
    """

    low: int | None = None
    high: int | None = None
    log: bool = False
    x0: int | None = None
    sigma0: float | None = None

    def __post_init__(self) -> None:
        _check_range(self, int)

    def __repr__(self) -> str:
        return _shown(self)


@dataclass(frozen=True)
class Fixed:
    """A number that is not searched.

    >>> Fixed(0.99)
    Fixed(0.99)
    """

    value: float

    def __post_init__(self) -> None:
        number = as_number(self.value, "value of Fixed")
        if abs(number) == inf:
            raise ValueError(f"value of Fixed must be finite, got {self.value!r}")
        if abs(number) > LARGEST:
            raise ValueError(f"value of Fixed must be at most {LARGEST:g}, got {self.value!r}")
        whole = isinstance(self.value, int | np.integer)
        if whole and abs(number) > MOST:
            raise ValueError(f"value of Fixed must be at most 2^53 if it is a whole number, got {self.value!r}")
        object.__setattr__(self, "value", int(number) if whole else number)

    def __repr__(self) -> str:
        return f"Fixed({self.value!r})"


Variable = Real | Integer | Fixed


def _check_range(variable: Any, kind: type[float] | type[int]) -> None:
    """Check the fields of a variable, and make them Python's own numbers."""
    name = type(variable).__name__
    object.__setattr__(variable, "log", as_flag(variable.log, f"log of {name}"))
    for field in ("low", "high", "x0"):
        given = getattr(variable, field)
        if given is None:
            continue
        number = as_number(given, f"{field} of {name}")
        if abs(number) == inf:
            raise ValueError(f"{field} of {name} must be finite, got {given!r}; use None for an open side")
        if kind is int and (number != int(number) or abs(number) > MOST):
            raise ValueError(f"{field} of {name} must be a whole number of at most 2^53, got {given!r}")
        object.__setattr__(variable, field, kind(number))
    low, high, x0 = variable.low, variable.high, variable.x0
    if low is not None and high is not None and not low < high:
        raise ValueError(f"low of {name} must be below high, got {low!r} and {high!r}; use Fixed for a single value")
    for field, side in (("low", low), ("high", high)):
        if variable.log and side is not None and not side > 0:
            raise ValueError(f"{field} of {name} must be above 0 with log=True, got {side!r}")
    fault = width_fault(-inf if low is None else low, inf if high is None else high, log=variable.log)
    if fault is not None:
        raise ValueError(f"low and high of {name} are {fault}")
    if x0 is not None and ((low is not None and x0 < low) or (high is not None and x0 > high) or (variable.log and not x0 > 0)):
        raise ValueError(f"x0 of {name} must lie in its range, got {x0!r}")
    if variable.sigma0 is not None:
        object.__setattr__(variable, "sigma0", as_positive(variable.sigma0, f"sigma0 of {name}"))


def _shown(variable: Any) -> str:
    """Return the call that makes a variable, without fields that have their default."""
    more = [f"{name}={getattr(variable, name)!r}" for name in ("x0", "sigma0") if getattr(variable, name) is not None]
    sides = ", ".join([repr(variable.low), repr(variable.high), *(["log=True"] if variable.log else []), *more])
    return f"{type(variable).__name__}({sides})"
