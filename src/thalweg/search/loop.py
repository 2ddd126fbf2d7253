"""The loop of `minimize`: advance until there is a reason to stop, and lose nothing on the way.

A finished evaluation is in the log before anything else happens; a generation is told when it is complete; then the checkpoint
is written. So a checkpoint and the log beside it hold all evaluations that were paid for, whenever the process ends.
"""

import logging
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg._common import interrupts
from thalweg._common.outcome import Failure, Outcome
from thalweg.evaluate import Evaluator
from thalweg.search.continuing import Origin
from thalweg.search.optimizer import Optimizer
from thalweg.search.progress import Progress
from thalweg.search.run import OutOfRangeError
from thalweg.search.tracebacks import Tracebacks
from thalweg.storage.log import Evaluation, EvaluationLog

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")

NONE = (0, 0, inf)
"""No evaluations that are not told yet."""
CHECKPOINT_SHARE = 0.1
"""Maximal share of a run's time that goes into writing checkpoints."""


@dataclass
class Loop(ABC):
    """Callback, progress, checkpoint, log and result, which all loops share."""

    es: Optimizer
    evaluate: Evaluator
    callback: "Callable[[OptimizeResult], Any] | None"
    progress: Progress
    checkpoint: str | os.PathLike[str] | None
    log: EvaluationLog | None = None
    nfev_before: int = 0
    """Evaluations of earlier calls, whose checkpoint the run continues from."""
    origin: Origin = field(default_factory=Origin)
    consistent: bool = field(default=True, init=False)
    """False while the optimiser changes: an interrupt then leaves nothing that a checkpoint may hold."""
    saved: tuple[int, int, int] | None = field(default=None, init=False)
    """Run, generation and number of evaluations of the last checkpoint."""
    described: tuple[int, int] | None = field(default=None, init=False)
    """Run and generation of which the log has the numbers of the search."""
    untold: tuple[int, int, float] = field(default=NONE, init=False)
    """Evaluations that have ended but are not told yet: their number, that of the failures, and the lowest value."""
    tracebacks: Tracebacks = field(default_factory=Tracebacks, init=False)
    saving: float = field(default=0.0, init=False)
    """Seconds that went into checkpoints."""

    def __post_init__(self) -> None:
        self.began = time.monotonic()

    @abstractmethod
    def advance(self) -> None:
        """Evaluate and tell points, at most a generation."""

    def run(self) -> "OptimizeResult":
        """Advance until there is a reason to stop; Ctrl-C is one."""
        try:
            self.save()  # so that the seed is known, whatever happens
            while not self.es.stop():
                interrupts.check()
                try:
                    self.advance()
                except OutOfRangeError:  # the run has ended; another may follow
                    self.consistent = True
        except KeyboardInterrupt:
            self.es.halt(interrupts.reason())
        finally:
            with interrupts.undisturbed():
                self.end()
                self.save()
        with interrupts.undisturbed():
            result = self.result()
            logger.info("%s", result.message)
            if self.progress.enabled:
                self.progress.show(result, self.es.elapsed, final=True)
            return result

    def end(self) -> None:
        """Give up evaluations that are still running."""

    def save(self) -> None:
        """Write the checkpoint, unless there is none or it is up to date."""
        now = (self.es.campaign.runs, self.es.run.nit, self.es.nfev)
        if self.checkpoint is None or not self.consistent or self.saved == now:
            return
        started = time.monotonic()
        self.origin = self.origin.now()
        self.es.save(self.checkpoint, {"first_failure": self.evaluate.first_failure, **self.origin.saved()})
        self.saved = now
        self.saving += time.monotonic() - started

    def save_if_cheap(self) -> None:
        """Write the checkpoint, if that does not cost too much time."""
        if self.saving <= CHECKPOINT_SHARE * (time.monotonic() - self.began):
            self.save()

    def after_tell(self) -> None:
        """Write the checkpoint, if that does not cost too much time, show the progress, and call the callback."""
        self.save_if_cheap()
        self.show_if_due()
        if self.callback is not None:
            try:
                seen = self.result()
                with interrupts.interruptible():
                    answer = self.callback(seen)
                if isinstance(answer, bool | np.bool_) and answer:  # a callback may return anything else without a meaning
                    self.es.halt("callback")
            except StopIteration:
                self.es.halt("callback")

    def note(self, outcome: Outcome) -> None:
        """Count an evaluation that will be told later, and show the progress."""
        number, failures, best = self.untold
        best = min(best, outcome.f)  # NaN is not lower
        self.untold = (number + 1, failures + isinstance(outcome.value, Failure), best)
        self.show_if_due()

    def show_if_due(self) -> None:
        """Show the progress with all evaluations that have ended, unless that was done a moment ago."""
        if not self.progress.due():
            return
        result, (number, failures, best) = self.result(), self.untold
        result.update(nfev=result.nfev + number, failures=result.failures + failures)
        if "feasible" not in result:
            result.fun = min(result.fun, best)
        self.progress.show(result, self.es.elapsed)

    def result(self) -> "OptimizeResult":
        """Return the result over all runs so far."""
        result = self.es.result
        result.first_failure = self.evaluate.first_failure
        result.nfev_before = self.nfev_before
        self.origin.describe(result, self.es.best)
        return result

    def record(self, run: int, generation: int, index: int, x: np.ndarray, outcome: Outcome) -> None:
        """Append an evaluation to the log."""
        if self.log is None:
            return
        named = self.es.variables
        further: dict[str, Any] = {"traceback": self.tracebacks.new(outcome)}
        if named is not None and named.names is not None:
            further["point"] = named.point(x)
        now = (self.es.campaign.runs, self.es.run.nit)
        if now != self.described:
            further |= {"search": self.es.numbers, "std": self.es.std, "mean": self.es.mean}
            self.described = now
        self.log.append([Evaluation.from_outcome(run, generation, index, x, outcome, further)])

    def time_left(self) -> float | None:
        """Return the seconds until the timeout; None without one."""
        timeout = self.es.campaign.budget.timeout
        return None if timeout is None else max(0.0, timeout - self.es.elapsed)
