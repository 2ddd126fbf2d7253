"""What an evaluation may give: a number, or a failure that says why there is none.

`remote` is what other processes run. It travels by value, with the functions here that it calls, so that a worker needs neither
this package nor JAX; therefore it hands back plain tuples.
"""

import logging
import os
import pickle
import platform
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from thalweg._common.checks import shortened

logger = logging.getLogger("thalweg")

Objective = Callable[..., Any]


class Failure(NamedTuple):
    """An evaluation without a number: it ranks last."""

    reason: str
    error: BaseException | None = None
    """What the objective raised, if it did; if that was in another process, with the traceback there as a note."""
    answered: bool = False
    """Whether the objective did return, so that it is no error of all evaluations."""


PENDING = Failure("the evaluation did not finish", answered=True)


class Noted(float):
    """A value that has something to tell besides; it reaches whoever records outcomes, from other processes too.

    >>> Noted(2.5, "3 steps") + 1, Noted(2.5, "3 steps").note
    (3.5, '3 steps')
    """

    note: Any

    def __new__(cls, value: float, note: Any) -> "Noted":
        noted = super().__new__(cls, value)
        noted.note = note
        return noted


class Outcome(NamedTuple):
    """How an evaluation ended."""

    value: float | Failure
    worker: str | None = None
    seconds: float | None = None
    """Inside the objective, in the last attempt."""
    attempts: int = 1
    note: Any = None
    """What a `Noted` value had to tell."""

    @property
    def f(self) -> float:
        """The value, NaN where there is none."""
        return np.nan if isinstance(self.value, Failure) else self.value

    @property
    def error(self) -> str | None:
        """Why there is none."""
        return self.value.reason if isinstance(self.value, Failure) else None


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
    reason = f"the objective returned {shortened(returned)}" + (f" of shape {shape}" if shape else "")
    return Failure(reason, answered=True)


def raised(error: BaseException) -> Failure:
    """The failure that stands for an exception."""
    return Failure(f"the objective raised {type(error).__name__}: {error}", error)


def evaluated(fun: Objective, args: tuple[Any, ...], x: np.ndarray) -> Outcome:
    """One evaluation in this process."""
    started = time.perf_counter()
    try:
        returned = fun(x, *args)
    except Exception as error:
        returned = raised(error)
    seconds = time.perf_counter() - started
    return Outcome(to_value(returned), threading.current_thread().name, seconds, note=note_of(returned))


def note_of(returned: Any) -> Any:
    """What came with a value: told by its attribute, as a class that travelled by value is not the same on the other side."""
    return getattr(returned, "note", None) if isinstance(returned, float) else None


Plain = tuple[float | None, str, bool, bytes | None, str, str, float, bytes | None]
"""An outcome on its way between processes: value, reason, answered, pickled error, traceback, worker, seconds, pickled note."""


def remote(fun: Objective, args: tuple[Any, ...]) -> Callable[[np.ndarray], Plain]:
    """The objective as another process calls it."""

    def evaluate(x: np.ndarray) -> Plain:
        worker = f"{platform.node()}:{os.getpid()}"
        x = np.array(x)  # what comes out of a shared memory is read-only
        started = time.perf_counter()
        try:
            returned = fun(x, *args)
        except (Exception, SystemExit) as error:
            seconds = time.perf_counter() - started
            try:
                pickled = pickle.dumps(error)
                pickle.loads(pickled)
            except Exception:  # not every exception survives the way between processes; its text does
                pickled = None
            reason = f"the objective raised {type(error).__name__}: {error}"
            return None, reason, False, pickled, traceback.format_exc(), worker, seconds, None
        seconds = time.perf_counter() - started
        value = to_value(returned)
        if isinstance(value, Failure):
            return None, value.reason, True, None, "", worker, seconds, None
        note = note_of(returned)
        return value, "", True, None, "", worker, seconds, None if note is None else pickle.dumps(note)

    return evaluate


def received(plain: Plain) -> Outcome:
    """The outcome that another process has sent."""
    value, reason, answered, pickled, text, worker, seconds, note = plain
    if value is not None:
        return Outcome(value, worker, seconds, note=None if note is None else pickle.loads(note))
    error: BaseException | None = None
    if not answered:
        try:
            error = cast("BaseException", pickle.loads(pickled)) if pickled is not None else RuntimeError(reason)
        except Exception:  # its class is known over there alone
            error = RuntimeError(reason)
        error.add_note(f"\nIn the worker {worker}:\n{text}")
    return Outcome(Failure(reason, error, answered), worker, seconds)
