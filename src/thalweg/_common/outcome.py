"""Outcome of an evaluation: a number, or a failure with its reason."""

import logging
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from thalweg._common.checks import as_text, shortened
from thalweg._common.constrained_objective import Rows, split

logger = logging.getLogger("thalweg")

Objective = Callable[..., Any]


RETURNED = "the objective returned "
"""Begin of the reason of a failure by a value that is no number."""
LONGEST = 10_000
"""Number of characters of an exception's text that are kept, half of them from its end."""


class Failure(NamedTuple):
    """An evaluation that gave no number. Its point ranks last."""

    reason: str
    error: BaseException | None = None
    """Exception that the objective raised, if any. One from another process carries the traceback there as a note."""
    answered: bool = False
    """True if the objective came to its end, or the failure was dealt with before."""

    @property
    def no_number(self) -> bool:
        """True if the objective returned something that is no number."""
        return self.reason.startswith(RETURNED)


NOT_FINISHED = Failure("the evaluation did not finish", answered=True)


class Noted(float):
    """A function value with a note, which reaches `Outcome.note` from other processes too.

    >>> Noted(2.5, "3 steps") + 1, Noted(2.5, "3 steps").note
    (3.5, '3 steps')
    """

    note: Any

    def __new__(cls, value: float, note: Any) -> "Noted":
        noted = super().__new__(cls, value)
        noted.note = note
        return noted


class Outcome(NamedTuple):
    """Result of an evaluation and its circumstances."""

    value: float | Failure
    worker: str | None = None
    """Name of the thread or process that evaluated the point."""
    seconds: float | None = None
    """Duration of the last attempt, inside the objective."""
    attempts: int = 1
    """Number of times the evaluation was started."""
    note: Any = None
    """Note of a `Noted` value."""
    rows: Rows | None = None
    """Constraint values g and h, if the objective has returned any."""

    @property
    def f(self) -> float:
        """Function value, NaN after a failure."""
        return np.nan if isinstance(self.value, Failure) else self.value

    @property
    def error(self) -> str | None:
        """Reason of the failure, None if there is a value."""
        return self.value.reason if isinstance(self.value, Failure) else None


def to_value(returned: Any) -> float | Failure:
    """Convert what an objective returned to a float, or to a failure if it is no real number.

    Arrays with one element count as numbers; None, text and complex numbers as failures.

    >>> to_value(np.array([2.5])), to_value(None).reason
    (2.5, 'the objective returned None')
    """
    value: Any = returned
    if isinstance(returned, Failure):
        return returned
    shape = ""
    try:
        if isinstance(returned, list | tuple) and len(cast("Sequence[Any]", returned)) == 1:
            value = returned[0]
        if hasattr(value, "item"):  # arrays of numpy, JAX, torch
            value = np.ma.masked if np.ma.is_masked(value) else value.item()  # the item of a masked array is what lies beneath
        dimensions: Any = getattr(returned, "shape", ())
        shape = f" of shape {as_text(dimensions)}" if dimensions else ""
        if value is not None and value is not np.ma.masked and not isinstance(value, str | bytes | complex):
            return float(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # foreign objects may raise anything here
        logger.debug("the objective returned no number: %s", as_text(error))
    return Failure(f"{RETURNED}{shortened(returned)}{shape}", answered=True)


def raised(error: BaseException) -> Failure:
    """Return the failure for an exception that the objective raised.

    >>> raised(ValueError("no licence")).reason, raised(MemoryError()).reason
    ('the objective raised ValueError: no licence', 'the objective raised MemoryError')
    """
    return Failure(f"the objective raised {described(error)}", error)


def described(error: BaseException) -> str:
    """Return the name of an exception, and its text if it has one; of a very long text its two ends.

    >>> described(KeyError("rate")), len(described(ValueError(10**6 * "x"))) < 2 * LONGEST
    ("KeyError: 'rate'", True)
    """
    text = as_text(error)
    if len(text) > LONGEST:  # each checkpoint would hold all of it
        text = f"{text[: LONGEST // 2]} [...] {text[-LONGEST // 2 :]}"
    return f"{type(error).__name__}: {text}".removesuffix(": ")


def showable(error: BaseException) -> BaseException:
    """Return the exception, or if it cannot be shown as UTF-8 another one that holds its text."""
    try:
        "".join(traceback.format_exception(error)).encode()
        return error
    except KeyboardInterrupt:
        raise
    except BaseException:  # foreign exceptions may raise anything here
        shown = RuntimeError(f"{type(error).__name__}: {as_text(error)}")
        shown.add_note(as_text(error, lambda error: "".join(traceback.format_exception(error))))
        return shown


def note_of(returned: Any) -> Any:
    """Return the note of a `Noted` value, else None.

    The attribute decides: in another process the class, pickled by value, is not the one here.
    """
    return getattr(returned, "note", None) if isinstance(returned, float) else None


def evaluate_here(fun: Objective, args: tuple[Any, ...], x: np.ndarray) -> Outcome:
    """Evaluate one point in this thread. Each exception but that of Ctrl-C is a failure, also `SystemExit`."""
    started, seconds, rows, note = time.perf_counter(), None, None, None
    try:
        returned = fun(x, *args)
        seconds = time.perf_counter() - started
        returned, rows = split(returned)
        value, note = checked(to_value(returned), rows), note_of(returned)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        value = raised(error)
    seconds = time.perf_counter() - started if seconds is None else seconds
    return Outcome(value, as_text(threading.current_thread().name), seconds, note=note, rows=rows)


def checked(value: float | Failure, rows: Rows | None) -> float | Failure:
    """Return the value, or a failure if a constraint value is not finite."""
    if rows is None or isinstance(value, Failure) or np.all(np.isfinite(rows[0] + rows[1])):
        return value
    return Failure(f"the constraints have the values {shortened(rows[0] + rows[1])}", answered=True)
