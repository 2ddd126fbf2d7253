"""Evaluation on Ray (extra `ray`): on this machine or on a cluster.

Each worker is a Ray actor that unpickles the objective once. Ray's own retries are off, as `PointQueue` counts them.
"""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from thalweg._common.checks import as_count
from thalweg._common.extras import require
from thalweg._common.interrupts import interruptible
from thalweg._common.outcome import Objective
from thalweg.evaluate.pickling import pickle_objective
from thalweg.evaluate.worker_pool import Worker, WorkerPool


class Ray:
    """Evaluate on Ray: `minimize(..., workers=thalweg.Ray(workers=8))`.

    Args:
        address: Address of a running cluster; "auto" finds the one that this machine belongs to. None uses Ray as this process
            has initialised it, or else starts it on this machine and shuts it down in the end.
        workers: Number of actors that evaluate; by default one for each CPU of the cluster.
        options: Options of the Ray actors: `num_cpus` (1), `num_gpus`, `resources`, `runtime_env` ...
    """

    def __init__(self, address: str | None = None, workers: int | None = None, **options: Any) -> None:
        self.address = address
        self.workers = None if workers is None else as_count(workers, "workers")
        self.options: dict[str, Any] = {"num_cpus": 1, **options}

    def engine(self, fun: Objective, args: tuple[Any, ...]) -> "RayEngine":
        """Connect to the cluster, or start Ray on this machine."""
        ray = require("ray", extra="ray", purpose="thalweg.Ray")
        objective = pickle_objective(fun, args)
        started_here = not ray.is_initialized()
        if started_here:
            local = {"num_cpus": self.workers, "include_dashboard": False} if self.address is None else {}
            with warnings.catch_warnings():
                # JAX warns of forks; those of Ray become other programs at once, so that they cannot deadlock
                warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
                ray.init(address=self.address or "local", logging_level="error", **local)
        number = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1) // (self.options["num_cpus"] or 1)))
        return RayEngine(fun, args, number, ray, ray.put(objective), self.options, started_here)


@dataclass
class RayEngine(WorkerPool):
    """Actors, each of which evaluates one point at a time."""

    ray: Any
    objective: Any
    """Ray's reference to the pickled objective in the object store."""
    options: dict[str, Any]
    started_here: bool
    """True if Ray was started for this engine, which then shuts it down."""
    calls: dict[Any, Worker] = field(default_factory=dict[Any, Worker], init=False)
    """Workers by Ray's references to the results of their pending calls: at first `ready`, later `evaluate`."""
    kind: ClassVar[str] = "Ray actors"

    def __post_init__(self) -> None:
        self.make_actor = self.ray.remote(max_restarts=0, max_task_retries=0, **self.options)(_worker_class())
        self.room(self.number)

    def launch(self) -> Worker:
        worker = Worker(self.make_actor.remote(self.objective, os.getcwd()))
        self.calls[worker.handle.ready.remote()] = worker
        return worker

    def send(self, worker: Worker, x: np.ndarray) -> None:
        self.calls[worker.handle.evaluate.remote(x)] = worker

    def messages(self, timeout: float | None) -> Iterator[tuple[Worker, Any]]:
        calls = list(self.calls)
        with interruptible():
            done, _ = self.ray.wait(calls, timeout=timeout) if calls else ([], [])
        if done:  # all that have returned, not only the first
            done, _ = self.ray.wait(calls, num_returns=len(calls), timeout=0)
        for call in done:
            worker = self.calls.pop(call)
            try:
                yield worker, self.ray.get(call)
            except self.ray.exceptions.RayError as error:  # killed, out of memory, or its node is lost
                yield worker, error

    def end(self, worker: Worker) -> None:
        self.calls = {call: each for call, each in self.calls.items() if each is not worker}
        self.ray.kill(worker.handle, no_restart=True)

    def close(self) -> None:
        super().close()
        if self.started_here:
            self.ray.shutdown()


def _worker_class() -> type:
    """Make the class of the actors. A class made in a function is pickled by value."""

    class ThalwegWorker:
        def __init__(self, objective: bytes, folder: str) -> None:
            import os
            import pickle
            from contextlib import suppress

            with suppress(OSError):  # another machine may not have the folder
                os.chdir(folder)
            self.call = pickle.loads(objective)

        def ready(self) -> None:
            return None

        def evaluate(self, x: np.ndarray) -> Any:
            return self.call(x)

    return ThalwegWorker
