"""A run that `kill.py` kills, and the check after each kill that nothing is lost."""

import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import thalweg
from thalweg.search import checkpoint
from thalweg.storage.log import Evaluation, read_log

MARK = "THALWEG_KILL"
"""The environment variable that identifies the processes of an attempt."""


class LostError(Exception):
    """Raised when a run has lost or repeated something."""


@dataclass
class Tally:
    """Counts of a campaign; the names are those of the result file."""

    workers: int
    log: str
    asynchronous: bool
    seed: int
    kills: int = 0
    """Kills of runs."""
    worker_kills: int = 0
    """Kills of single workers."""
    runs: int = 0
    """Finished runs."""
    evaluations: int = 0
    """Evaluations of the finished runs."""
    lives: int = 0
    """Attempts of all runs: processes that were started."""
    before_the_first_checkpoint: int = 0
    """Kills before the first checkpoint."""
    while_a_checkpoint_was_written: int = 0
    """Kills that left a partly written checkpoint behind."""
    cut_off: int = 0
    """Evaluations that had ended when the run was killed, but were not in the log yet."""
    longest_cut_off_ms: float = 0.0
    """Longest time between the end of such an evaluation and the kill."""
    ended_after_the_kill: int = 0
    """Evaluations that workers finished after their run was killed."""
    begun_again: int = 0
    """Evaluations that were begun more than once, because a kill came before they were in the log."""
    seconds: float = 0.0


@dataclass
class Run:
    """A run, from its first attempt to its last."""

    folder: Path
    settings: dict[str, Any]
    tally: Tally
    attempt: int = 0
    rows: list[Evaluation] = field(default_factory=list[Evaluation])
    known: int = 0
    """Number of evaluations in the log before this attempt."""
    counted: int = 0
    """Number of evaluations in the last checkpoint."""
    leftovers: int = 0
    """Number of partly written checkpoints."""
    worker_kills: int = 0
    """Number of workers killed in this attempt."""
    mark: str = ""
    """Value of the environment variable `MARK` in this attempt."""
    killed: int = 0
    """Time of the last kill in nanoseconds."""

    def start(self) -> None:
        """Start the next attempt."""
        self.attempt += 1
        self.tally.lives += 1
        self.worker_kills = 0
        self.mark = uuid.uuid4().hex
        script, source = Path(__file__).with_name("kill_child.py"), str(Path(thalweg.__file__).parents[1])
        environment = os.environ | {MARK: self.mark, "PYTHONPATH": source, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}
        given = {"folder": str(self.folder), "attempt": self.attempt, **self.settings}
        self.process = subprocess.Popen([sys.executable, script, json.dumps(given)], env=environment)

    def workers(self) -> list[int]:
        """Return the process ids of the workers of this attempt."""
        return [pid for pid in members(self.mark) if pid != self.process.pid]

    def recorded(self) -> list[tuple[str, int, bytes, int]]:
        """Return the objective's record: begin or end, attempt, point, and time."""
        path = self.folder / "record"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [(kind, int(attempt), bytes.fromhex(x), int(when)) for kind, attempt, x, when in map(str.split, lines)]

    def wait(self, seconds: float, *, working: bool) -> bool:
        """Wait for seconds from now, or from the first evaluation if `working`; return True if the run has not ended then."""
        path, end = self.folder / "record", time.monotonic() + 120
        size = path.stat().st_size if path.exists() else 0
        while working and self.process.poll() is None and (path.stat().st_size if path.exists() else 0) == size:
            if time.monotonic() > end:
                raise LostError(f"attempt {self.attempt} evaluates nothing")
            time.sleep(0.002)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    def kill(self, *, workers_too: bool) -> None:
        """Kill the run, and its workers if `workers_too`."""
        others = self.workers() if workers_too else []
        self.killed = time.monotonic_ns()
        for pid in (self.process.pid, *others):
            kill_process(pid)
        self.process.wait()
        self.tally.kills += 1

    def kill_worker(self, choose: random.Random) -> None:
        """Kill one of the workers."""
        workers = self.workers()
        if workers and kill_process(choose.choice(workers)):
            self.worker_kills += 1
            self.tally.worker_kills += 1

    def inspect(self) -> None:
        """Check that nothing is lost, after an attempt has ended."""
        end = time.monotonic() + 60
        while members(self.mark):
            if time.monotonic() > end:
                raise LostError(f"workers outlive attempt {self.attempt}")
            time.sleep(0.005)
        self._inspect_log()
        self._inspect_checkpoint()
        self._inspect_record()

    def _inspect_log(self) -> None:
        import pandas

        path = self.folder / f"run.{self.settings['log']}"
        if not path.exists():
            if self.rows or self.recorded():
                raise LostError("there is no log")
            return
        complaints: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: complaints.append(record.getMessage())
        logging.getLogger("thalweg").addHandler(handler)
        rows = read_log(path)
        logging.getLogger("thalweg").removeHandler(handler)
        if complaints:
            raise LostError(f"the log is damaged: {complaints}")
        if self.settings["log"] == "jsonl":
            seen = len(pandas.read_json(path, lines=True))
        else:  # rows that are not in a part file yet are not seen, and there may be no part file yet
            seen = len(pandas.read_parquet(path)) if list(path.glob("part-*")) else 0
        if seen > len(rows) or (self.settings["log"] == "jsonl" and seen != len(rows)):
            raise LostError(f"pandas sees {seen} of {len(rows)} evaluations")
        if [bits(row) for row in rows[: len(self.rows)]] != [bits(row) for row in self.rows]:
            raise LostError("the log has lost something")
        twice = [key for key, n in Counter(row[:3] for row in rows).items() if n > 1]
        if twice:
            raise LostError(f"the log has {twice} more than once")
        self.rows = rows

    def _inspect_checkpoint(self) -> None:
        path = self.folder / "run.ckpt"
        if not path.exists():
            if self.counted or self.rows:
                raise LostError("there is no checkpoint")
            self.tally.before_the_first_checkpoint += 1
            return
        if not (self.folder / "early.ckpt").exists():
            shutil.copy(path, self.folder / "early.ckpt")
        contents = checkpoint.read(path).contents
        counted = contents["run"]["nfev"] + contents["campaign"]["nfev"]
        if not self.counted <= counted <= len(self.rows):
            raise LostError(f"the checkpoint counts {counted} evaluations after {self.counted}, the log {len(self.rows)}")
        leftovers = len(list(self.folder.glob(".run.ckpt.*.new")))
        self.tally.while_a_checkpoint_was_written += leftovers > self.leftovers
        self.counted, self.leftovers = counted, leftovers

    def _inspect_record(self) -> None:
        record, logged = self.recorded(), {row.x.tobytes(): i for i, row in enumerate(self.rows)}
        begun = Counter(x for kind, attempt, x, _ in record if (kind, attempt) == ("begin", self.attempt))
        if any(x in logged and logged[x] < self.known for x in begun):
            raise LostError("evaluations that were in the log were begun again")
        if sum(begun.values()) > len(begun) + self.worker_kills:
            raise LostError("evaluations were begun more often than workers were killed")
        if logged.keys() - {x for kind, _, x, _ in record if kind == "end"}:
            raise LostError("the log has evaluations that have never ended")
        ended = ((x, when) for kind, attempt, x, when in record if (kind, attempt) == ("end", self.attempt))
        missing = {x: when for x, when in ended if x not in logged}
        cut_off = [self.killed - when for when in missing.values() if when <= self.killed]
        if len(cut_off) > self.settings["workers"] + self.worker_kills:
            raise LostError(f"{len(cut_off)} finished evaluations are not in the log")
        self.tally.cut_off += len(cut_off)
        self.tally.ended_after_the_kill += len(missing) - len(cut_off)
        self.tally.longest_cut_off_ms = max([self.tally.longest_cut_off_ms, *(round(each / 1e6, 3) for each in cut_off)])
        self.known = len(self.rows)


def kill_process(pid: int) -> bool:
    """Send SIGKILL; return False if the process has ended already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def members(mark: str) -> list[int]:
    """Return the ids of the living processes of an attempt."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it has ended, or belongs to another user
            continue
    return found


def bits(row: Evaluation) -> tuple[Any, ...]:
    """Return an evaluation in a form that compares to the last bit."""
    return (*row[:3], row.x.tobytes(), np.float64(row.f).tobytes(), row.error)
