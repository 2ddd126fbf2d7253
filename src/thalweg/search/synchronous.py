"""The synchronous loop of `minimize`: one generation after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from thalweg._common.constrained_objective import Rows
from thalweg._common.interrupts import undisturbed
from thalweg._common.outcome import Outcome
from thalweg.evaluate import Interrupted
from thalweg.search.loop import NONE, Loop
from thalweg.storage.log import Evaluation


@dataclass
class SynchronousLoop(Loop):
    """Evaluates a generation, or with a model a part of it, then tells it: all workers wait for the slowest evaluation."""

    def advance(self) -> None:
        es = self.es
        self.consistent = False
        X, indices = self._ask()
        self.consistent = True
        run, generation, before = es.campaign.runs, es.run.nit, es.nit
        past = {} if self.log is None else self.log.known(run, generation, X, indices)
        known = known_outcomes(past, len(X) if es.nfev == 0 else None)
        shows = self.progress.enabled and not self.evaluate.vectorized
        record = partial(self._record, run, generation, indices, X) if shows or self.log is not None else None
        for outcome in known.values():
            self.note(outcome)
        failures = self.evaluate.failures
        try:
            F = self.evaluate(X, self.time_left(), known, record)
        except Interrupted as interrupt:
            with undisturbed():
                self.save()
                self.consistent, self.untold = False, NONE  # no checkpoint may continue from a generation that is abandoned
                if indices is None:
                    es.abandon(X, interrupt.values, *columns(interrupt.rows))
                else:
                    known = np.flatnonzero(~np.isnan(interrupt.values))
                    rows = None if interrupt.rows is None else [interrupt.rows[i] for i in known]
                    es.tell(X[known], interrupt.values[known], *columns(rows))
            raise
        self.consistent, self.untold = False, NONE
        es.run.failures += self.evaluate.failures - failures
        es.tell(X, F, *columns(self.evaluate.rows))
        self.consistent = True
        if es.nit > before or es.stop():
            self.after_tell()
        else:
            self.save_if_cheap()

    def _ask(self) -> tuple[np.ndarray, Sequence[int] | None]:
        """Return points, with their indices in the generation; None for a whole one.

        Points that were asked when a checkpoint was written come first.
        """
        es = self.es
        left = es.evaluations_left
        again = [point for point in es.pending.open_points if point.generation == es.run.nit]
        if not again and es.asks_whole():
            return es.ask(), None
        workers = self.evaluate.capacity if self.evaluate.takes_single_points else 1
        points = again[: int(min(len(again), left))] or es.ask_points(workers=workers)
        return np.stack([point.x for point in points]), [point.index for point in points]

    def _record(
        self, run: int, generation: int, indices: Sequence[int] | None, X: np.ndarray, i: int, outcome: Outcome
    ) -> None:
        self.record(run, generation, i if indices is None else indices[i], X[i], outcome)
        self.note(outcome)


def columns(rows: Sequence[Rows | None] | None) -> tuple[Any, ...]:
    """Return constraint values by point as the arguments G and H of `Optimizer.tell`; none without constraints."""
    if rows is None:
        return ()
    return tuple([None if row is None else row[i] for row in rows] for i in (0, 1))


def known_outcomes(rows: dict[int, Evaluation], first: int | None) -> dict[int, Outcome]:
    """Return the outcomes that the log holds of a generation.

    A first generation of size `first` that has only failures is evaluated again: it ended the run with an error, and whoever
    runs it again has mended the objective.
    """
    if rows and len(rows) == first and all(row.error is not None for row in rows.values()):
        return {}
    return {i: row.outcome() for i, row in rows.items()}
