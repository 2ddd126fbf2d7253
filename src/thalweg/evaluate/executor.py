"""Any `concurrent.futures.Executor`: threads, processes, mpi4py's `MPIPoolExecutor`."""

import concurrent.futures as futures
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg._common.outcome import Failure, Outcome, raised
from thalweg.evaluate.base import Engine, Ticket
from thalweg.evaluate.shipping import Shipped, unpacked

Job = futures.Future[Any]


@dataclass
class ByExecutor(Engine):
    """Submits each point by itself.

    A future that runs cannot be ended: one that is given up keeps its worker busy, and there is room for fewer points until it
    ends by itself. If all workers are stuck in such evaluations, points are submitted all the same, and given up in their turn.
    """

    executor: futures.Executor
    running: dict[Job, Ticket] = field(default_factory=dict[Job, Ticket], init=False)
    stuck: set[Job] = field(default_factory=set[Job], init=False)

    def __post_init__(self) -> None:
        self.shipped = Shipped(self.fun, self.args)
        # MPIPoolExecutor says it in public, those of the standard library in private, others not at all
        number = getattr(self.executor, "num_workers", None) or getattr(self.executor, "_max_workers", None)
        self.known: int | None = int(number) if number else None

    @property
    def slots(self) -> int:
        return self.known or os.cpu_count() or 1

    def room(self, wanted: int) -> int:
        if self.known is None:
            return wanted
        self.stuck = {job for job in self.stuck if not job.done()}
        able = self.known - len(self.stuck)
        return max(0, (able if able > 0 else self.known) - len(self.running))

    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        try:
            job = self.executor.submit(self.shipped, x)
        except Exception as error:  # it is broken or was shut down, and stays so
            job = Job()
            job.set_exception(error)
        self.running[job] = ticket

    def finished(self, timeout: float | None) -> list[tuple[Ticket, Outcome]]:
        done, _ = futures.wait(self.running, timeout, futures.FIRST_COMPLETED)
        return [(self.running.pop(job), _outcome(job)) for job in done]

    def give_up(self, ticket: Ticket) -> None:
        job = next(job for job, running in self.running.items() if running == ticket)
        del self.running[job]
        if not job.cancel():
            self.stuck.add(job)

    def close(self) -> None:
        for job in self.running:
            job.cancel()


def _outcome(job: Job) -> Outcome:
    if job.cancelled():
        return Outcome(Failure("the executor has cancelled the evaluation"))
    error = job.exception()
    if error is None:
        return unpacked(job.result())
    if isinstance(error, futures.BrokenExecutor):
        reason = f"the executor is broken ({error}), as one of its workers died; a number of workers would be replaced"
        return Outcome(Failure(reason, error))
    return Outcome(raised(error))
