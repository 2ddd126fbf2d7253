"""The asynchronous loop of `minimize`: every worker always has a point, drawn from all that is known when it begins."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from thalweg._common.interrupts import undisturbed
from thalweg._common.outcome import Outcome
from thalweg.evaluate import PointId
from thalweg.search.loop import Loop
from thalweg.search.pending import MOST, PendingPoint
from thalweg.search.synchronous import columns
from thalweg.storage.log import Evaluation

logger = logging.getLogger("thalweg")

Place = tuple[int, int, int]
"""Run, generation and index of a point."""


@dataclass
class AsynchronousLoop(Loop):
    """Evaluates point by point: none waits for another.

    A run that continues repeats what the log holds beyond the checkpoint, in the order of the log. Besides the seed a run
    depends on nothing else, so it comes to where it was.
    """

    past: Sequence[Evaluation] = ()
    """The evaluations of earlier calls, from the log."""
    running: dict[PointId, PendingPoint] = field(default_factory=dict[PointId, PendingPoint], init=False)
    """Points that were handed out and have no value yet, by place."""
    started: bool = field(default=False, init=False)

    def advance(self) -> None:
        if not self.started:
            self._start()
            if self.es.stop():  # the log holds all of it
                self.after_tell()
                return
        self._refill()
        failures, before = self.evaluate.failures, self.es.nit
        try:
            found = self.evaluate.finished(self.time_left())
        except KeyboardInterrupt:
            with undisturbed():
                self._take(self.evaluate.collect(), failures)
            raise
        self._take(found, failures)
        if self.evaluate.failures >= self.es.popsize:
            self.evaluate.raise_if_all_failed()
        if self.es.nit > before or self.es.stop():
            self.after_tell()

    def end(self) -> None:
        self.evaluate.cancel_all()

    def _start(self) -> None:
        """Come to where an earlier call was, and start again what was running then."""
        es = self.es
        open_points = [*es.late, *((es.campaign.runs, point) for point in es.open_points)]
        self.running = {(run, *point.place): point for run, point in open_points}
        past = [row for row in self.past if row[:3] in self.running or self._is_new(row)]
        rows = Counter(row[:2] for row in past)
        # to come to a point, all before it are drawn: a point so far ahead of what was evaluated was never handed out
        asked = [row for row in past if row.index <= self.es.pending.handed_out + rows[row[:2]] + MOST]
        if len(asked) < len(past):
            logger.warning("the log has %d points that were never asked for; they are left out", len(past) - len(asked))
            past = asked
        indices: dict[tuple[int, int], list[int]] = {}
        for row in past:
            indices.setdefault(row[:2], []).append(row.index)
        for row in past:
            if row.run > es.campaign.runs:
                self._hand_out(1)  # begins the next run
            # all that a generation has handed out, before what follows moves the search on
            present = (es.campaign.runs, es.run.nit)
            again = indices.get(present, [])
            self._hand_out(es.pending.missing(again), again)
            self._repeat(row)
        if not es.stop():
            for place, point in self.running.items():
                self.evaluate.start(place, point.x)
        self.started = True

    def _is_new(self, row: Evaluation) -> bool:
        """Return whether the evaluation is one of a point that was not handed out yet."""
        begins = (self.es.campaign.runs, self.es.run.nit)
        return row[:2] > begins or (row[:2] == begins and self.es.pending.is_new(row.index))

    def _repeat(self, row: Evaluation) -> None:
        if row[:3] not in self.running or not np.array_equal(self.running[row[:3]].x, row.x):
            logger.warning("the log has a point of generation %d that was not asked for; it is left out", row.generation)
            return
        self.evaluate.answered = self.evaluate.answered or row.error is None
        self.es.run.failures += row.error is not None
        self._tell(row[:3], row.outcome())

    def _refill(self) -> None:
        """Start as many points as there are idle workers."""
        free = self.evaluate.capacity - len(self.running)
        if (max_evals := self.es.campaign.budget.max_evals) is not None:
            free = min(free, max_evals - self.es.nfev - len(self.running))
        for place in self._hand_out(free):
            self.evaluate.start(place, self.running[place].x)

    def _hand_out(self, number: int, first: Sequence[int] = ()) -> list[Place]:
        if number <= 0:
            return []
        self.consistent = False
        points = self.es.ask_points(number, first=first)
        self.consistent = True
        places = [(self.es.campaign.runs, *point.place) for point in points]
        self.running |= zip(places, points, strict=True)
        return places

    def _take(self, found: Sequence[tuple[PointId, Outcome]], failures: int) -> None:
        """Append outcomes to the log, then tell them to the optimiser. `failures` is the number of failures before."""
        for place, outcome in found:
            self.record(*cast("Place", place), self.running[place].x, outcome)
        self.es.run.failures += self.evaluate.failures - failures
        for place, outcome in found:
            self._tell(place, outcome)
        self.show_if_due()

    def _tell(self, place: PointId, outcome: Outcome) -> None:
        self.consistent = False
        rows = None if outcome.rows is None else [outcome.rows]
        self.es.tell(self.running.pop(place).x[None], [outcome.f], *columns(rows))
        self.consistent = True
