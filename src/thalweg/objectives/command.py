"""Any program as an objective: the point goes in as arguments, as JSON on stdin or in a file; the value comes out on stdout."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from thalweg._common.checks import as_array, as_positive, shortened

PLACEHOLDER = re.compile(r"\{(x|x?\d+|file|here)\}")
TAIL = 400
"""Characters of a program's last words that an error quotes."""
LOOK = 2**20
"""Bytes at the end of stdout in which to look for the value: a program may talk for hours."""

_running: set["subprocess.Popen[bytes]"] = set()
_starting = threading.RLock()
"""A program may be at work before its thread has noted it. Held twice if a signal comes in the midst of that."""


class ProgramError(RuntimeError):
    """A program that was to evaluate a point gave no number."""


@dataclass(frozen=True)
class Command:
    """A program that evaluates a point; picklable, and threads suffice as workers for it.

    >>> Command("echo 1 {x}").words([0.5, -2.0])
    ['echo', '1', '0.5', '-2.0']
    >>> Command("expr 3 + 4")([0.5, -2.0])
    7.0

    `{x}` stands for all coordinates: as arguments of their own where it is a word by itself, otherwise with commas between;
    `{x0}` or `{0}`, `{x1}` or `{1}`, ... are single ones, `{file}` is the path of a JSON file with the list of them. Without
    any of these the program finds that list on its standard input. `{here}` is the folder in which this process works. Numbers
    are written so that they can be read back to the last bit; a program that takes -1 for an option may want `-- {x}`.

    The value is what the last line on stdout says that is a number, or a JSON object with a number "f". No such line, an exit
    status other than 0, or more than `timeout` seconds (all processes of the program are killed then) raise a `ProgramError`
    with the end of what the program wrote on stderr.
    """

    command: str | Sequence[str]
    """As typed in a shell, or a list of words."""

    timeout: float | None = None
    """Seconds for one evaluation."""

    shell: bool = False
    """Whether a shell reads the command: for pipes, variables and several commands. Otherwise none does."""

    scratch: bool = False
    """Whether each evaluation works in a folder of its own, which is removed afterwards."""

    def __post_init__(self) -> None:
        if self.shell and not isinstance(self.command, str):
            raise TypeError(f"command must be one text for shell=True, got {shortened(self.command)}")
        words = self._split()
        if not words:
            raise ValueError(f"command must name a program, got {self.command!r}")
        if not isinstance(self.command, str):
            object.__setattr__(self, "command", tuple(words))  # hashable
        if self.timeout is not None:
            as_positive(self.timeout, "timeout")

    def __call__(self, x: Any) -> float:
        """The value at x, of shape (d,)."""
        point = np.atleast_1d(as_array(x, "x")).tolist()
        with contextlib.ExitStack() as stack:
            folder: str | None = None
            if self.scratch:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="thalweg-", ignore_cleanup_errors=True))
            path = stack.enter_context(_json_file(point)) if "file" in self._named else None
            # files, not pipes: a child that outlives the program would keep a pipe open, and us waiting
            given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            if not self._named - {"here"}:
                given.write(f"{json.dumps(point)}\n".encode())
                given.seek(0)
            status, expired = self._run(self.words(point, path), folder, given, out, err)
            stdout, stderr = _text(out), _text(err)
        if expired:
            raise ProgramError(self._complaint(f"was killed after {self.timeout:g} s", stderr))
        if status != 0:
            how = f"exited with status {status}" if status > 0 else f"was killed by signal {-status}"
            raise ProgramError(self._complaint(how, stderr))
        value = parse_value(stdout)
        if value is None:
            last = shortened(stdout.strip()[-TAIL:]) if stdout.strip() else "nothing"
            raise ProgramError(self._complaint(f"wrote no number to stdout, but {last}", stderr))
        return value

    def words(self, point: Sequence[float], path: str | None = None) -> list[str]:
        """What is executed at a point: the program and its arguments, or for a shell a single text."""
        if self.shell:
            alone = re.sub(r"(?<!\S)\{x\}(?!\S)", " ".join(map(repr, point)), str(self.command))
            return [self._filled(alone, point, None if path is None else shlex.quote(path))]
        words: list[str] = []
        for word in self._split():
            words += [repr(value) for value in point] if word == "{x}" else [self._filled(word, point, path)]
        if self.scratch and os.sep in words[0]:
            words[0] = os.path.abspath(words[0])  # "./simulate" is meant from here
        return words

    @property
    def _named(self) -> set[str]:
        """The placeholders in the command."""
        return {name for word in self._split() for name in PLACEHOLDER.findall(word)}

    def _split(self) -> list[str]:
        if not isinstance(self.command, str):
            return [str(word) for word in self.command]
        if self.shell:
            return [self.command] if self.command.strip() else []
        try:
            return shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"command {self.command!r} cannot be split into words: {error}") from None

    def _filled(self, word: str, point: Sequence[float], path: str | None) -> str:
        def fill(match: re.Match[str]) -> str:
            name = match[1]
            if name == "x":
                return ",".join(map(repr, point))
            if name == "here":
                return os.getcwd()
            if name == "file":
                return path or match[0]
            if int(name.lstrip("x")) >= len(point):
                raise ValueError(f"command names {match[0]}, but a point has {len(point)} coordinates, counted from 0")
            return repr(point[int(name.lstrip("x"))])

        return PLACEHOLDER.sub(fill, word)

    def _run(self, words: list[str], folder: str | None, given: IO[bytes], out: IO[bytes], err: IO[bytes]) -> tuple[int, bool]:
        """Exit status, and whether the time was up."""
        expired = threading.Event()
        try:
            with _starting:
                process = subprocess.Popen(
                    words[0] if self.shell else words,
                    stdin=given,
                    stdout=out,
                    stderr=err,
                    cwd=folder,
                    shell=self.shell,
                    start_new_session=True,  # a process group to kill; and Ctrl-C is for the process that waits
                )
                _running.add(process)
        except OSError as error:
            raise ProgramError(f"{self._name} cannot be started: {error}") from None

        def expire() -> None:
            expired.set()
            _kill(process)

        # Popen.wait(timeout) looks up to 20 times a second; a thread that kills in time leaves it to the kernel to wake us
        timer = None if self.timeout is None else threading.Timer(self.timeout, expire)
        try:
            if timer is not None:
                timer.start()
            return process.wait(), expired.is_set()
        except BaseException:
            _kill(process)
            process.wait()
            raise
        finally:
            _running.discard(process)
            if timer is not None:
                timer.cancel()

    @property
    def _name(self) -> str:
        return shortened(self.command if isinstance(self.command, str) else shlex.join(self.command))

    def _complaint(self, what: str, stderr: str) -> str:
        words = stderr.strip()
        quoted = "..." + words[-TAIL:] if len(words) > TAIL else words
        return f"{self._name} {what}" + (f"; stderr: {quoted}" if quoted else "")


def parse_value(stdout: str) -> float | None:
    r"""The value that a program has printed: all of it as JSON with "f", or the last line that is a number or such JSON.

    >>> parse_value("step 1\n0.25\ndone"), parse_value('{"f": 3, "mass": 7}'), parse_value("no idea")
    (0.25, 3.0, None)
    """
    for text in (stdout, *reversed(stdout.splitlines())):
        with contextlib.suppress(ValueError):
            return float(text)
        with contextlib.suppress(ValueError, OverflowError, RecursionError):
            found: Any = json.loads(text)
            value: Any = found.get("f") if isinstance(found, dict) else None
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
    return None


def end_programs() -> None:
    """Kill the programs that other threads of this process wait for, with all their processes."""
    with _starting:
        for process in tuple(_running):
            _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End a program and its children, if it still runs."""
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is not None:
            return
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


@contextlib.contextmanager
def _json_file(point: Sequence[float]) -> Generator[str, None, None]:
    handle, name = tempfile.mkstemp(prefix="thalweg-", suffix=".json")
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(point, file)
        yield name
    finally:
        Path(name).unlink(missing_ok=True)


def _text(file: IO[bytes]) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - LOOK))
    return file.read().decode(errors="replace")
