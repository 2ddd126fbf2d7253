"""Pools of workers, each of which loads the objective once and then evaluates one point at a time."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from thalweg._common.outcome import Failure, Outcome
from thalweg.evaluate.base import DIED, Engine, PointId
from thalweg.evaluate.pickling import unpack

MAX_FAILED_STARTS = 3
"""Number of workers in a row that may die before they are ready."""


@dataclass(eq=False)
class Worker:
    """A worker of a pool."""

    handle: Any
    """Object by which its pool reaches it."""
    name: str | None = None
    ready: bool = False
    point_id: PointId | None = None
    """Point that is being evaluated."""


@dataclass
class WorkerPool(Engine):
    """Starts workers as they are needed, up to `number`, and replaces those that die. One that dies costs its point."""

    number: int
    workers: list[Worker] = field(default_factory=list[Worker], init=False)
    failed_starts: int = field(default=0, init=False)
    """Number of workers in a row that died before they were ready."""
    kind: ClassVar[str]
    """Plural noun for the workers, for messages."""

    @abstractmethod
    def launch(self) -> Worker:
        """Start a worker."""

    @abstractmethod
    def send(self, worker: Worker, x: np.ndarray) -> None:
        """Start the evaluation of a point on a free worker."""

    @abstractmethod
    def messages(self, timeout: float | None) -> Iterable[tuple[Worker, Any]]:
        """Return the messages of workers, for the first of which it waits up to `timeout` seconds.

        The first message of a worker is None, or a text if it cannot load the objective. Packed outcomes follow, and an
        exception after its death.
        """

    @abstractmethod
    def end(self, worker: Worker) -> str | None:
        """Kill a worker. Return how it ended, if that is known."""

    @property
    def capacity(self) -> int:
        return self.number

    def room(self, wanted: int) -> int:
        busy = sum(worker.point_id is not None for worker in self.workers)
        for _ in range(min(self.number, wanted + busy) - len(self.workers)):
            self.workers.append(self.launch())
        return sum(worker.ready and worker.point_id is None for worker in self.workers)

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        worker = next(worker for worker in self.workers if worker.ready and worker.point_id is None)
        worker.point_id = point_id
        self.send(worker, x)

    def finished(self, timeout: float | None) -> list[tuple[PointId, Outcome]]:
        found: list[tuple[PointId, Outcome]] = []
        for worker, message in self.messages(timeout):
            if isinstance(message, Exception):
                found.extend(self.lost(worker, message))
            elif worker.ready:
                found.append((worker.point_id, unpack(message)))
                worker.point_id = None
            elif message is None:
                worker.ready, self.failed_starts = True, 0
            else:
                reason = f"workers={self.number}: one of the {self.kind} cannot load fun ({message})"
                raise RuntimeError(f"{reason}; check that a new process can import what fun needs")
        return found

    def lost(self, worker: Worker, error: Exception | None = None) -> list[tuple[PointId, Outcome]]:
        """Remove a dead worker. Return the failure of the point that it evaluated, if any."""
        how = self.remove(worker) or str(error).strip().partition("\n")[0]
        self.failed_starts += not worker.ready
        if self.failed_starts >= MAX_FAILED_STARTS:
            raise RuntimeError(
                f"workers={self.number}: {self.failed_starts} {self.kind} in a row died before they were ready, the last: "
                f"{how}; check that there is enough memory for them, and that a new process can import what fun needs"
            ) from error
        failure = Outcome(Failure(f"{DIED.reason} ({how})"), worker.name)
        return [] if worker.point_id is None else [(worker.point_id, failure)]

    def cancel(self, point_id: PointId) -> None:
        for worker in [worker for worker in self.workers if worker.point_id == point_id]:
            self.remove(worker)

    def close(self) -> None:
        while self.workers:
            self.remove(self.workers[0])

    def remove(self, worker: Worker) -> str | None:
        """Kill a worker and forget it. Return how it ended, if that is known."""
        self.workers.remove(worker)
        return self.end(worker)
