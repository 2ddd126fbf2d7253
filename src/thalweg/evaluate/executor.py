"""Evaluation by any `concurrent.futures.Executor`: threads, processes, mpi4py's `MPIPoolExecutor`."""

import concurrent.futures as futures
import os
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from thalweg._common.interrupts import interruptible
from thalweg._common.outcome import Failure, Outcome, raised
from thalweg.evaluate.base import Engine, PointId
from thalweg.evaluate.pickling import PortableObjective, as_outcome

Future = futures.Future[Any]


@dataclass
class ExecutorEngine(Engine):
    """Submits each point as a future of its own.

    A running future cannot be ended: a cancelled one keeps its worker busy, and there is less room, until it ends by itself. If
    all workers are stuck in this way, points are submitted all the same, and cancelled in their turn.

    An executor that loses a worker is broken for good. The points that it had are failures, as any of them may be the reason;
    the next one raises an error.
    """

    executor: futures.Executor
    running: dict[Future, PointId] = field(default_factory=dict[Future, PointId], init=False)
    stuck: set[Future] = field(default_factory=set[Future], init=False)
    """Cancelled futures that still run."""

    def __post_init__(self) -> None:
        self.objective = PortableObjective(self.fun, self.args)
        self.ended: SimpleQueue[Future] = SimpleQueue()
        # MPIPoolExecutor tells the number in public, the executors of the standard library in private, others not at all
        number = getattr(self.executor, "num_workers", None) or getattr(self.executor, "_max_workers", None)
        self.workers: int | None = int(number) if number else None

    @property
    def capacity(self) -> int:
        return self.workers or os.cpu_count() or 1

    def room(self, wanted: int) -> int:
        if self.workers is None:
            return wanted
        self.stuck = {future for future in self.stuck if not future.done()}
        usable = self.workers - len(self.stuck)
        return max(0, (usable if usable > 0 else self.workers) - len(self.running))

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        try:
            future = self.executor.submit(self.objective, x)
        except RuntimeError as error:  # it is broken or was shut down, and stays so
            raise RuntimeError(
                f"workers is an executor that takes no more points ({str(error).rstrip('.')}); pass a new one, or a number of "
                "processes, which are replaced when they die; a run with a checkpoint continues where it was"
            ) from error
        except Exception as error:
            future = Future()
            future.set_exception(error)
        self.running[future] = point_id
        future.add_done_callback(self.ended.put)

    def finished(self, timeout: float | None) -> list[tuple[PointId, Outcome]]:
        while not self.ended.empty():
            self.ended.get()
        if self.running and not any(future.done() for future in self.running):
            # an interrupt in the midst of `futures.wait` would leave locks of futures behind, and so threads that never go on
            with suppress(Empty), interruptible():
                self.ended.get(timeout=timeout)
        done = [future for future in self.running if future.done()]
        return [(self.running.pop(future), _outcome(future)) for future in done]

    def cancel(self, point_id: PointId) -> None:
        for future in [future for future, running in self.running.items() if running == point_id]:
            del self.running[future]
            if not future.cancel():
                self.stuck.add(future)

    def close(self) -> None:
        for future in self.running:
            future.cancel()


def _outcome(future: Future) -> Outcome:
    if future.cancelled():
        return Outcome(Failure("the executor has cancelled the evaluation"))
    error = future.exception()
    if error is None:
        return as_outcome(future.result())
    if isinstance(error, futures.BrokenExecutor):
        return Outcome(Failure(f"a worker of the executor died during this evaluation or one beside it ({error})"))
    return Outcome(raised(error))
