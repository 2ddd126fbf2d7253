"""Variables of an objective: ranges of real numbers, ranges of whole numbers, and fixed values."""

from dataclasses import dataclass
from typing import Any

from thalweg._common.checks import as_flag, as_number, as_positive


@dataclass(frozen=True)
class Real:
    """A real number from `low` to `high`; None is an open side.

    >>> Real(1e-5, 1e-1, log=True)
    Real(low=1e-05, high=0.1, log=True, x0=None, sigma0=None)
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
        _check_range(self)


@dataclass(frozen=True)
class Integer:
    """A whole number from `low` to `high`, both included; None is an open side.

    >>> Integer(8, 512, log=True).high
    512
    """

    low: int | None = None
    high: int | None = None
    log: bool = False
    x0: int | None = None
    sigma0: float | None = None

    def __post_init__(self) -> None:
        _check_range(self)
        for name in ("low", "high", "x0"):
            side = getattr(self, name)
            if side is not None and side != int(side):
                raise ValueError(f"{name} of an Integer must be a whole number, got {side!r}")


@dataclass(frozen=True)
class Fixed:
    """A number that is not searched.

    >>> Fixed(0.99).value
    0.99
    """

    value: float

    def __post_init__(self) -> None:
        if abs(as_number(self.value, "value of Fixed")) == float("inf"):
            raise ValueError(f"value of Fixed must be finite, got {self.value!r}")


Variable = Real | Integer | Fixed


def _check_range(variable: Any) -> None:
    kind = type(variable).__name__
    as_flag(variable.log, f"log of {kind}")
    for name in ("low", "high", "x0"):
        number = getattr(variable, name)
        if number is not None and abs(as_number(number, f"{name} of {kind}")) == float("inf"):
            raise ValueError(f"{name} of {kind} must be finite, got {number!r}; use None for an open side")
    low, high, x0 = variable.low, variable.high, variable.x0
    if low is not None and high is not None and not low < high:
        raise ValueError(f"low of {kind} must be below high, got {low!r} and {high!r}; use Fixed for a single value")
    if variable.log and low is not None and not low > 0:
        raise ValueError(f"low of {kind} must be above 0 with log=True, got {low!r}")
    if variable.log and high is not None and not high > 0:
        raise ValueError(f"high of {kind} must be above 0 with log=True, got {high!r}")
    if x0 is not None and ((low is not None and x0 < low) or (high is not None and x0 > high) or (variable.log and not x0 > 0)):
        raise ValueError(f"x0 of {kind} must lie in its range, got {x0!r}")
    if variable.sigma0 is not None:
        as_positive(variable.sigma0, f"sigma0 of {kind}")
