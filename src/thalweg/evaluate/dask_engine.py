"""Evaluation on Dask (extra `dask`): on this machine or on a cluster.

A plugin takes the objective to each worker once, also to workers that join later or are restarted. A worker that dies costs the
evaluations that it was running.
"""

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
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from thalweg._common.checks import as_count
from thalweg._common.extras import require
from thalweg._common.interrupts import interruptible
from thalweg._common.outcome import Failure, Objective, Outcome, raised
from thalweg.evaluate.base import DIED, Engine, PointId
from thalweg.evaluate.pickling import PackedOutcome, pickle_objective, unpack

NO_WORKERS_LIMIT = 60.0
"""Seconds to wait for workers when there are none."""
RESTART_INTERVAL = 0.1
"""Seconds between two checks of workers that are being restarted."""
JOIN_INTERVAL = 1.0
"""Seconds between two checks for workers that join."""
KILL_LIMIT = 5.0
"""Seconds to wait until the scheduler knows that a worker was killed."""


class Dask:
    """Evaluate on Dask: `minimize(..., workers=thalweg.Dask(workers=8))`.

    On a running cluster the scheduler itself moves a point whose worker died to another one, as often as its setting
    `distributed.scheduler.allowed-failures` says, before the evaluation counts as failed here.

    Args:
        address: Address of a scheduler, a cluster, or a `distributed.Client`. None uses the current `Client`, or else starts
            processes on this machine and ends them at the end.
        workers: Number of evaluations that run at a time; by default the number of threads in the cluster, on this machine
            one for each CPU.
        options: Options of `distributed.Client`.
    """

    def __init__(self, address: Any = None, workers: int | None = None, **options: Any) -> None:
        self.address = address
        self.workers = None if workers is None else as_count(workers, "workers")
        self.options = options

    def engine(self, fun: Objective, args: tuple[Any, ...]) -> "DaskEngine":
        """Connect to the cluster, or start processes on this machine."""
        distributed = require("distributed", extra="dask", purpose="thalweg.Dask")
        objective = pickle_objective(fun, args)
        client: Any = self.address
        workers = self.workers
        if client is None:
            with suppress(ValueError):
                client = distributed.Client.current()
        with ExitStack() as closing:
            if not isinstance(client, distributed.Client):
                if client is None:
                    workers = self.workers or os.cpu_count() or 1
                    client = _start_cluster(distributed, workers, closing)
                client = distributed.Client(client, set_as_default=False, **self.options)
                closing.callback(client.close)
            engine = DaskEngine(fun, args, distributed, client, objective, workers)
            engine.closing = closing.pop_all()
            return engine


@dataclass
class DaskEngine(Engine):
    """Submits each point as a task of its own."""

    distributed: Any
    client: Any
    objective: bytes
    """Pickled objective."""
    workers: int | None
    """Number of evaluations that may run at a time; None means all threads of the cluster."""
    closing: ExitStack = field(default_factory=ExitStack, init=False)
    """Actions of `close`: they end the client and the cluster if these were started here."""
    running: dict[str, tuple[PointId, Any, str | None]] = field(
        default_factory=dict[str, tuple[PointId, Any, str | None]], init=False
    )
    """Point, future and worker of each task without an outcome, by the key of the task."""
    threads: dict[str, int] = field(default_factory=dict[str, int], init=False)
    """Number of threads of each worker, by its address."""
    no_workers_since: float | None = field(default=None, init=False)
    """Time since which there is no worker at all."""
    complete: bool = field(default=False, init=False)
    """True if no worker is known to be missing."""

    def __post_init__(self) -> None:
        self.name, self.scheduler = f"thalweg-{uuid.uuid4().hex}", self.client.scheduler.address
        self.task = _task(self.name)
        self.ended: SimpleQueue[tuple[str, PackedOutcome | None]] = SimpleQueue()
        self.client.wait_for_workers(1, timeout=NO_WORKERS_LIMIT)
        self.client.subscribe_topic(self.name, lambda event: self.ended.put(event[1]))
        self.client.register_plugin(_plugin(self.distributed, self.name, self.objective), name=self.name)
        self.number, self.counted_at = self.workers or 1, 0.0
        self._count_threads()

    @property
    def capacity(self) -> int:
        return self.number

    def room(self, wanted: int) -> int:
        """Return the room: less while a worker is restarted, as two points on one worker could die together."""
        self._check_connection()
        current = self.complete and (self.workers is not None or time.monotonic() < self.counted_at + JOIN_INTERVAL)
        usable = self.number if current else self._count_threads()
        return max(0, usable - len(self.running))

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        key = f"{self.name}-{uuid.uuid4().hex}"  # unique, as the same point may be evaluated twice
        # chosen here: the scheduler, which hears later than we that a task is done, might queue this one behind a slow one
        busy = Counter(where for _, _, where in self.running.values())
        free = next((worker for worker, number in self.threads.items() if busy[worker] < number), None)
        place = {} if free is None else {"workers": [free], "allow_other_workers": True}
        future = self.client.submit(self.task, key, x, key=key, pure=False, retries=0, **place)
        self.running[key] = point_id, future, free
        future.add_done_callback(lambda future: self.ended.put((future.key, None)))

    def finished(self, timeout: float | None) -> list[tuple[PointId, Outcome]]:
        interval = JOIN_INTERVAL if self.complete else RESTART_INTERVAL
        timeout = interval if timeout is None else min(timeout, interval)
        found: list[tuple[PointId, Outcome]] = []
        with suppress(Empty):
            with interruptible():
                first = self.ended.get(timeout=timeout)
            self._take(*first, found)
            while True:
                self._take(*self.ended.get_nowait(), found)
        if not found:
            self._check_connection()
        return found

    def cancel(self, point_id: PointId) -> None:
        """Kill the worker process that has the point, as nothing less stops an evaluation. Its nanny starts another one."""
        key = next((key for key, (running, _, _) in self.running.items() if running == point_id), None)
        if key is None or self.client.status != "running":
            return
        _, future, _ = self.running.pop(key)
        where = [worker for worker, keys in self.client.processing().items() if key in keys]
        future.cancel()
        if where:
            self.complete = False
            self.client.run(  # a function made in a function is pickled by value
                lambda dask_worker: os.kill(dask_worker.pid, signal.SIGKILL), nanny=True, workers=where, on_error="ignore"
            )
            end = time.monotonic() + KILL_LIMIT
            while not self.client.nthreads().keys().isdisjoint(where) and time.monotonic() < end:
                time.sleep(0.01)  # the next point must not go to the dead worker

    def close(self) -> None:
        with suppress(Exception), self.closing:  # the cluster may be gone
            self._check_connection()
            for _, future, _ in self.running.values():
                future.cancel()
            self.client.unsubscribe_topic(self.name)
            self.client.unregister_worker_plugin(self.name)

    def _take(self, key: str, packed: PackedOutcome | None, found: list[tuple[PointId, Outcome]]) -> None:
        if key not in self.running:  # it was cancelled, or this is its second message
            return
        point_id, future, _ = self.running.pop(key)
        found.append((point_id, unpack(packed) if packed is not None else self._outcome(future)))
        future.release()  # or it would be evaluated again when its worker dies

    def _outcome(self, future: Any) -> Outcome:
        """Return the outcome of a task that ended without an event."""
        try:
            future.result()
            return Outcome(Failure("Dask has lost the outcome"))
        except self.distributed.KilledWorker:
            self.complete = False
            return Outcome(Failure(DIED.reason))
        except CancelledError:
            self._check_connection()  # rather an error than failures, as the points can be evaluated after a restart
            return Outcome(Failure("Dask has cancelled the evaluation"))
        except Exception as error:
            return Outcome(raised(error))

    def _check_connection(self) -> None:
        """Raise a ConnectionError if the scheduler is gone: one that comes back knows neither tasks nor objective."""
        if self.client.status != "running":
            raise self._gone()

    def _gone(self) -> ConnectionError:
        reason = f"Dask's scheduler at {self.scheduler} is gone"
        return ConnectionError(
            f"{reason}; start a cluster and make the same call again, which goes on from the checkpoint, if any"
        )

    def _count_threads(self) -> int:
        """Return the number of threads that may be used now. Unless `workers` was given, more may join."""
        try:
            self.threads = self.client.nthreads()
        except OSError as error:
            raise self._gone() from error
        found = sum(self.threads.values())
        self.number = self.workers or max(self.number, found)
        self.counted_at, self.complete = time.monotonic(), found >= self.number
        self.no_workers_since = None if found else self.no_workers_since or self.counted_at
        if self.no_workers_since is not None and self.counted_at - self.no_workers_since > NO_WORKERS_LIMIT:
            raise RuntimeError(f"Dask has had no workers for {NO_WORKERS_LIMIT:g} seconds; check the cluster")
        return min(found, self.number)


def _start_cluster(distributed: Any, workers: int, closing: ExitStack) -> Any:
    """Start a scheduler in this process and workers in others. Add to `closing` what ends them.

    The workers of `LocalCluster` would run the user's script again, which then needs an `if __name__ == "__main__":`.
    """
    folder = closing.enter_context(tempfile.TemporaryDirectory(prefix="thalweg-dask-", ignore_cleanup_errors=True))
    cluster = distributed.LocalCluster(
        n_workers=0,
        processes=True,
        dashboard_address=":0",  # any port: with None it takes 8787 and warns if that is in use
        silence_logs=logging.CRITICAL,  # failures of workers are reported as outcomes
        scheduler_kwargs={"allowed_failures": 0},
    )
    closing.callback(cluster.close)
    command = [sys.executable, "-m", "dask", "worker", cluster.scheduler_address, "--no-dashboard", "--death-timeout", "60"]
    command += ["--nworkers", str(workers), "--nthreads", "1", "--local-directory", folder]
    path = os.pathsep.join(place or os.getcwd() for place in sys.path)
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path, "DASK_LOGGING__DISTRIBUTED": "error"},
        process_group=0,  # Ctrl-C is for the process that waits, and all can be killed at once
    )

    def end() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    closing.callback(end)
    return cluster


def _plugin(distributed: Any, name: str, objective: bytes) -> Any:
    """Make the plugin that unpickles the objective in each worker. A class made in a function is pickled by value."""

    class ThalwegObjective(distributed.WorkerPlugin):
        def setup(self, worker: Any) -> None:
            import pickle

            setattr(worker, name, pickle.loads(objective))

        def teardown(self, worker: Any) -> None:
            delattr(worker, name)

    return ThalwegObjective()


def _task(name: str) -> Callable[[str, np.ndarray], None]:
    """Make the task that a worker runs for a point.

    The outcome goes to the scheduler as an event. As the result of the task it would arrive later, and stay with the worker
    until it is fetched, so that it could be lost.
    """

    def evaluate(key: str, x: np.ndarray) -> None:
        from distributed import get_worker

        worker = get_worker()
        worker.log_event(name, (key, getattr(worker, name)(x)))

    return evaluate
