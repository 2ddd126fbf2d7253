"""Evaluation of points: one by one, as a batch, in processes, by a map, by any executor, on Ray or on Dask.

An objective may return NaN, inf or None, raise, hang, or take its process down: the point is tried again as often as one likes,
then ranks last, and the run goes on.
"""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from thalweg._common.checks import as_count, as_positive, shortened
from thalweg._common.outcome import PENDING, Failure, Objective, Outcome, to_value
from thalweg.evaluate.attempts import Attempts
from thalweg.evaluate.base import Batch, Engine, Ticket
from thalweg.evaluate.choice import Workers, choose
from thalweg.evaluate.dask_engine import Dask
from thalweg.evaluate.ray_engine import Ray

logger = logging.getLogger("thalweg")

Record = Callable[[int, Outcome], None]
"""Told of each outcome of a generation, by its place, at the moment when it is known."""


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C while a generation was evaluated; `values` holds what was finished, NaN elsewhere."""

    def __init__(self, values: np.ndarray) -> None:
        super().__init__()
        self.values = values


class Evaluator:
    """Evaluates points and keeps account of failures; a context manager that ends what it has started.

    A generation in one call:

    >>> with Evaluator(lambda x: (x**2).sum()) as evaluate:
    ...     evaluate(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [5.0, 9.0]

    Or point by point, under tickets of one's own:

    >>> with Evaluator(lambda x: (x**2).sum()) as evaluate:
    ...     evaluate.start("a", np.array([1.0, 2.0]))
    ...     [(ticket, outcome.f, outcome.attempts) for ticket, outcome in evaluate.finished()]
    [('a', 5.0, 1)]
    """

    def __init__(
        self,
        fun: Objective,
        args: tuple[Any, ...] = (),
        workers: Workers = 1,
        *,
        vectorized: bool = False,
        retries: int = 0,
        eval_timeout: float | None = None,
    ) -> None:
        if not callable(fun):
            raise TypeError(f"fun must be callable, got {shortened(fun)}")
        if not isinstance(args, tuple):
            raise TypeError(f"args must be a tuple of further arguments of fun, got {shortened(args)}; write (value,)")
        self.retries = as_count(retries, "retries", least=0)
        self.eval_timeout = None if eval_timeout is None else as_positive(eval_timeout, "eval_timeout")
        self.engine = choose(fun, args, workers, vectorized=vectorized, timed=eval_timeout is not None)
        self.attempts = Attempts(self.engine, self.retries, self.eval_timeout) if isinstance(self.engine, Engine) else None
        self.failures = 0
        self.first_failure: str | None = None
        self.cause: BaseException | None = None
        """What was raised first."""
        self.answered = False
        """Whether the objective has ever returned anything."""

    def __call__(
        self,
        points: np.ndarray,
        timeout: float | None = None,
        known: Mapping[int, Outcome] | None = None,
        record: Record | None = None,
    ) -> np.ndarray:
        """The values of the points, NaN where there is none; those that are known already are not evaluated.

        After `timeout` seconds those that are still evaluated are given up, by engines that can. `record` is told of each
        outcome as soon as it is known.
        """
        known = known or {}
        outcomes: list[Outcome | None] = [known.get(i) for i in range(len(points))]
        missing = [i for i, outcome in enumerate(outcomes) if outcome is None]

        def keep(i: int, outcome: Outcome) -> None:
            outcomes[i] = outcome
            if record is not None:
                record(i, outcome)

        try:
            if isinstance(self.engine, Batch):
                values = self._batch(self.engine, points, missing, keep, plain=record is None and not known)
                if values is not None:
                    self.answered = True
                    return values
            else:
                self._each(points, missing, keep, timeout)
        except KeyboardInterrupt:
            raise Interrupted(np.array([np.nan if outcome is None else outcome.f for outcome in outcomes])) from None
        for x, outcome in zip(points, outcomes, strict=True):
            self._count(x, Outcome(PENDING) if outcome is None else outcome)
        self.check()
        return np.array([np.nan if outcome is None else outcome.f for outcome in outcomes])

    @property
    def slots(self) -> int:
        """How many evaluations can go on at a time."""
        return self._single().engine.slots

    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        """Take a point: it is evaluated as soon as a worker is free."""
        self._single().start(ticket, x)

    def finished(self, timeout: float | None = None) -> list[tuple[Ticket, Outcome]]:
        """Wait at most `timeout` seconds for the next outcomes; none if no point is open. Failures are counted."""
        attempts = self._single()
        points = {ticket: attempt.x for ticket, attempt in attempts.open.items()}
        return self._counted(attempts.finished(timeout), points)

    def collect(self) -> list[tuple[Ticket, Outcome]]:
        """What has finished by now, after which nothing is started."""
        attempts = self._single()
        points = {ticket: attempt.x for ticket, attempt in attempts.open.items()}
        return self._counted(attempts.collect(), points)

    def drop(self) -> None:
        """Give up all points that are open."""
        self._single().drop()

    def check(self) -> None:
        """Raise an error if all evaluations so far have raised, died or taken too long."""
        if self.answered or not self.failures:
            return
        error = self.cause
        how = f"with {type(error).__name__}: {error}" if error is not None else f"because {self.first_failure}"
        raise RuntimeError(
            f"all {self.failures} evaluations so far have failed, the first one {how}; "
            "check that fun accepts a point of shape (d,), or with vectorized=True (n, d), and the args given"
        ) from error

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.close()

    def _counted(
        self, found: list[tuple[Ticket, Outcome]], points: Mapping[Ticket, np.ndarray]
    ) -> list[tuple[Ticket, Outcome]]:
        for ticket, outcome in found:
            self._count(points[ticket], outcome)
        return found

    def _single(self) -> Attempts:
        if self.attempts is None:
            raise ValueError(
                "vectorized=True or a map takes whole generations; for single points pass workers as a number or an executor"
            )
        return self.attempts

    def _each(self, points: np.ndarray, missing: list[int], keep: Record, timeout: float | None) -> None:
        attempts, end = self._single(), None if timeout is None else time.monotonic() + timeout
        try:
            for i in missing:
                attempts.start(i, points[i])
            while attempts.open:
                found = attempts.finished(None if end is None else max(0.0, end - time.monotonic()))
                for i, outcome in found:
                    keep(i, outcome)
                if not found:
                    break
        except KeyboardInterrupt:
            for i, outcome in attempts.collect():
                keep(i, outcome)
            raise
        finally:
            attempts.drop()

    def _batch(self, engine: Batch, points: np.ndarray, missing: list[int], keep: Record, *, plain: bool) -> np.ndarray | None:
        """Evaluate a generation at once, then those points again that failed."""
        for attempt in range(1, self.retries + 2):
            if not missing:
                break
            found = engine.run(points[missing])  # a copy, as an objective may write into its argument
            if isinstance(found, np.ndarray):
                if plain and len(found) == len(points):
                    return found
                found = [Outcome(float(f)) for f in found]
            again: list[int] = []
            for i, outcome in zip(missing, found, strict=True):
                if isinstance(outcome.value, Failure) and attempt <= self.retries:
                    again.append(i)
                else:
                    keep(i, outcome._replace(attempts=attempt))
            missing = again
        return None

    def _count(self, x: np.ndarray, outcome: Outcome) -> None:
        """Keep account of an outcome; the first failure is logged and kept."""
        failure = outcome.value
        if not isinstance(failure, Failure):
            self.answered = True
            return
        self.failures += 1
        self.answered = self.answered or failure.answered
        self.cause = self.cause or failure.error
        if self.first_failure is None:
            self.first_failure = failure.reason
            logger.warning("%s, at x = %s", failure.reason, shortened(x.tolist()), exc_info=failure.error)


__all__ = ["Dask", "Evaluator", "Interrupted", "Ray", "Ticket", "Workers", "to_value"]
