"""Retries and time limits of evaluations, for all engines."""

import time
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from thalweg._common.interrupts import undisturbed
from thalweg._common.outcome import Failure, Outcome
from thalweg.evaluate.base import Engine, PointId


@dataclass
class PendingPoint:
    """A point without an outcome."""

    x: np.ndarray
    attempts: int = 0
    """Number of times its evaluation was started."""
    deadline: float | None = None


@dataclass
class PointQueue:
    """Starts points as the engine has room, and starts those again that failed or took too long."""

    engine: Engine
    retries: int = 0
    eval_timeout: float | None = None
    pending: dict[PointId, PendingPoint] = field(default_factory=dict[PointId, PendingPoint], init=False)
    """All points without an outcome."""
    waiting: deque[PointId] = field(default_factory=deque[PointId], init=False)
    """Pending points that the engine does not have, in order."""

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        """Queue a point, which is evaluated as soon as there is room."""
        if point_id in self.pending:
            raise ValueError(f"point_id {point_id!r} belongs to a point that is still pending; choose another one")
        self.pending[point_id] = PendingPoint(x)
        self.waiting.append(point_id)
        self._fill()

    def finished(self, timeout: float | None = None) -> list[tuple[PointId, Outcome]]:
        """Return the next outcomes, of which there is at least one unless `timeout` seconds pass or no point is pending."""
        end = None if timeout is None else time.monotonic() + timeout
        found: list[tuple[PointId, Outcome]] = []
        while self.pending:
            self._fill()
            for point_id, outcome in self.engine.finished(self._pause(end)):
                self._settle(point_id, outcome, found)
            self._cancel_late_points(found)
            if found or (end is not None and time.monotonic() >= end):
                break
        return found  # workers get their next points when the caller comes back, after it has logged these outcomes

    def collect(self) -> list[tuple[PointId, Outcome]]:
        """Return the outcomes that are there now, without starting further points."""
        found: list[tuple[PointId, Outcome]] = []
        with undisturbed():
            for point_id, outcome in self.engine.finished(0.0):
                self._settle(point_id, outcome, found)
        return found

    def cancel_all(self) -> None:
        """Cancel all pending points."""
        for point_id in self.pending.keys() - set(self.waiting):
            self.engine.cancel(point_id)
        self.pending.clear()
        self.waiting.clear()

    def _fill(self) -> None:
        while self.waiting and (room := self.engine.room(len(self.waiting))):
            for _ in range(min(room, len(self.waiting))):
                point = self.pending[self.waiting[0]]
                point.attempts += 1
                point.deadline = None if self.eval_timeout is None else time.monotonic() + self.eval_timeout
                self.engine.start(self.waiting.popleft(), point.x.copy())  # an objective may write into its argument

    def _pause(self, end: float | None) -> float | None:
        """Return the seconds until `end` or the first deadline, whichever comes first."""
        moments = [point.deadline for point in self.pending.values() if point.deadline is not None]
        moments += [] if end is None else [end]
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _cancel_late_points(self, found: list[tuple[PointId, Outcome]]) -> None:
        now = time.monotonic()
        for point_id, point in list(self.pending.items()):
            if point.deadline is not None and point.deadline <= now:
                self.engine.cancel(point_id)
                late = Failure(f"the evaluation took longer than eval_timeout = {self.eval_timeout:g} seconds")
                self._settle(point_id, Outcome(late, None, self.eval_timeout), found)

    def _settle(self, point_id: PointId, outcome: Outcome, found: list[tuple[PointId, Outcome]]) -> None:
        """Add the outcome to `found`, or put the point at the head of the queue, as its generation waits for it."""
        point = self.pending[point_id]
        if isinstance(outcome.value, Failure) and point.attempts <= self.retries:
            point.deadline = None
            self.waiting.appendleft(point_id)
        else:
            del self.pending[point_id]
            found.append((point_id, outcome._replace(attempts=point.attempts)))
