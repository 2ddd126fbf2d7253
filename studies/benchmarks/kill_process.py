"""Processes of a run that `kill.py` kills: attempts started afresh or as forks, workers found by a mark, and signals."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import thalweg

MARK = "THALWEG_KILL"
"""The environment variable that identifies the processes of an attempt."""
SCRIPT = str(Path(__file__).with_name("kill_child.py"))


class Attempt(Protocol):
    """A process, as `subprocess.Popen` is one."""

    pid: int
    returncode: int | Any

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...


def environment(mark: str) -> dict[str, str]:
    """Return the variables of an attempt that differ from those of this process."""
    source = str(Path(thalweg.__file__).parents[1])
    return {MARK: mark, "PYTHONPATH": source, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}


def start_afresh(settings: dict[str, Any], mark: str) -> Attempt:
    """Start an attempt as a new Python process."""
    return subprocess.Popen([sys.executable, SCRIPT, json.dumps(settings)], env=os.environ | environment(mark))


class Nursery:
    """A process that has imported the library and makes attempts in forks of itself."""

    def __init__(self) -> None:
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([sys.executable, SCRIPT, "--serve"], env=os.environ | environment(""), **pipes)

    def ask(self, question: dict[str, Any]) -> int:
        """Send a line and return the answer."""
        self.process.stdin.write(json.dumps(question) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return int(self.process.stdout.readline())  # type: ignore[union-attr]

    def start(self, settings: dict[str, Any], mark: str) -> Attempt:
        """Start an attempt as a fork."""
        return Fork(self, self.ask({"start": settings, "environment": environment(mark)}))


class Fork:
    """A fork of a nursery; it is waited for as a `subprocess.Popen`."""

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self.nursery, self.pid, self.returncode = nursery, pid, None
        self.descriptor = os.pidfd_open(pid)

    def poll(self) -> int | None:
        """Return the exit code; None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code, or raise `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self.descriptor], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("fork", timeout or 0.0)
            self.returncode = self.nursery.ask({"wait": self.pid})
            os.close(self.descriptor)
        return self.returncode


def kill_process(pid: int) -> bool:
    """Send SIGKILL; return False if the process has ended already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def members(mark: str, name: str = MARK) -> list[int]:
    """Return the ids of the living processes that were started with this mark, such as the workers of an attempt."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{name}={mark}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it has ended, or belongs to another user
            continue
    return found
