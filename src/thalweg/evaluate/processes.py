"""Evaluation in worker processes on this machine, as for `workers=2`.

They are started afresh, as a forked process that runs JAX may deadlock. Unlike those of `multiprocessing` they do not run the
user's script again, so that no `if __name__ == "__main__":` is needed. A process that dies costs one evaluation.
"""

import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from thalweg._common.checks import as_count
from thalweg._common.outcome import Failure, Objective, Outcome
from thalweg.evaluate.base import DIED, MAX_FAILED_STARTS, Engine, PointId
from thalweg.evaluate.pickling import pickle_objective, unpack

SCRIPT = Path(__file__).with_name("worker.py")


class Processes:
    """Evaluate in `workers` processes on this machine, by default one for each CPU: `minimize(..., workers="processes")`."""

    def __init__(self, address: None = None, workers: int | None = None) -> None:
        if address is not None:
            raise ValueError(f"address must be None for processes, which run on this machine, got {address!r}")
        self.workers = (os.cpu_count() or 1) if workers is None else as_count(workers, "workers")

    def engine(self, fun: Objective, args: tuple[Any, ...]) -> "ProcessesEngine":
        """Start the processes."""
        return ProcessesEngine(fun, args, self.workers)


@dataclass(eq=False)
class Worker:
    """A worker process and the connection to it."""

    process: subprocess.Popen[bytes]
    connection: socket.socket
    source: IO[bytes]
    ready: bool = False
    point_id: PointId | None = None
    """Point that is being evaluated."""

    @classmethod
    def launch(cls, objective: bytes) -> "Worker":
        """Start a process and send it the pickled objective."""
        here, there = socket.socketpair()
        with there:
            process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT), str(there.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                process_group=0,  # its own, so that it can be killed together with its children
            )
        worker = cls(process, here, here.makefile("rb"))
        worker.send((os.getcwd(), sys.path, objective))
        return worker

    def send(self, message: Any) -> None:
        """Send a message. A dead process is noticed on `receive`."""
        with suppress(OSError):
            self.connection.sendall(pickle.dumps(message))

    def receive(self) -> Any:
        """Return the next message, or raise EOFError if the process is dead."""
        try:
            return pickle.load(self.source)
        except (OSError, pickle.UnpicklingError) as error:  # it died in the middle of a message
            raise EOFError from error

    def end(self) -> str:
        """Kill the process and its children. Return how it ended."""
        died = self.process.poll()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait() if died is None else died
        self.source.close()
        self.connection.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


@dataclass
class ProcessesEngine(Engine):
    """Worker processes that receive the objective once, then a point at a time."""

    number: int
    workers: list[Worker] = field(default_factory=list[Worker], init=False)
    failed_starts: int = field(default=0, init=False)
    """Number of processes in a row that died before they were ready."""

    def __post_init__(self) -> None:
        if sys.platform == "win32":
            raise ValueError(f"workers={self.number} needs Linux or macOS; pass workers=ProcessPoolExecutor({self.number})")
        self.objective = pickle_objective(self.fun, self.args)
        self.selector = selectors.DefaultSelector()
        self.room(self.number)  # they start while the first points are drawn

    @property
    def capacity(self) -> int:
        return self.number

    def room(self, wanted: int) -> int:
        for worker in [worker for worker in self.workers if worker.point_id is None and worker.process.poll() is not None]:
            self._lost(worker)
        for _ in range(min(self.number, wanted + self._busy()) - len(self.workers)):
            worker = Worker.launch(self.objective)
            self.workers.append(worker)
            self.selector.register(worker.connection, selectors.EVENT_READ, worker)
        return sum(worker.ready and worker.point_id is None for worker in self.workers)

    def start(self, point_id: PointId, x: np.ndarray) -> None:
        worker = next(worker for worker in self.workers if worker.ready and worker.point_id is None)
        worker.point_id = point_id
        worker.send(x)

    def finished(self, timeout: float | None) -> list[tuple[PointId, Outcome]]:
        found: list[tuple[PointId, Outcome]] = []
        for key, _ in self.selector.select(timeout):
            worker: Worker = key.data
            try:
                message = worker.receive()
            except EOFError:
                found.extend(self._lost(worker))
                continue
            if worker.ready:
                found.append((worker.point_id, unpack(message)))
                worker.point_id = None
            elif message is None:
                worker.ready, self.failed_starts = True, 0
            else:
                raise RuntimeError(
                    f"workers={self.number}: a worker process cannot load fun ({message}); "
                    "check that a new process can import what fun needs"
                )
        return found

    def cancel(self, point_id: PointId) -> None:
        for worker in self.workers:
            if worker.point_id == point_id:
                self._remove(worker)
                return

    def close(self) -> None:
        while self.workers:
            self._remove(self.workers[0])
        self.selector.close()

    def _busy(self) -> int:
        return sum(worker.point_id is not None for worker in self.workers)

    def _lost(self, worker: Worker) -> list[tuple[PointId, Outcome]]:
        """Remove a dead process. Return the failure of the point that it evaluated, if any."""
        how = self._remove(worker)
        if worker.ready:
            name = f"{os.uname().nodename}:{worker.process.pid}"
            lost = Failure(f"{DIED.reason} ({how})")
            return [] if worker.point_id is None else [(worker.point_id, Outcome(lost, name))]
        self.failed_starts += 1
        if self.failed_starts >= MAX_FAILED_STARTS:
            raise RuntimeError(
                f"workers={self.number}: {self.failed_starts} worker processes in a row died before they were ready, the last "
                f"with {how}; check that there is enough memory for them, and that a new process can import what fun needs"
            )
        return []

    def _remove(self, worker: Worker) -> str:
        self.workers.remove(worker)
        self.selector.unregister(worker.connection)
        return worker.end()
