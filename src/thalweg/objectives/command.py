"""External programs as objectives: the point is passed as arguments, on stdin or in a file; the value is read from stdout."""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import IO, Any

import numpy as np

from thalweg._common.checks import as_array, as_number, as_positive, listed, shortened
from thalweg._common.interrupts import interruptible, undisturbed
from thalweg._common.lifeline import Lifeline

PLACEHOLDER = re.compile(r"\{(\w+|x\[\d+\])\}")
COORDINATE = re.compile(r"x|x?\d+|x\[\d+\]|file")
"""Placeholders for the point that need no names of variables."""
PLAIN = re.compile(r"[\w@%+=:,./\\-]+" if os.name == "nt" else r"[\w@%+=:,./-]+", re.ASCII)
"""Texts that mean the same with and without quotes in a shell."""
NESTED = re.compile(r"`|\$[({'\"]|\$$|<<|#")
"""Starts of what changes the meaning of quotes in the rest of a shell's text."""
QUOTED = 400
"""Number of characters from the end of a program's output that an error quotes."""
READ = 2**20
"""Number of bytes read from the end of stdout and stderr; the output may be much longer."""

Value = float | tuple[float, list[float], list[float]]
"""A value, or one with those of constraints g and h."""
Point = Sequence[float] | Mapping[str, float]
"""A point: its coordinates, or a mapping of names to values."""

_running: set["subprocess.Popen[bytes]"] = set()
_starting = threading.RLock()
"""Lock held from the start of a program to its entry in `_running`; reentrant, as signal handlers call `kill_programs`."""


class ProgramError(RuntimeError):
    """Raised when a program returns no value for a point."""


@dataclass(frozen=True)
class Command:
    """An objective that runs a program for each point. It is picklable, and threads are enough to run it in parallel.

    >>> Command("echo 1 {x}").words([0.5, -2.0])
    ['echo', '1', '0.5', '-2.0']
    >>> Command("expr 3 + 4")([0.5, -2.0])
    7.0

    Placeholders in the command:

    - `{x}`: all coordinates, as separate arguments if it is a word of its own, otherwise joined by commas.
    - `{x[0]}`, `{x[1]}`, ..., also written `{x0}` or `{0}`: single coordinates of the point that is evaluated.
    - `{rate}`, ...: a variable by its name, for a point that is a mapping of names to values. A name goes before a coordinate:
      with a variable x1, `{x1}` is that variable wherever it stands, and `{x0}` is none.
    - `{file}`: the path of a JSON file with the list of coordinates; of a mapping, a JSON object.
    - `{here}`: the working directory of this process.

    With `shell=True` both paths are quoted where they need it; there they must stand outside of quotes.

    Without a placeholder for the point, the program gets the JSON of the point on standard input. Numbers are written with all
    their digits. If the program takes -1 for an option, write `-- {x}`.

    The value is the last line on stdout that is a number, or a JSON object with a number "f". Its lists "g" and "h", if it has
    them, are the values of constraints, g <= 0 and h = 0. If there is no value, the exit status
    is not 0, or `timeout` is exceeded, which kills all processes of the program, a `ProgramError` quotes the end of stderr.
    """

    command: str | Sequence[str]
    """The command line as one text, or a list of words."""
    timeout: float | None = None
    """Time limit for one evaluation in seconds."""
    shell: bool = False
    """True to run the command in a shell, for pipes, variables and several commands."""
    scratch: bool = False
    """True to run each evaluation in a temporary working directory of its own."""

    def __post_init__(self) -> None:
        if self.shell and not isinstance(self.command, str):
            raise TypeError(f"command must be a str for shell=True, got {shortened(self.command)}")
        words = self._split()
        if not words:
            raise ValueError(f"command must name a program, got {self.command!r}; pass 'program {{x}}', for example")
        if not isinstance(self.command, str):
            object.__setattr__(self, "command", tuple(words))  # hashable
        if self.timeout is not None:
            as_positive(self.timeout, "timeout")

    def __call__(self, x: Any) -> Value:
        """Return the value at x, a vector of shape (d,) or a mapping of names to numbers; with constraints (f, g, h)."""
        point: Point = _numbers_of(x) if isinstance(x, Mapping) else np.atleast_1d(as_array(x, "x")).tolist()
        with contextlib.ExitStack() as stack:
            folder: str | None = None
            if self.scratch:
                folder = stack.enter_context(_temporary_folder())
            path: str | None = None
            named = self._named(point)
            if "file" in named:
                path = os.path.join(stack.enter_context(_temporary_folder()), "point.json")
                Path(path).write_text(json.dumps(point))
            # files, not pipes: a child process that outlives the program would keep a pipe open and block the reader
            given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            if not named:
                given.write(f"{json.dumps(point)}\n".encode())
                given.seek(0)
            status, expired = self._run(self.words(point, path), folder, given, out, err)
            stdout, stderr = _end_of(out), _end_of(err)
        if expired:
            how = f"was killed after {self.timeout:g} s"
        elif status != 0:
            how = f"exited with status {status}" if status > 0 else f"was killed by signal {-status}"
        elif (value := parse_value(stdout)) is not None:
            return value
        else:
            how = f"wrote no number to stdout, but {shortened(stdout[-QUOTED:]) if stdout else 'nothing'}"
        quoted = "..." + stderr[-QUOTED:] if len(stderr) > QUOTED else stderr
        raise ProgramError(f"{self._name} {how}" + (f"; stderr: {quoted}" if quoted else ""))

    def words(self, point: Point, path: str | None = None) -> list[str]:
        """Return the program and its arguments for a point, or for a shell a single text."""
        values = list(point.values() if isinstance(point, Mapping) else point)
        whole = not isinstance(point, Mapping) or "x" not in point  # {x} stands for all coordinates
        if self.shell:
            alone = str(self.command)
            if whole:
                alone = re.sub(r"(?<!\S)\{x\}(?!\S)", " ".join(map(repr, values)), alone)
            return [self._filled(alone, point, path)]
        words: list[str] = []
        for word in self._split():
            words += [repr(value) for value in values] if whole and word == "{x}" else [self._filled(word, point, path)]
        if self.scratch and os.sep in words[0]:
            words[0] = os.path.abspath(words[0])  # relative to this process, not to the temporary directory
        return words

    def named_files(self) -> list[str]:
        """Return the files that the command names, the program and what it runs, such as a script."""
        words = self._split()
        if self.shell:
            try:
                lexer = shlex.shlex(words[0], posix=True, punctuation_chars=True)
                lexer.whitespace_split = True
                words = list(lexer)
            except ValueError:  # a shell may accept other quotes
                words = words[0].split()
        parts = [shutil.which(words[0]), *(part for word in words for part in (word, word.partition("=")[2]))]
        filled = dict.fromkeys(part.replace("{here}", os.getcwd()) for part in parts if part)
        return [part for part in filled if os.path.isfile(part)]

    def _named(self, point: Point) -> set[str]:
        """Return the placeholders in the command that stand for the point."""
        names = {name for word in self._split() for name in PLACEHOLDER.findall(word)}
        return {name for name in names if COORDINATE.fullmatch(name) or (isinstance(point, Mapping) and name in point)}

    def _split(self) -> list[str]:
        if not isinstance(self.command, str):
            return [str(word) for word in self.command]
        if self.shell:
            return [self.command] if self.command.strip() else []
        try:
            return shlex.split(self.command)
        except ValueError as error:
            raise ValueError(f"command {self.command!r} cannot be split into words: {error}; check its quotes") from None

    def _filled(self, word: str, point: Point, path: str | None) -> str:
        values = list(point.values() if isinstance(point, Mapping) else point)

        named: Collection[str] = point if isinstance(point, Mapping) else ()
        by_name = any(re.fullmatch(r"x\d+", name) for name in named)

        def fill(match: re.Match[str]) -> str:
            name = match[1]
            if isinstance(point, Mapping) and name in point:
                return repr(point[name])
            if name == "here":
                return self._path(match, os.getcwd())
            if not COORDINATE.fullmatch(name):
                return match[0]
            if name == "x":
                return ",".join(map(repr, values))
            if name == "file":
                return match[0] if path is None else self._path(match, path)
            if by_name and name.startswith("x") and name[1:].isdigit():
                raise ValueError(f"command has {match[0]}, but there is no such variable among {listed(tuple(named))}")
            index = int(name.strip("x[]"))
            if index >= len(values):
                raise ValueError(f"command has {match[0]}, but the point has only {len(values)} coordinates, counted from 0")
            return repr(values[index])

        return PLACEHOLDER.sub(fill, word)

    def _path(self, match: re.Match[str], path: str) -> str:
        """Return a path for its place in the command: for a shell quoted, so that nothing in a folder's name is run."""
        if not self.shell or PLAIN.fullmatch(path):
            return path
        if os.name == "nt" or not _outside_quotes(match.string[: match.start()]):
            raise ValueError(
                f"command has {match[0]} where the path {path!r} cannot be quoted for the shell; write it outside of quotes "
                "and substitutions, or use a folder with a plain name"
            )
        return shlex.quote(path)

    def _run(self, words: list[str], folder: str | None, given: IO[bytes], out: IO[bytes], err: IO[bytes]) -> tuple[int, bool]:
        """Run the program; return its exit status and True if it exceeded the time limit."""
        expired, lifeline = threading.Event(), Lifeline()
        try:
            with undisturbed(), _starting:
                process = subprocess.Popen(
                    words[0] if self.shell else words,
                    stdin=given,
                    stdout=out,
                    stderr=err,
                    cwd=folder,
                    shell=self.shell,
                    pass_fds=lifeline.descriptors,
                    start_new_session=True,  # a process group that can be killed, and that Ctrl-C does not reach
                )
                _running.add(process)
                lifeline.hold(process.pid)
        except OSError as error:
            lifeline.close()
            raise ProgramError(f"{self._name} cannot be started: {error}") from None

        def expire() -> None:
            expired.set()
            _kill(process)

        # Popen.wait(timeout) polls 20 times a second; with a timer thread the kernel wakes the waiting process at once
        timer = None if self.timeout is None else threading.Timer(self.timeout, expire)
        try:
            if timer is not None:
                timer.start()
            with interruptible():  # also what came during the start
                return process.wait(), expired.is_set()
        except BaseException:
            _kill(process)
            process.wait()
            raise
        finally:
            _running.discard(process)
            lifeline.close()
            if timer is not None:
                timer.cancel()

    @property
    def _name(self) -> str:
        return shortened(self.command if isinstance(self.command, str) else shlex.join(self.command))


def parse_value(stdout: str) -> Value | None:
    r"""Return the value in the output of a program: JSON with a number "f", or the last line that is a number or such JSON.

    >>> parse_value('{"f": 3, "g": [-1, 0.5]}')
    (3.0, [-1.0, 0.5], [])
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
                rows = {name: _numbers(found[name]) for name in ("g", "h") if isinstance(found.get(name), list)}
                return (float(value), rows.get("g", []), rows.get("h", [])) if rows else float(value)
    return None


def _numbers_of(point: Mapping[str, Any]) -> dict[str, float]:
    """Return a mapping whose values are Python's numbers, which are written into the command."""
    return {
        name: int(as_number(v, name)) if isinstance(v, int | np.integer) else as_number(v, name) for name, v in point.items()
    }


def _numbers(values: list[Any]) -> list[float]:
    """Return a list of JSON as numbers, NaN for what is none."""
    return [float(v) if isinstance(v, int | float) and not isinstance(v, bool) else nan for v in values]


def _outside_quotes(before: str) -> bool:
    r"""Return whether a word may be quoted after this part of a shell's text; False if that is hard to tell.

    >>> _outside_quotes("cd 'a b' && cat "), _outside_quotes("cat '"), _outside_quotes('echo "$(cat '), _outside_quotes("\\")
    (True, False, False, False)
    """
    closed = re.sub(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", "", before, flags=re.DOTALL)
    return not NESTED.search(before) and not re.search(r"['\"\\]", closed)


def kill_programs() -> None:
    """Kill all programs that threads of this process wait for, with their child processes."""
    with _starting:
        for process in tuple(_running):
            _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        if process.poll() is not None:
            return
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="thalweg-", ignore_cleanup_errors=True)


def _end_of(file: IO[bytes]) -> str:
    file.seek(max(0, file.seek(0, os.SEEK_END) - READ))
    return file.read().decode(errors="replace").strip()
