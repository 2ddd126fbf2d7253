"""Processes of our own, for `workers=2` and the like.

They are started afresh and not forked, as a fork of a process that runs JAX may deadlock, and they do not run the user's script
again, as those of `multiprocessing` do, so that no `if __name__ == "__main__":` is needed. One that dies costs the point that
it had; it is replaced.
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

from thalweg._common.outcome import Failure, Outcome, received
from thalweg.evaluate.base import DIED, Engine, Ticket
from thalweg.evaluate.shipping import payload

SCRIPT = Path(__file__).with_name("worker.py")
IN_VAIN = 3
"""How many processes in a row may die before they are ready."""


@dataclass(eq=False)
class Worker:
    """A worker process."""

    process: subprocess.Popen[bytes]
    connection: socket.socket
    source: IO[bytes]
    ready: bool = False
    ticket: Ticket | None = None
    """The point that it evaluates."""

    @classmethod
    def begin(cls, job: bytes) -> "Worker":
        """Start a process and send it what to do."""
        here, there = socket.socketpair()
        with there:
            process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT), str(there.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                pass_fds=[there.fileno()],
                process_group=0,  # its own, so that it can be ended together with what it has started
            )
        worker = cls(process, here, here.makefile("rb"))
        worker.send((os.getcwd(), sys.path, job))
        return worker

    def send(self, message: Any) -> None:
        """Send a message; what a dead one would have to answer is seen when it is asked."""
        with suppress(OSError):
            self.connection.sendall(pickle.dumps(message))

    def receive(self) -> Any:
        """The next message; EOFError from a dead one."""
        try:
            return pickle.load(self.source)
        except (OSError, pickle.UnpicklingError) as error:  # it died in the midst of it
            raise EOFError from error

    def end(self) -> str:
        """End it and what it has started; returns how it ended."""
        died = self.process.poll()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait() if died is None else died
        self.source.close()
        self.connection.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


@dataclass
class Processes(Engine):
    """A number of worker processes; the objective is sent to each once."""

    number: int
    workers: list[Worker] = field(default_factory=list[Worker], init=False)
    in_vain: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if sys.platform == "win32":
            raise ValueError(f"workers={self.number} needs Linux or macOS; pass workers=ProcessPoolExecutor({self.number})")
        self.job = payload(self.fun, self.args)
        self.selector = selectors.DefaultSelector()
        self.room(self.number)  # they start up while the first points are drawn

    @property
    def slots(self) -> int:
        return self.number

    def room(self, wanted: int) -> int:
        for worker in [worker for worker in self.workers if worker.ticket is None and worker.process.poll() is not None]:
            self._lost(worker)
        for _ in range(min(self.number, wanted + self._busy()) - len(self.workers)):
            worker = Worker.begin(self.job)
            self.workers.append(worker)
            self.selector.register(worker.connection, selectors.EVENT_READ, worker)
        return sum(worker.ready and worker.ticket is None for worker in self.workers)

    def start(self, ticket: Ticket, x: np.ndarray) -> None:
        worker = next(worker for worker in self.workers if worker.ready and worker.ticket is None)
        worker.ticket = ticket
        worker.send(x)

    def finished(self, timeout: float | None) -> list[tuple[Ticket, Outcome]]:
        found: list[tuple[Ticket, Outcome]] = []
        for key, _ in self.selector.select(timeout):
            worker: Worker = key.data
            try:
                message = worker.receive()
            except EOFError:
                found.extend(self._lost(worker))
                continue
            if worker.ready:
                found.append((worker.ticket, received(message)))
                worker.ticket = None
            elif message is None:
                worker.ready, self.in_vain = True, 0
            else:
                raise RuntimeError(
                    f"workers={self.number}: a worker process cannot load fun ({message}); "
                    "can a new process import what fun needs?"
                )
        return found

    def give_up(self, ticket: Ticket) -> None:
        for worker in self.workers:
            if worker.ticket == ticket:
                self._remove(worker)
                return

    def close(self) -> None:
        while self.workers:
            self._remove(self.workers[0])
        self.selector.close()

    def _busy(self) -> int:
        return sum(worker.ticket is not None for worker in self.workers)

    def _lost(self, worker: Worker) -> list[tuple[Ticket, Outcome]]:
        """Take a dead process out; what is lost with it."""
        how = self._remove(worker)
        if worker.ready:
            name = f"{os.uname().nodename}:{worker.process.pid}"
            lost = Failure(f"{DIED.reason} ({how})")
            return [] if worker.ticket is None else [(worker.ticket, Outcome(lost, name))]
        self.in_vain += 1
        if self.in_vain >= IN_VAIN:
            raise RuntimeError(
                f"workers={self.number}: {self.in_vain} worker processes in a row died before they could begin, the last with "
                f"{how}; is there memory enough for them, and can a new process import what fun needs?"
            )
        return []

    def _remove(self, worker: Worker) -> str:
        self.workers.remove(worker)
        self.selector.unregister(worker.connection)
        return worker.end()
