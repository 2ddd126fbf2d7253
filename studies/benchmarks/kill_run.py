"""A run that `kill.py` kills, and the check after each kill that nothing is lost."""

import json
import logging
import random
import shutil
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from kill_process import Attempt, Nursery, kill_process, members, start_afresh

from thalweg.search import checkpoint
from thalweg.storage.log import Evaluation, read_log


class LostError(Exception):
    """Raised when a run has lost or repeated something."""


@dataclass
class Tally:
    """Counts of a campaign; the names are those of the result file."""

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
    afresh: int = 0
    """Attempts among them that were new Python processes, not forks of one that has imported the library."""
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

    def add(self, other: "Tally") -> None:
        """Add the counts of other runs."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            setattr(self, name, max(mine, value) if name.startswith("longest") else mine + value)


@dataclass
class Run:
    """A run, from its first attempt to its last."""

    folder: Path
    settings: dict[str, Any]
    tally: Tally
    nursery: Nursery | None = None
    """Makes attempts as forks; None starts each afresh."""
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
    best: tuple[float, float] = (np.inf, np.inf)
    """Violation and value of the best point in the last checkpoint."""

    def start(self, *, afresh: bool = True) -> None:
        """Start the next attempt, as a fork if there is a nursery and it need not be `afresh`."""
        self.attempt += 1
        self.tally.lives += 1
        self.worker_kills = 0
        self.mark = uuid.uuid4().hex
        given = {"folder": str(self.folder), "attempt": self.attempt, **self.settings}
        forked = self.nursery is not None and not afresh
        self.tally.afresh += not forked
        self.process: Attempt = (
            self.nursery.start(given, self.mark) if self.nursery and forked else start_afresh(given, self.mark)
        )

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

    def inspect_end(self) -> None:
        """Check that a finished run has the best of its log, and has left no lock behind."""
        self.inspect()
        if self.process.returncode != 0:
            raise LostError(f"a run ended with exit code {self.process.returncode}")
        pairs = [(max([0.0, *(row.extra.get("g") or ())]), row.f) for row in self.rows if np.isfinite(row.f)]
        found = np.frombuffer(bytes.fromhex(json.loads((self.folder / "result").read_text())["fun"]))[0]
        if min(pairs)[1] != found or min(pairs) != self.best:
            raise LostError(f"the result has {found}, the checkpoint {self.best}, and the best of the log is {min(pairs)}")
        allowed = {"run.ckpt", f"run.{self.settings['log']}", "record", "early.ckpt", "result"}
        if rest := [
            each.name for each in self.folder.iterdir() if each.name not in allowed and not each.match(".run.ckpt.*.new")
        ]:
            raise LostError(f"the run has left {rest}")

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
        best = best_of(contents)
        if best > self.best:
            raise LostError(f"the best violation and value of the checkpoint are {best} after {self.best}")
        self.best = best
        leftovers = len(list(self.folder.glob(".run.ckpt.*.new")))
        self.tally.while_a_checkpoint_was_written += leftovers > self.leftovers
        self.counted, self.leftovers = counted, leftovers

    def _inspect_record(self) -> None:
        record, logged = self.recorded(), {(row.x + 0.0).tobytes(): i for i, row in enumerate(self.rows)}
        times = Counter((row.x + 0.0).tobytes() for row in self.rows)  # near the end a model proposes its minimum again
        begun = Counter(x for kind, attempt, x, _ in record if (kind, attempt) == ("begin", self.attempt) and times[x] < 2)
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


def bits(row: Evaluation) -> tuple[Any, ...]:
    """Return an evaluation in a form that compares to the last bit."""
    return (*row[:3], row.x.tobytes(), np.float64(row.f).tobytes(), str(row.error), str(row.extra.get("g")))


def best_of(contents: Mapping[str, Any]) -> tuple[float, float]:
    """Return violation and value of the best point in a checkpoint: the smaller pair is the better one."""
    run, past = contents["run"], contents["campaign"]["best"] or {"f": np.inf}
    pairs = [(past.get("violation", 0.0), past["f"]), (run.get("best_violation", 0.0), run["best_f"])]
    return min((pair for pair in pairs if np.isfinite(pair[1])), default=(np.inf, np.inf))
