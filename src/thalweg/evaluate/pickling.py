"""Objectives in other processes: pickled by value with cloudpickle, so that lambdas and functions of `__main__` work.

A worker imports neither this package nor JAX: the function that it calls brings all that it uses and returns plain tuples.
"""

import os
import pickle
import platform
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast, get_args

import numpy as np

from thalweg._common import checks, constrained_objective, mapping_objective, outcome
from thalweg._common.checks import as_text, shortened
from thalweg._common.constrained_objective import Rows, split
from thalweg._common.outcome import Failure, Objective, Outcome, checked, evaluate_here, to_value

PackedOutcome = tuple[float | None, str, bool, bytes | None, str, str, float | None, bytes | None, Rows | None]
"""An outcome between processes: value, reason, answered, pickled error, traceback, worker, seconds, note, constraints."""

IN_WORKER = "\nIn the worker "
"""Beginning of the note by which an exception from another process carries its traceback."""


def pickle_objective(fun: Objective, args: tuple[Any, ...]) -> bytes:
    """Return a pickle, for any Python process, of a function from a point to a `PackedOutcome`."""
    import cloudpickle

    by_value = (outcome, checks, constrained_objective, mapping_objective, sys.modules[__name__])
    for module in by_value:
        cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps(_packing(fun, args))
    except Exception as error:
        raise ValueError(
            f"{shortened(fun)} and its args go to other processes, but cannot be pickled ({type(error).__name__}: {error}); "
            "make what cannot be pickled inside fun, or pass workers=ThreadPoolExecutor(...)"
        ) from error
    finally:
        for module in by_value:
            cloudpickle.unregister_pickle_by_value(module)


def _packing(fun: Objective, args: tuple[Any, ...]) -> Callable[[np.ndarray], PackedOutcome]:
    def evaluate(x: np.ndarray) -> PackedOutcome:
        worker = f"{platform.node()}:{os.getpid()}"
        x = np.array(x)  # arrays from shared memory are read-only
        value, _, seconds, _, note, rows = evaluate_here(fun, args, x)
        if not isinstance(value, Failure):
            return value, "", True, None, "", worker, seconds, _pickled(note), rows
        text = "" if value.error is None else as_text(value.error, lambda error: "".join(traceback.format_exception(error)))
        return None, value.reason, value.answered, _pickled(value.error), text, worker, seconds, None, rows

    return evaluate


def _pickled(value: Any) -> bytes | None:
    """Return the pickle of an exception or a note; None for None, and for what does not survive pickling."""
    if value is None:
        return None
    try:
        pickle.loads(pickle.dumps(value))
        return pickle.dumps(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # foreign objects may raise anything here
        return None


def _unpickled(pickled: bytes | None) -> Any:
    """Return the object, or None if this process cannot make it: it may not know its class."""
    try:
        return None if pickled is None else pickle.loads(pickled)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return None


def unpack(packed: PackedOutcome) -> Outcome:
    """Return the outcome that another process has sent."""
    value, reason, answered, pickled, text, worker, seconds, note, rows = packed
    if value is not None:
        return Outcome(value, worker, seconds, note=_unpickled(note), rows=rows)
    error: BaseException | None = None
    if not answered:
        made = _unpickled(pickled)
        error = made if isinstance(made, BaseException) else RuntimeError(reason)
        BaseException.add_note(error, f"{IN_WORKER}{worker}:\n{text}")
    return Outcome(Failure(reason, error, answered), worker, seconds, rows=rows)


@dataclass
class PortableObjective:
    """The objective for a map or an executor, whose workers may be threads or processes. Pickled only if need be."""

    fun: Objective
    args: tuple[Any, ...]
    pickled: bytes | None = field(default=None, repr=False)

    def __call__(self, x: np.ndarray) -> Outcome:
        return evaluate_here(self.fun, self.args, x)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        if self.pickled is None:
            self.pickled = pickle_objective(self.fun, self.args)
        return pickle.loads, (self.pickled,)


def as_outcome(answer: Any) -> Outcome:
    """Convert what a `PortableObjective` returned, here or in another process, or a value from a map of the user's own."""
    if isinstance(answer, Outcome):
        return answer
    if isinstance(answer, tuple) and len(cast("PackedOutcome", answer)) == len(get_args(PackedOutcome)):
        return unpack(cast("PackedOutcome", answer))
    value, rows = split(answer)
    return Outcome(checked(to_value(value), rows), rows=rows)
