"""What an evaluation may give: a number, or a failure that says why there is none."""

import logging
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from thalweg.validation import shortened

logger = logging.getLogger("thalweg")

Objective = Callable[..., Any]


class Failure(NamedTuple):
    """An evaluation without a number: it ranks last."""

    reason: str
    error: BaseException | None = None
    """What the objective raised, if it did."""


PENDING = Failure("the evaluation did not finish")


def to_value(returned: Any) -> float | Failure:
    """A function value as a float. Arrays with one element count as numbers; None, text and complex numbers as failures.

    >>> to_value(np.array([2.5])), to_value(None).reason
    (2.5, 'the objective returned None')
    """
    value: Any = returned
    if isinstance(returned, Failure):
        return returned
    try:
        if isinstance(returned, list | tuple) and len(cast("Sequence[Any]", returned)) == 1:
            value = returned[0]
        if hasattr(value, "item"):  # arrays of numpy, JAX, torch
            value = value.item()
        if value is not None and not isinstance(value, str | bytes | complex):
            return float(value)
    except Exception:  # whatever a foreign object may do when it is asked for a number
        logger.debug("the objective returned no number", exc_info=True)
    shape: Any = getattr(returned, "shape", ())
    return Failure(f"the objective returned {shortened(returned)}" + (f" of shape {shape}" if shape else ""))


def raised(error: BaseException) -> Failure:
    """The failure that stands for an exception."""
    return Failure(f"the objective raised {type(error).__name__}: {error}", error)


def guarded(fun: Objective, x: np.ndarray, args: tuple[Any, ...]) -> Any:
    """What the objective returns, or the failure that stands for what it raised."""
    try:
        return fun(x, *args)
    except Exception as error:
        return raised(error)


@dataclass(frozen=True)
class Guarded:
    """The objective as a map-like wants it: a function of one argument that never raises, picklable if the objective is."""

    fun: Objective
    args: tuple[Any, ...]

    def __call__(self, x: np.ndarray) -> Any:
        outcome = guarded(self.fun, x, self.args)
        if isinstance(outcome, Failure):
            try:
                pickle.loads(pickle.dumps(outcome.error))
            except Exception:  # not every exception survives the way between processes; its text does
                return Failure(outcome.reason, RuntimeError(outcome.reason))
        return outcome
