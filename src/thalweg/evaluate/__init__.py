"""Evaluation of generations: one by one, as a batch, in processes, by a map or by any executor.

An objective may return NaN, inf or None, or raise: the point then ranks last and the run goes on.
"""

import concurrent.futures as futures
import logging
import os
from typing import Any, cast

import numpy as np

from thalweg.evaluate.backends import Backend, Executor, MapLike, Mapped, Processes, Serial, Vectorized
from thalweg.validation import as_count, shortened
from thalweg.values import PENDING, Failure, Objective, to_value

logger = logging.getLogger("thalweg")

Workers = int | futures.Executor | MapLike


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C while a generation was evaluated; `values` holds what was finished, NaN elsewhere."""

    def __init__(self, values: np.ndarray) -> None:
        super().__init__()
        self.values = values


class Evaluator:
    """Evaluates generations of points and keeps account of failures; a context manager that ends its own processes.

    >>> with Evaluator(lambda x: (x**2).sum()) as evaluate:
    ...     evaluate(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [5.0, 9.0]
    """

    def __init__(self, fun: Objective, args: tuple[Any, ...] = (), workers: Workers = 1, *, vectorized: bool = False) -> None:
        if not callable(fun):
            raise TypeError(f"fun must be callable, got {shortened(fun)}")
        if not isinstance(args, tuple):
            raise TypeError(f"args must be a tuple of further arguments of fun, got {shortened(args)}; write (value,)")
        self.backend = choose_backend(fun, args, workers, vectorized=vectorized)
        self.failures = 0
        self.first_failure: str | None = None
        self.answered = False
        """Whether the objective has ever returned anything."""

    def __call__(self, points: np.ndarray, timeout: float | None = None) -> np.ndarray:
        """The values of the points, NaN where there is none. Only executors can keep to a timeout in seconds."""
        outcomes: list[Any] = [PENDING] * len(points)
        try:
            values = self.backend.run(points.copy(), outcomes, timeout)  # an objective may write into its argument
        except KeyboardInterrupt:
            finished = [to_value(outcome) for outcome in outcomes]
            raise Interrupted(np.array([np.nan if isinstance(v, Failure) else v for v in finished])) from None
        if values is not None:  # numbers already: no loop over large generations
            self.answered = True
            return values
        return self._settle(outcomes, points)

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(self, *_: object) -> None:
        self.backend.close()

    def _settle(self, outcomes: list[Any], points: np.ndarray) -> np.ndarray:
        """Outcomes to values; the first failure is logged and kept, and raised if the objective did nothing but raise."""
        values = np.full(len(points), np.nan)
        cause: BaseException | None = None
        for i, outcome in enumerate(outcomes):
            value = to_value(outcome)
            if not isinstance(value, Failure):
                values[i], self.answered = value, True
                continue
            self.failures += 1
            self.answered = self.answered or value.error is None
            cause = cause or value.error
            if self.first_failure is None:
                self.first_failure = value.reason
                logger.warning("%s, at x = %s", value.reason, shortened(points[i].tolist()), exc_info=value.error)
        if not self.answered:
            raise RuntimeError(
                f"all {self.failures} evaluations so far have failed, the first one with {type(cause).__name__}: {cause}; "
                "check that fun accepts a point of shape (d,), or with vectorized=True (n, d), and the args given"
            ) from cause
        return values


def choose_backend(fun: Objective, args: tuple[Any, ...], workers: Any, *, vectorized: bool) -> Backend:
    """The way of evaluation that `workers` and `vectorized` ask for."""
    if isinstance(workers, futures.Executor) or callable(workers):
        if vectorized:
            raise ValueError("vectorized=True hands fun the whole generation at once; leave workers out")
        if isinstance(workers, futures.Executor):
            return Executor(fun, args, workers)
        return Mapped(fun, args, cast("MapLike", workers))
    try:
        number = (os.cpu_count() or 1) if workers == -1 else as_count(workers, "workers")
    except TypeError:
        raise TypeError(
            f"workers must be a whole number, a map-like callable or a concurrent.futures.Executor, got {shortened(workers)}"
        ) from None
    if vectorized:
        if number > 1:
            raise ValueError(f"vectorized=True hands fun the whole generation at once; leave workers={number} out")
        return Vectorized(fun, args)
    return Serial(fun, args) if number == 1 else Processes(fun, args, number)


__all__ = ["Evaluator", "Interrupted", "Workers", "to_value"]
