"""Evaluation on Ray (extra `ray`): on this machine or on a cluster.

Each worker is a Ray actor that unpickles the objective once. Ray's own retries are off, as `PointQueue` counts them.
"""

import os
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg._common.checks import as_count
from thalweg._common.extras import require
from thalweg._common.outcome import Failure, Objective, Outcome
from thalweg.evaluate.base import DIED, MAX_FAILED_STARTS, Engine, PointId
from thalweg.evaluate.pickling import pickle_objective, unpack


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
        return RayEngine(fun, args, ray, ray.put(objective), number, self.options, started_here)


@dataclass(eq=False)
class Actor:
    """A worker and its pending call: at first `ready`, later `evaluate`."""

    handle: Any
    call: Any
    """Ray's reference to the result of the pending call, if any."""
    ready: bool = False
    point_id: PointId | None = None
    """Point that is being evaluated."""


@dataclass
class RayEngine(Engine):
    """Actors, each of which evaluates one point at a time."""

    ray: Any
    objective: Any
    """Ray's reference to the pickled objective in the object store."""
    number: int
    options: dict[str, Any]
    started_here: bool
    """True if Ray was started for this engine, which then shuts it down."""
    actors: list[Actor] = field(default_factory=list[Actor], init=False)
    failed_starts: int = field(default=0, init=False)
    """Number of actors in a row that died before they were ready."""

    def __post_init__(self) -> None:
        self.make_actor = self.ray.remote(max_restarts=0, max_task_retries=0, **self.options)(_worker_class())
        self.room(self.number)

    @property
    def capacity(self) -> int:
        return self.number

    def room(self, wanted: int) -> int:
        busy = sum(actor.point_id is not None for actor in self.actors)
        for _ in range(min(self.number, wanted + busy) - len(self.actors)):
            handle = self.make_actor.remote(self.objective, os.getcwd())
            self.actors.append(Actor(handle, handle.ready.remote()))
        return sum(actor.ready and actor.point_id is None for actor in self.actors)

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        actor = next(actor for actor in self.actors if actor.ready and actor.point_id is None)
        actor.point_id, actor.call = point_id, actor.handle.evaluate.remote(x)

    def finished(self, timeout: float | None) -> list[tuple[PointId, Outcome]]:
        calls = {actor.call: actor for actor in self.actors if actor.call is not None}
        if not calls:
            return []
        done, _ = self.ray.wait(list(calls), timeout=timeout)
        if done:  # all that have returned, not only the first
            done, _ = self.ray.wait(list(calls), num_returns=len(calls), timeout=0)
        found: list[tuple[PointId, Outcome]] = []
        for call in done:
            actor, point_id = calls[call], calls[call].point_id
            outcome = self._result(actor)
            if point_id is not None:
                found.append((point_id, outcome))
            elif isinstance(outcome.value, Failure):
                self._count_failed_start(outcome.value)
            else:
                actor.ready, self.failed_starts = True, 0
        return found

    def cancel(self, point_id: PointId) -> None:
        for actor in self.actors:
            if actor.point_id == point_id:
                self._remove(actor)
                return

    def close(self) -> None:
        for actor in list(self.actors):
            self._remove(actor)
        if self.started_here:
            self.ray.shutdown()

    def _result(self, actor: Actor) -> Outcome:
        call, actor.call, actor.point_id = actor.call, None, None
        try:
            return unpack(self.ray.get(call))
        except self.ray.exceptions.RayError as error:  # killed, out of memory, or its node is lost
            self._remove(actor)
            return Outcome(Failure(f"{DIED.reason} ({_first_line(error)})", error if not actor.ready else None))

    def _count_failed_start(self, failure: Failure) -> None:
        self.failed_starts += 1
        if self.failed_starts >= MAX_FAILED_STARTS:
            raise RuntimeError(
                f"{self.failed_starts} Ray actors in a row died before they were ready; check that they can import what fun "
                f"needs: {failure.reason}"
            ) from failure.error

    def _remove(self, actor: Actor) -> None:
        self.actors.remove(actor)
        self.ray.kill(actor.handle, no_restart=True)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


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

        def ready(self) -> tuple[float, str, bool, None, str, str, float, None]:
            return 0.0, "", True, None, "", "", 0.0, None

        def evaluate(self, x: np.ndarray) -> Any:
            return self.call(x)

    return ThalwegWorker
