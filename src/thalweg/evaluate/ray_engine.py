"""Evaluation on Ray (extra `ray`): here, or on a cluster.

Each worker is a Ray actor that has unpickled the objective once. Ray itself retries nothing, as that is counted here.
"""

import importlib
import os
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg._common.checks import as_count
from thalweg._common.outcome import Failure, Objective, Outcome, received
from thalweg.evaluate.base import DIED, Engine, Ticket
from thalweg.evaluate.shipping import payload

MISSING = "thalweg.Ray needs ray, which is not installed: run `pip install thalweg[ray]`."
IN_VAIN = 3
"""How many actors in a row may die before they are ready."""


class Ray:
    """Evaluate on Ray: `minimize(..., workers=thalweg.Ray(workers=8))`.

    Without `address` on this machine: an instance that is initialised already is used, otherwise one is started and shut down
    in the end. With `address` on that cluster ("auto" finds the one this machine belongs to). `workers` actors evaluate, by
    default one for each CPU there is; further options are those of a Ray actor: `num_cpus` (1), `num_gpus`, `resources`,
    `runtime_env` ...
    """

    def __init__(self, address: str | None = None, workers: int | None = None, **options: Any) -> None:
        self.address = address
        self.workers = None if workers is None else as_count(workers, "workers")
        self.options: dict[str, Any] = {"num_cpus": 1, **options}

    def engine(self, fun: Objective, args: tuple[Any, ...]) -> "RayEngine":
        """Connect, or start Ray here."""
        try:
            ray: Any = importlib.import_module("ray")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(MISSING, name=error.name) from error
        job = payload(fun, args)
        ours = not ray.is_initialized()
        if ours:
            local = {"num_cpus": self.workers, "include_dashboard": False} if self.address is None else {}
            with warnings.catch_warnings():
                # JAX warns of forks, rightly; those here become other programs at once
                warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
                ray.init(address=self.address or "local", logging_level="error", **local)
        number = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1) // (self.options["num_cpus"] or 1)))
        return RayEngine(fun, args, ray, ray.put(job), number, self.options, ours)


@dataclass(eq=False)
class Actor:
    """A worker, and what it is asked at present: at first whether it is ready."""

    handle: Any
    asked: Any
    ready: bool = False
    ticket: Ticket | None = None


@dataclass
class RayEngine(Engine):
    """Actors, one for each evaluation that goes on at a time."""

    ray: Any
    job: Any
    """The pickled objective in the object store."""
    number: int
    options: dict[str, Any]
    ours: bool
    """Whether Ray was initialised here, and is to be shut down here."""
    actors: list[Actor] = field(default_factory=list[Actor], init=False)
    in_vain: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.make = self.ray.remote(max_restarts=0, max_task_retries=0, **self.options)(_worker_class())
        self.room(self.number)

    @property
    def slots(self) -> int:
        return self.number

    def room(self, wanted: int) -> int:
        busy = sum(actor.ticket is not None for actor in self.actors)
        for _ in range(min(self.number, wanted + busy) - len(self.actors)):
            handle = self.make.remote(self.job, os.getcwd())
            self.actors.append(Actor(handle, handle.ready.remote()))
        return sum(actor.ready and actor.ticket is None for actor in self.actors)

    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        actor = next(actor for actor in self.actors if actor.ready and actor.ticket is None)
        actor.ticket, actor.asked = ticket, actor.handle.evaluate.remote(x)

    def finished(self, timeout: float | None) -> list[tuple[Ticket, Outcome]]:
        asked = {actor.asked: actor for actor in self.actors if actor.asked is not None}
        if not asked:
            return []
        done, _ = self.ray.wait(list(asked), timeout=timeout)
        if done:  # all that have answered, not only the first
            done, _ = self.ray.wait(list(asked), num_returns=len(asked), timeout=0)
        found: list[tuple[Ticket, Outcome]] = []
        for reference in done:
            actor, ticket = asked[reference], asked[reference].ticket
            outcome = self._answer(actor)
            if ticket is not None:
                found.append((ticket, outcome))
            elif isinstance(outcome.value, Failure):
                self._died_in_vain(outcome.value)
            else:
                actor.ready, self.in_vain = True, 0
        return found

    def give_up(self, ticket: Ticket) -> None:
        for actor in self.actors:
            if actor.ticket == ticket:
                self._remove(actor)
                return

    def close(self) -> None:
        for actor in list(self.actors):
            self._remove(actor)
        if self.ours:
            self.ray.shutdown()

    def _answer(self, actor: Actor) -> Outcome:
        reference, actor.asked, actor.ticket = actor.asked, None, None
        try:
            return received(self.ray.get(reference))
        except self.ray.exceptions.RayError as error:  # killed, out of memory, or its node is lost
            self._remove(actor)
            return Outcome(Failure(f"{DIED.reason} ({_first_line(error)})", error if not actor.ready else None))

    def _died_in_vain(self, failure: Failure) -> None:
        self.in_vain += 1
        if self.in_vain >= IN_VAIN:
            raise RuntimeError(
                f"{self.in_vain} Ray actors in a row died before they could begin; can they import what fun needs? "
                f"{failure.reason}"
            ) from failure.error

    def _remove(self, actor: Actor) -> None:
        self.actors.remove(actor)
        self.ray.kill(actor.handle, no_restart=True)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0]


def _worker_class() -> type:
    """The class of the actors; made in a function, so that it travels by value."""

    class ThalwegWorker:
        def __init__(self, job: bytes, folder: str) -> None:
            import os
            import pickle
            from contextlib import suppress

            with suppress(OSError):  # another machine may not have it
                os.chdir(folder)
            self.call = pickle.loads(job)

        def ready(self) -> tuple[float, str, bool, None, str, str, float, None]:
            return 0.0, "", True, None, "", "", 0.0, None

        def evaluate(self, x: np.ndarray) -> Any:
            return self.call(x)

    return ThalwegWorker
