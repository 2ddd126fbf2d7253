"""`Evaluator`: evaluation of generations or single points by any engine, with a count of failures."""

import logging
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from thalweg._common.checks import as_count, as_positive, listed, shortened
from thalweg._common.constrained_objective import Rows
from thalweg._common.mapping_objective import MappingObjective
from thalweg._common.outcome import NOT_FINISHED, RETURNED, Failure, Objective, Outcome, described, showable
from thalweg.evaluate.base import Engine, PointId
from thalweg.evaluate.point_queue import PointQueue
from thalweg.evaluate.registry import Workers, choose
from thalweg.evaluate.simple_engines import GenerationEngine

logger = logging.getLogger("thalweg")

Record = Callable[[int, Outcome], None]
"""Called with the index of a point within its generation and its outcome, as soon as this is known."""


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C during the evaluation of a generation."""

    def __init__(self, values: np.ndarray, rows: list[Rows | None] | None = None) -> None:
        super().__init__()
        self.rows = rows
        """Constraint values, if there are any."""
        self.values = values
        """Function values of the generation, NaN where the evaluation had not finished."""


class AllFailedError(RuntimeError):
    """Raised if each evaluation of the first generation has failed."""

    problem = accepts = ""
    """Parts of the sentence: what has happened, and what the objective must accept."""


class Evaluator(AbstractContextManager["Evaluator"]):
    """Evaluates points and counts failures. As a context manager it ends the workers that it started.

    A generation in one call:

    >>> with Evaluator(lambda x: (x**2).sum()) as evaluate:
    ...     evaluate(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [5.0, 9.0]

    Or point by point, each with an identifier of the caller's choice:

    >>> with Evaluator(lambda x: (x**2).sum()) as evaluate:
    ...     evaluate.start("a", np.array([1.0, 2.0]))
    ...     [(point_id, outcome.f, outcome.attempts) for point_id, outcome in evaluate.finished()]
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
        self.fun, self.vectorized = fun, vectorized
        self.retries = as_count(retries, "retries", least=0)
        self.eval_timeout = None if eval_timeout is None else as_positive(eval_timeout, "eval_timeout")
        self.engine = choose(fun, args, workers, vectorized=vectorized, timed=eval_timeout is not None)
        self.queue = PointQueue(self.engine, self.retries, self.eval_timeout) if isinstance(self.engine, Engine) else None
        """Pending points; None if the engine takes whole generations only."""
        self.failures = 0
        """Number of points whose evaluation failed in all attempts."""
        self.first_failure: str | None = None
        """Reason of the first failure."""
        self.first_error: BaseException | None = None
        """First exception that the objective raised."""
        self.answered = False
        """True once the objective has returned a number."""
        self.no_number = True
        """True as long as each failure was one of an objective that came to its end."""
        self.rows: list[Rows | None] | None = None
        """Constraint values of the last generation, by point; None without any."""

    def __call__(
        self,
        points: np.ndarray,
        timeout: float | None = None,
        known: Mapping[int, Outcome] | None = None,
        record: Record | None = None,
    ) -> np.ndarray:
        """Evaluate a generation and return its function values, NaN after failures.

        Args:
            points: Points of the generation, (n, d).
            timeout: Seconds after which pending evaluations are cancelled, where the engine can do so.
            known: Outcomes by index, for points that need not be evaluated.
            record: Called with each new outcome as soon as it is known.
        """
        known, self.rows = known or {}, None
        outcomes: list[Outcome | None] = [known.get(i) for i in range(len(points))]
        missing = [i for i, outcome in enumerate(outcomes) if outcome is None]

        def keep(i: int, outcome: Outcome) -> None:
            outcomes[i] = outcome
            if record is not None:
                record(i, outcome)

        try:
            if isinstance(self.engine, Engine):
                self._each(points, missing, keep, timeout)
            else:
                values = self._all(self.engine, points, missing, keep, plain=record is None and not known)
                if values is not None:
                    self.answered = True
                    return values
        except KeyboardInterrupt:
            values = np.array([np.nan if outcome is None else outcome.f for outcome in outcomes])
            raise Interrupted(values, rows_of(outcomes)) from None
        for x, outcome in zip(points, outcomes, strict=True):
            self._count(x, Outcome(NOT_FINISHED) if outcome is None else outcome)
        self.raise_if_all_failed()
        self.rows = rows_of(outcomes)
        return np.array([np.nan if outcome is None else outcome.f for outcome in outcomes])

    @property
    def takes_single_points(self) -> bool:
        """True if points can be started one by one, False for a map or a vectorized objective."""
        return self.queue is not None

    @property
    def capacity(self) -> int:
        """Number of evaluations that can run at a time."""
        return self._queue().engine.capacity

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        """Queue a point, which is evaluated as soon as a worker is free."""
        self._queue().start(point_id, x)

    def finished(self, timeout: float | None = None) -> list[tuple[PointId, Outcome]]:
        """Return the next outcomes, of which there is at least one unless `timeout` seconds pass or no point is pending."""
        return self._counted(lambda queue: queue.finished(timeout))

    def collect(self) -> list[tuple[PointId, Outcome]]:
        """Return the outcomes that are there now, without starting further points."""
        return self._counted(PointQueue.collect)

    def cancel_all(self) -> None:
        """Cancel all pending points."""
        self._queue().cancel_all()

    @contextmanager
    def set_aside(self) -> Generator[None, None, None]:
        """Leave the account of failures as it is, whatever is evaluated meanwhile."""
        before = self.failures, self.first_failure, self.first_error, self.answered
        self.first_failure, self.first_error, self.answered = None, None, True
        try:
            yield
        finally:
            self.failures, self.first_failure, self.first_error, self.answered = before

    def raise_if_all_failed(self) -> None:
        """Raise an `AllFailedError` if all evaluations so far have failed, a TypeError if none returned a number."""
        if self.answered or not self.failures:
            return
        if self.no_number:
            fix = "a `return` is missing" if f"{self.first_failure} ".startswith(f"{RETURNED}None ") else "return one"
            raise TypeError(f"{self.first_failure} and no number at any of the first {self.failures} points: {fix}")
        error = self.first_error
        how = f"with {described(error)}" if error is not None else f"because {self.first_failure}"
        accepts, more = "a point of shape (d,)", ", or with vectorized=True (n, d)"
        if isinstance(self.fun, MappingObjective):
            accepts, more = f"a mapping with {listed(self.fun.names)}", ""
        problem = f"all {self.failures} evaluations so far have failed, the first one {how}"
        failed = AllFailedError(f"{problem}; check that fun accepts {accepts}{more}, and the args given")
        failed.problem, failed.accepts = problem, accepts
        raise failed from error

    def __exit__(self, *_: object) -> None:
        if isinstance(self.engine, Engine):
            self.engine.close()

    def _counted(self, take: Callable[[PointQueue], list[tuple[PointId, Outcome]]]) -> list[tuple[PointId, Outcome]]:
        queue = self._queue()
        points = {point_id: point.x for point_id, point in queue.pending.items()}
        found = take(queue)
        for point_id, outcome in found:
            self._count(points[point_id], outcome)
        return found

    def _queue(self) -> PointQueue:
        if self.queue is None:
            raise ValueError(
                "vectorized=True or a map takes whole generations; for single points pass workers as a number or an executor"
            )
        return self.queue

    def _each(self, points: np.ndarray, missing: list[int], keep: Record, timeout: float | None) -> None:
        """Evaluate the points one by one."""
        queue, end = self._queue(), None if timeout is None else time.monotonic() + timeout
        try:
            for i in missing:
                queue.start(i, points[i])
            while queue.pending:
                found = queue.finished(None if end is None else max(0.0, end - time.monotonic()))
                for i, outcome in found:
                    keep(i, outcome)
                if not found:
                    break
        except KeyboardInterrupt:
            for i, outcome in queue.collect():
                keep(i, outcome)
            raise
        finally:
            queue.cancel_all()

    def _all(
        self, evaluate: GenerationEngine, points: np.ndarray, missing: list[int], keep: Record, *, plain: bool
    ) -> np.ndarray | None:
        """Evaluate the points in one call, then those again that failed. If `plain`, values alone may be returned."""
        for attempt in range(1, self.retries + 2):
            if not missing:
                break
            found = evaluate(points[missing])  # a copy, as an objective may write into its argument
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
        """Count an outcome. The first failure is logged and kept."""
        failure = outcome.value
        if not isinstance(failure, Failure):
            self.answered = True
            return
        self.failures += 1
        self.answered = self.answered or (failure.answered and not failure.no_number)
        self.no_number = self.no_number and failure.no_number
        error = None if failure.error is None or self.first_error is not None else showable(failure.error)
        self.first_error = error if self.first_error is None else self.first_error
        if self.first_failure is None:
            self.first_failure = failure.reason
            where = f"x = {shortened(x.tolist())}"
            if isinstance(self.fun, MappingObjective) and self.fun.form == "plain":
                where = self.fun.shown(x)
            logger.warning("%s, at %s", failure.reason, where, exc_info=error)


def rows_of(outcomes: Sequence[Outcome | None]) -> list[Rows | None] | None:
    """Return the constraint values of outcomes; None if none has any."""
    rows = [None if outcome is None else outcome.rows for outcome in outcomes]
    return rows if any(row is not None for row in rows) else None
