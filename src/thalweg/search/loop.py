"""One call of `minimize`: the loop, and the order in which nothing is lost.

An evaluation that has finished is in the log before anything else happens; a generation is told when it is whole; then the
checkpoint is written. So a checkpoint and a log beside it together hold all that was paid for, whenever the process ends.
"""

import logging
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg._common.outcome import Failure, Outcome
from thalweg.evaluate import Evaluator, Interrupted
from thalweg.search.optimizer import RestartingOptimizer
from thalweg.search.progress import Progress
from thalweg.storage.log import Evaluation, EvaluationLog

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")

SHARE = 0.1
"""Of the time of a run, at most, goes into writing checkpoints."""


@dataclass
class Job(ABC):
    """What any loop shares: callback, progress, checkpoint, log, result."""

    es: RestartingOptimizer
    evaluate: Evaluator
    callback: "Callable[[OptimizeResult], Any] | None"
    progress: Progress
    checkpoint: str | os.PathLike[str] | None
    log: EvaluationLog | None = None
    whole: bool = field(default=True, init=False)
    """Whether the optimiser is not in the midst of a change, in which an interrupt may have left it."""
    written: tuple[int, int, int] | None = field(default=None, init=False)
    """The run, its generation and the number of evaluations that the checkpoint is of."""
    writing: float = field(default=0.0, init=False)
    """Seconds that went into checkpoints."""

    def __post_init__(self) -> None:
        self.began = time.monotonic()

    @abstractmethod
    def advance(self) -> None:
        """Evaluate, and tell, as much as a generation or less."""

    def run(self) -> "OptimizeResult":
        """Go on until there is a reason to stop; Ctrl-C is one."""
        self.save()  # so that the seed is known, whatever happens
        try:
            while not self.es.stop():
                self.advance()
        except KeyboardInterrupt:
            self.es.halt("interrupt")
        finally:
            self.end()
            self.save()
        result = self.result()
        logger.info("%s", result.message)
        self.progress.show(result, self.es.elapsed, final=True)
        return result

    def end(self) -> None:
        """Nothing more will be evaluated."""

    def save(self) -> None:
        """Write the checkpoint, unless there is none or it is up to date."""
        now = (self.es.schedule.runs, self.es.run.nit, self.es.nfev)
        if self.checkpoint is None or not self.whole or self.written == now:
            return
        started = time.monotonic()
        self.es.save(self.checkpoint, {"first_failure": self.evaluate.first_failure})
        self.written = now
        self.writing += time.monotonic() - started

    def told(self) -> None:
        """After a tell: the checkpoint, as often as it may cost time, the line of progress, and the callback."""
        if self.writing <= SHARE * (time.monotonic() - self.began):
            self.save()
        if self.progress.enabled or self.callback is not None:
            seen = self.result()
            self.progress.show(seen, self.es.elapsed)
            try:
                if self.callback is not None:
                    self.callback(seen)
            except StopIteration:
                self.es.halt("callback")

    def result(self) -> "OptimizeResult":
        """The result over all runs so far."""
        result = self.es.result
        result.first_failure = self.evaluate.first_failure
        return result

    def record(self, run: int, generation: int, index: int, x: np.ndarray, outcome: Outcome) -> None:
        """Put an evaluation into the log."""
        if self.log is not None:
            found = (outcome.f, outcome.error, outcome.worker, outcome.seconds, outcome.attempts)
            self.log.append([Evaluation(run, generation, index, x, *found)])


@dataclass
class Generations(Job):
    """One generation after the other: all workers wait for the slowest of its evaluations."""

    def advance(self) -> None:
        es, timeout = self.es, self.es.budget.timeout
        self.whole = False
        X = es.ask()
        self.whole = True
        run, generation = es.schedule.runs, es.run.nit
        known = {} if self.log is None else recall(self.log.known(run, generation, X), len(X) if es.nfev == 0 else None)
        record = None if self.log is None else lambda i, outcome: self.record(run, generation, i, X[i], outcome)
        failures = self.evaluate.failures
        try:
            F = self.evaluate(X, None if timeout is None else max(0.0, timeout - es.elapsed), known, record)
        except Interrupted as interrupt:
            self.save()
            self.whole = False  # a generation that is given up is not what a checkpoint should go on from
            es.abandon(X, interrupt.values)
            raise
        self.whole = False
        es.run.failures += self.evaluate.failures - failures
        es.tell(X, F)
        self.whole = True
        self.told()


def recall(rows: dict[int, Evaluation], first: int | None) -> dict[int, Outcome]:
    """Evaluations that the log holds; not those of a first generation, of that size, which had failures alone.

    That ended the run with an error, and who runs it again has mended the objective.
    """
    if rows and len(rows) == first and all(row.error is not None for row in rows.values()):
        return {}
    return {
        i: Outcome(row.f if row.error is None else Failure(row.error, answered=True), row.worker, row.seconds, row.attempts)
        for i, row in rows.items()
    }
