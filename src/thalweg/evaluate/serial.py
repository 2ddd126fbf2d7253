"""One point after the other, in this process."""

from dataclasses import dataclass, field

import numpy as np

from thalweg._common.outcome import Outcome, evaluated
from thalweg.evaluate.base import Engine, Ticket


@dataclass
class Serial(Engine):
    """Evaluates a point when it is asked for what has finished; one that hangs cannot be given up."""

    waiting: list[tuple[Ticket, np.ndarray]] = field(default_factory=list[tuple[Ticket, np.ndarray]])

    @property
    def slots(self) -> int:
        return 1

    def room(self, wanted: int) -> int:
        return 0 if self.waiting else 1

    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        self.waiting.append((ticket, x))

    def finished(self, timeout: float | None) -> list[tuple[Ticket, Outcome]]:
        if not self.waiting:
            return []
        ticket, x = self.waiting.pop()
        return [(ticket, evaluated(self.fun, self.args, x))]

    def give_up(self, ticket: Ticket) -> None:
        self.waiting = [(waiting, x) for waiting, x in self.waiting if waiting != ticket]
