"""Evaluation of one point after the other, in this process."""

from dataclasses import dataclass, field

import numpy as np

from thalweg._common.outcome import Outcome, evaluate_here
from thalweg.evaluate.base import Engine, PointId


@dataclass
class Serial(Engine):
    """Evaluates a point when its outcome is asked for. An evaluation that hangs cannot be cancelled."""

    waiting: list[tuple[PointId, np.ndarray]] = field(default_factory=list[tuple[PointId, np.ndarray]])

    @property
    def capacity(self) -> int:
        return 1

    def room(self, wanted: int) -> int:
        return 0 if self.waiting else 1

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        self.waiting.append((point_id, x))

    def finished(self, timeout: float | None) -> list[tuple[PointId, Outcome]]:
        if not self.waiting:
            return []
        point_id, x = self.waiting.pop()
        return [(point_id, evaluate_here(self.fun, self.args, x))]

    def cancel(self, point_id: PointId) -> None:
        self.waiting = [(waiting, x) for waiting, x in self.waiting if waiting != point_id]
