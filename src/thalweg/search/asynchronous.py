"""The asynchronous loop of `minimize`: every worker always has a point, drawn from all that is known when it begins."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from thalweg._common.outcome import Outcome
from thalweg.evaluate import PointId
from thalweg.search.loop import Job
from thalweg.search.pending import Point
from thalweg.storage.log import Evaluation

logger = logging.getLogger("thalweg")

Place = tuple[int, int, int]
"""Of a point: the run, its generation when it was drawn, and which of that one it is."""


@dataclass
class Stream(Job):
    """Point by point: none waits for another.

    A run that continues repeats what the log holds beyond the checkpoint, in the order of the log: beside the seed a run
    depends on nothing else, so that it comes to where it was.
    """

    past: Sequence[Evaluation] = ()
    """What the log holds of earlier calls."""
    flying: dict[PointId, Point] = field(default_factory=dict[PointId, Point], init=False)
    """Points that were handed out and have no value yet, by place."""
    started: bool = field(default=False, init=False)

    def advance(self) -> None:
        if not self.started:
            self._start()
        self._refill()
        timeout, failures, before = self.es.budget.timeout, self.evaluate.failures, self.es.nit
        try:
            found = self.evaluate.finished(None if timeout is None else max(0.0, timeout - self.es.elapsed))
        except KeyboardInterrupt:
            self._take(self.evaluate.collect(), failures)
            raise
        self._take(found, failures)
        if self.evaluate.failures >= self.es.popsize:
            self.evaluate.raise_if_all_failed()
        if self.es.nit > before:
            self.told()

    def end(self) -> None:
        self.evaluate.cancel_all()

    def _start(self) -> None:
        """Come to where an earlier call was, and start again what was on its way then."""
        run = self.es.run
        self.flying = {(self.es.schedule.runs, *point.place): point for point in self.es.open_points}
        begins = (self.es.schedule.runs, run.nit, run.flight.handed)
        past = [row for row in self.past if row[:3] in self.flying or row[:3] >= begins]
        furthest: dict[tuple[int, int], int] = {}
        for row in past:
            furthest[row[:2]] = max(furthest.get(row[:2], -1), row.index)
        for row in past:
            if row.run > self.es.schedule.runs:
                self._hand_out(1)  # begins the next run
            # all that a generation has handed out, before what follows moves the search on
            present = (self.es.schedule.runs, self.es.run.nit)
            self._hand_out(furthest.get(present, -1) + 1 - self.es.run.flight.handed)
            self._repeat(row)
        for place, point in self.flying.items():
            self.evaluate.start(place, point.x)
        self.started = True

    def _repeat(self, row: Evaluation) -> None:
        place = row[:3]
        if place not in self.flying or not np.array_equal(self.flying[place].x, row.x):
            logger.warning("the log has a point of generation %d that was not asked for; it is left out", row.generation)
            return
        self.evaluate.answered = self.evaluate.answered or row.error is None
        self.es.run.failures += row.error is not None
        self._tell(place, row.f)

    def _refill(self) -> None:
        """Start as many points as there are workers without one."""
        free = self.evaluate.capacity - len(self.flying)
        if self.es.budget.max_evals is not None:
            free = min(free, int(self.es.budget.max_evals) - self.es.nfev - len(self.flying))
        for place in self._hand_out(free):
            self.evaluate.start(place, self.flying[place].x)

    def _hand_out(self, number: int) -> list[Place]:
        if number <= 0:
            return []
        self.whole = False
        points = self.es.hand_out(number)
        self.whole = True
        places = [(self.es.schedule.runs, *point.place) for point in points]
        self.flying |= zip(places, points, strict=True)
        return places

    def _take(self, found: Sequence[tuple[PointId, Outcome]], failures: int) -> None:
        """First into the log, then to the optimiser. `failures` is how many there were before."""
        for place, outcome in found:
            self.record(*cast("Place", place), self.flying[place].x, outcome)
        self.es.run.failures += self.evaluate.failures - failures
        for place, outcome in found:
            self._tell(place, outcome.f)

    def _tell(self, place: PointId, f: float) -> None:
        self.whole = False
        self.es.tell(self.flying.pop(place).x[None], [f])
        self.whole = True
