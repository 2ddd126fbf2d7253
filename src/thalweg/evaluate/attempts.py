"""Retries and timeouts, in one place for all engines."""

import time
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from thalweg._common.outcome import Failure, Outcome
from thalweg.evaluate.base import Engine, Ticket


@dataclass
class Attempt:
    """A point that has no outcome yet."""

    x: np.ndarray
    number: int = 0
    """How often it was started."""
    deadline: float | None = None


@dataclass
class Attempts:
    """Hands points to an engine as it has room; starts those again that failed or took too long."""

    engine: Engine
    retries: int = 0
    eval_timeout: float | None = None
    open: dict[Ticket, Attempt] = field(default_factory=dict[Ticket, Attempt], init=False)
    """All points that have no outcome yet."""
    waiting: deque[Ticket] = field(default_factory=deque[Ticket], init=False)
    """Those of them that the engine does not have, in order."""

    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        """Take a point: it is evaluated as soon as there is room."""
        if ticket in self.open:
            raise ValueError(f"the ticket {ticket!r} stands for a point that has not finished; take another one")
        self.open[ticket] = Attempt(x)
        self.waiting.append(ticket)
        self._fill()

    def finished(self, timeout: float | None = None) -> list[tuple[Ticket, Outcome]]:
        """Wait for the next outcome, or as many as there are, at most `timeout` seconds; nothing if no point is open."""
        end = None if timeout is None else time.monotonic() + timeout
        found: list[tuple[Ticket, Outcome]] = []
        while self.open:
            self._fill()
            for ticket, outcome in self.engine.finished(self._pause(end)):
                self._settle(ticket, outcome, found)
            self._give_up_late_ones(found)
            if found or (end is not None and time.monotonic() >= end):
                break
        return found  # into the log first; workers get their next points when the caller comes back

    def collect(self) -> list[tuple[Ticket, Outcome]]:
        """What has finished by now; starts nothing."""
        found: list[tuple[Ticket, Outcome]] = []
        for ticket, outcome in self.engine.finished(0.0):
            self._settle(ticket, outcome, found)
        return found

    def drop(self) -> None:
        """Give up all points."""
        for ticket in self.open.keys() - set(self.waiting):
            self.engine.give_up(ticket)
        self.open.clear()
        self.waiting.clear()

    def _fill(self) -> None:
        while self.waiting and (room := self.engine.room(len(self.waiting))):
            for _ in range(min(room, len(self.waiting))):
                attempt = self.open[self.waiting[0]]
                attempt.number += 1
                attempt.deadline = None if self.eval_timeout is None else time.monotonic() + self.eval_timeout
                self.engine.start(self.waiting.popleft(), attempt.x.copy())  # an objective may write into its argument

    def _pause(self, end: float | None) -> float | None:
        """Seconds until something has to be done, whatever finishes."""
        moments = [attempt.deadline for attempt in self.open.values() if attempt.deadline is not None]
        moments += [] if end is None else [end]
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _give_up_late_ones(self, found: list[tuple[Ticket, Outcome]]) -> None:
        now = time.monotonic()
        for ticket, attempt in list(self.open.items()):
            if attempt.deadline is not None and attempt.deadline <= now:
                self.engine.give_up(ticket)
                late = Failure(f"the evaluation took longer than eval_timeout = {self.eval_timeout:g} seconds")
                self._settle(ticket, Outcome(late, None, self.eval_timeout), found)

    def _settle(self, ticket: Ticket, outcome: Outcome, found: list[tuple[Ticket, Outcome]]) -> None:
        """Either the point is done, or it is tried again: as the next one, lest it hold up the others of its generation."""
        attempt = self.open[ticket]
        if isinstance(outcome.value, Failure) and attempt.number <= self.retries:
            attempt.deadline = None
            self.waiting.appendleft(ticket)
        else:
            del self.open[ticket]
            found.append((ticket, outcome._replace(attempts=attempt.number)))
