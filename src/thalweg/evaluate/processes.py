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
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar, NamedTuple

from thalweg._common.checks import as_count
from thalweg._common.interrupts import interruptible
from thalweg._common.lifeline import Lifeline
from thalweg._common.outcome import Objective
from thalweg.evaluate.pickling import pickle_objective
from thalweg.evaluate.worker_pool import Worker, WorkerPool

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


class Connection(NamedTuple):
    """A worker process and the socket that leads to it."""

    process: subprocess.Popen[bytes]
    socket: socket.socket
    source: IO[bytes]
    lifeline: Lifeline


@dataclass
class ProcessesEngine(WorkerPool):
    """Worker processes that receive the objective once, then a point at a time."""

    kind: ClassVar[str] = "worker processes"

    def __post_init__(self) -> None:
        if sys.platform == "win32":
            raise ValueError(f"workers={self.number} needs Linux or macOS; pass workers=ProcessPoolExecutor({self.number})")
        self.objective = pickle_objective(self.fun, self.args)
        self.folder = os.getcwd()
        self.selector = selectors.DefaultSelector()
        self.room(self.number)  # they start while the first points are drawn

    def room(self, wanted: int) -> int:
        for worker in [worker for worker in self.workers if worker.point_id is None]:
            if worker.handle.process.poll() is not None:
                self.lost(worker)
        return super().room(wanted)

    def launch(self) -> Worker:
        here, there = socket.socketpair()
        lifeline = Lifeline()
        with there:
            process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT), str(there.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno(), *lifeline.descriptors],
                process_group=0,  # its own, so that it can be killed together with its children
            )
        lifeline.hold(process.pid)
        worker = Worker(Connection(process, here, here.makefile("rb"), lifeline), f"{os.uname().nodename}:{process.pid}")
        self.selector.register(here, selectors.EVENT_READ, worker)
        self.send(worker, (self.folder, sys.path, self.objective))
        return worker

    def send(self, worker: Worker, x: Any) -> None:
        with suppress(OSError):  # a dead process is noticed by `messages`
            worker.handle.socket.sendall(pickle.dumps(x))

    def messages(self, timeout: float | None) -> Iterator[tuple[Worker, Any]]:
        with interruptible():
            ready = self.selector.select(timeout)
        for key, _ in ready:
            try:
                yield key.data, pickle.load(key.data.handle.source)
            except (EOFError, OSError, pickle.UnpicklingError) as error:  # it died, maybe in the middle of a message
                yield key.data, error

    def end(self, worker: Worker) -> str:
        """Kill the process and its children. Return how it ended."""
        process, connection, source, lifeline = worker.handle
        self.selector.unregister(connection)
        died = process.poll()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        code = process.wait() if died is None else died
        source.close()
        connection.close()
        lifeline.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def close(self) -> None:
        super().close()
        self.selector.close()
