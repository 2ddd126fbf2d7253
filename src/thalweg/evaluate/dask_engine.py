"""Evaluation on Dask (extra `dask`): here, or on a cluster.

The objective goes to each worker once, by a plugin, and so to those that join later or come back. A worker that dies costs the
points that it had.
"""

import importlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from thalweg._common.checks import as_count
from thalweg._common.outcome import Failure, Objective, Outcome, Plain, raised, received
from thalweg.evaluate.base import DIED, Engine, Ticket
from thalweg.evaluate.shipping import payload

MISSING = "thalweg.Dask needs distributed, which is not installed: run `pip install thalweg[dask]`."
PATIENCE = 60.0
"""Seconds to wait for workers when there are none."""
RECOVERY = 0.1
"""Seconds between two looks at workers that are being restarted."""
GOODBYE = 5.0
"""Seconds at most until the scheduler knows that a worker was killed."""
SURE = 1.0
"""Seconds between two looks for workers that join."""


class Dask:
    """Evaluate on Dask: `minimize(..., workers=thalweg.Dask(workers=8))`.

    Without `address` on this machine: the current `distributed.Client` is used if there is one, otherwise processes are
    started, and ended at last. `address` is that of a scheduler, a cluster or a `Client`. `workers` evaluations go on at a
    time, by default as many as there are threads in the cluster, which here is one for each CPU. Further options are those of
    `Client`.

    In a cluster of others a point whose worker dies is moved to another one by the scheduler itself, as often as its setting
    `distributed.scheduler.allowed-failures` says, before it counts as lost here.
    """

    def __init__(self, address: Any = None, workers: int | None = None, **options: Any) -> None:
        self.address = address
        self.workers = None if workers is None else as_count(workers, "workers")
        self.options = options

    def engine(self, fun: Objective, args: tuple[Any, ...]) -> "DaskEngine":
        """Connect, or start processes here."""
        try:
            distributed: Any = importlib.import_module("distributed")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(MISSING, name=error.name) from error
        job = payload(fun, args)
        closing: list[Callable[[], Any]] = []
        client: Any = self.address
        workers = self.workers
        if client is None:
            with suppress(ValueError):
                client = distributed.Client.current()
        try:
            if not isinstance(client, distributed.Client):
                if client is None:
                    workers = self.workers or os.cpu_count() or 1
                    client = _start_here(distributed, workers, closing)
                client = distributed.Client(client, set_as_default=False, **self.options)
                closing.insert(0, client.close)
            return DaskEngine(fun, args, distributed, client, job, workers, closing)
        except BaseException:
            _do(closing)
            raise


@dataclass
class DaskEngine(Engine):
    """Submits each point as a task of its own."""

    distributed: Any
    client: Any
    job: bytes
    wanted: int | None
    closing: list[Callable[[], Any]]
    """What to do in the end."""
    running: dict[str, tuple[Ticket, Any, str | None]] = field(
        default_factory=dict[str, tuple[Ticket, Any, str | None]], init=False
    )
    """Point, future and worker of each task that has no outcome yet, by its key."""
    threads: dict[str, int] = field(default_factory=dict[str, int], init=False)
    """How many each worker has, by its address."""
    alone_since: float | None = field(default=None, init=False)
    """Since when there is no worker at all."""
    complete: bool = field(default=False, init=False)
    """Whether all workers are there, as far as known."""

    def __post_init__(self) -> None:
        self.name = f"thalweg-{uuid.uuid4().hex}"
        self.task = _task(self.name)
        self.ended: SimpleQueue[tuple[str, Plain | None]] = SimpleQueue()
        self.client.wait_for_workers(1, timeout=PATIENCE)
        self.client.subscribe_topic(self.name, lambda event: self.ended.put(event[1]))
        self.client.register_plugin(_plugin(self.distributed, self.name, self.job), name=self.name)
        self.number, self.looked = self.wanted or 1, 0.0
        self._able()

    @property
    def slots(self) -> int:
        return self.number

    def room(self, wanted: int) -> int:
        """Two points on one worker would be lost together, so while one is restarted there is less room."""
        sure = self.complete and (self.wanted is not None or time.monotonic() < self.looked + SURE)
        able = self.number if sure else self._able()
        return max(0, able - len(self.running))

    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        key = f"{self.name}-{uuid.uuid4().hex}"  # one of its own: the same point may be evaluated twice
        # the scheduler does not know yet that a task is done whose outcome is here, and might queue this one behind a slow one
        busy = Counter(where for _, _, where in self.running.values())
        free = next((worker for worker, number in self.threads.items() if busy[worker] < number), None)
        place = {} if free is None else {"workers": [free], "allow_other_workers": True}
        future = self.client.submit(self.task, key, x, key=key, pure=False, retries=0, **place)
        self.running[key] = ticket, future, free
        future.add_done_callback(lambda future: self.ended.put((future.key, None)))

    def finished(self, timeout: float | None) -> list[tuple[Ticket, Outcome]]:
        if not self.complete:
            timeout = RECOVERY if timeout is None else min(timeout, RECOVERY)
        found: list[tuple[Ticket, Outcome]] = []
        with suppress(Empty):
            self._take(*self.ended.get(timeout=timeout), found)
            while True:
                self._take(*self.ended.get_nowait(), found)
        return found

    def give_up(self, ticket: Ticket) -> None:
        """Ends the worker process that has the point, as nothing less stops an evaluation; its nanny starts another one."""
        key = next(key for key, (running, _, _) in self.running.items() if running == ticket)
        _, future, _ = self.running.pop(key)
        where = [worker for worker, keys in self.client.processing().items() if key in keys]
        future.cancel()
        if where:
            self.complete = False
            self.client.run(_killer(), nanny=True, workers=where, on_error="ignore")
            end = time.monotonic() + GOODBYE
            while not self.client.nthreads().keys().isdisjoint(where) and time.monotonic() < end:
                time.sleep(0.01)  # until the scheduler knows, or the next point might go there and be lost too

    def close(self) -> None:
        with suppress(Exception):  # the cluster may be gone
            for _, future, _ in self.running.values():
                future.cancel()
            self.client.unsubscribe_topic(self.name)
            if not self.closing:
                self.client.unregister_worker_plugin(self.name)
        _do(self.closing)

    def _take(self, key: str, plain: Plain | None, found: list[tuple[Ticket, Outcome]]) -> None:
        if key not in self.running:  # it was given up, or this is its second message
            return
        ticket, future, _ = self.running.pop(key)
        found.append((ticket, received(plain) if plain is not None else self._outcome(future)))
        future.release()  # or it would be evaluated again when its worker dies

    def _outcome(self, future: Any) -> Outcome:
        """That of a task which has ended without an event."""
        try:
            future.result()
            return Outcome(Failure("Dask has lost the outcome"))
        except self.distributed.KilledWorker:
            self.complete = False
            return Outcome(Failure(DIED.reason))
        except CancelledError:
            return Outcome(Failure("Dask has cancelled the evaluation; is its scheduler gone?"))
        except Exception as error:
            return Outcome(raised(error))

    def _able(self) -> int:
        """How many threads there are at present. Unless their number was given, more may join."""
        self.threads = self.client.nthreads()
        able = sum(self.threads.values())
        self.number = self.wanted or max(self.number, able)
        self.looked, self.complete = time.monotonic(), able >= self.number
        self.alone_since = None if able else self.alone_since or self.looked
        if self.alone_since is not None and self.looked - self.alone_since > PATIENCE:
            raise RuntimeError(f"Dask has had no workers for {PATIENCE:g} seconds")
        return min(able, self.number)


def _do(actions: list[Callable[[], Any]]) -> None:
    while actions:
        with suppress(Exception):
            actions.pop(0)()


def _start_here(distributed: Any, workers: int, closing: list[Callable[[], Any]]) -> Any:
    """A scheduler in this process and workers in others.

    Those of `LocalCluster` would run the user's script again, and so need an `if __name__ == "__main__":`.
    """
    cluster = distributed.LocalCluster(
        n_workers=0,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,  # what happens to workers is told here
        scheduler_kwargs={"allowed_failures": 0},
    )
    folder = tempfile.TemporaryDirectory(prefix="thalweg-dask-", ignore_cleanup_errors=True)
    command = [sys.executable, "-m", "dask", "worker", cluster.scheduler_address, "--no-dashboard", "--death-timeout", "60"]
    command += ["--nworkers", str(workers), "--nthreads", "1", "--local-directory", folder.name]
    path = os.pathsep.join(place or os.getcwd() for place in sys.path)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path, "DASK_LOGGING__DISTRIBUTED": "error"},
        process_group=0,  # so that Ctrl-C is for the process that waits, and all can be ended at once
    )

    def end() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    closing.extend([end, cluster.close, folder.cleanup])
    return cluster


def _plugin(distributed: Any, name: str, job: bytes) -> Any:
    """Makes the objective known to each worker; its class is made in a function, so that it travels by value."""

    class ThalwegObjective(distributed.WorkerPlugin):
        def setup(self, worker: Any) -> None:
            import pickle

            setattr(worker, name, pickle.loads(job))

        def teardown(self, worker: Any) -> None:
            delattr(worker, name)

    return ThalwegObjective()


def _killer() -> Callable[[Any], None]:
    """What a nanny is to do with its worker; made in a function, so that it travels by value."""

    def kill(dask_worker: Any) -> None:
        os.kill(dask_worker.pid, signal.SIGKILL)

    return kill


def _task(name: str) -> Callable[[str, np.ndarray], None]:
    """What a worker does with a point.

    The outcome goes to the scheduler by an event. As the value of the task it would stay with the worker until it is fetched,
    and be lost with it, and it would come later.
    """

    def evaluate(key: str, x: np.ndarray) -> None:
        from distributed import get_worker

        worker = get_worker()
        worker.log_event(name, (key, getattr(worker, name)(x)))

    return evaluate
