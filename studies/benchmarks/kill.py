"""Kill runs at random moments, again and again until they end, and see that nothing is lost.

    python studies/benchmarks/kill.py --kills 300 --workers 2 --log jsonl --out studies/benchmarks/results/kill.json

A run of `minimize` with a checkpoint and a log is a process of its own. It gets SIGKILL at a random moment, alone or together
with its workers, or one of its workers does; then it is started again. The objective keeps a record of its own, of each
beginning and each end. After every kill:

- the checkpoint can be read, is no older than before, and counts no evaluation that the log has not;
- the log can be read, by `read_log` and by pandas, holds what it held before, and each evaluation once;
- of the evaluations that had ended by then the log has all but those whose value was on its way from the objective's last
  instruction to the log: at most one for each worker, killed ones included, counted as `cut_off`, with the longest time that
  one had been on its way;
- what the log had was not evaluated again;
- no worker outlives the run.

In the end the result is that of a run with the same seed that nobody has disturbed, to the last bit, and so is the log. With
--asynchronous no two runs are alike; there the run is repeated from its log and an early checkpoint, and comes to the same bits
without a single evaluation. Linux only. About two seconds a kill.
"""

import argparse
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import thalweg
from thalweg.search import checkpoint
from thalweg.storage.log import Evaluation, read_log

MARK = "THALWEG_KILL"
"""The environment variable by which the processes of a run are known."""
LINE = 64
"""Bytes of a line in the objective's record: a divisor of a page, so that no kill leaves half of one."""


class LostError(Exception):
    """Something that must never happen has happened."""


def objective(x: np.ndarray, folder: str, life: int, seconds: float) -> float:
    """A few hills, with regions of NaN and infinity; keeps a record of where it was called and where it came to an end."""

    def note(kind: str) -> None:
        handle = os.open(os.path.join(folder, "record"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{kind} {life:06} {x.tobytes().hex()} {time.monotonic_ns()}".ljust(LINE - 1).encode() + b"\n")
        os.close(handle)

    note("begin")
    time.sleep(seconds)
    value = float(x @ x + 2 * (2 - np.cos(5 * x).sum()))
    note("end")
    return float("nan") if x[0] > 2.9 else float("inf") if x[1] < -1.0 else value


def child(
    folder: str, life: int, seed: int, workers: int, log: str, evaluations: int, seconds: float, asynchronous: bool
) -> None:
    """One life of a run."""
    small: dict[str, Any] = {"method": "cma", "popsize": 6, "restarts": 3, "options": {"tolfun": 1e-3}}
    result = thalweg.minimize(
        objective,
        [2.0, 1.0],
        0.6,
        args=(folder, life, seconds),
        seed=seed,
        max_evals=evaluations,
        workers=workers,
        asynchronous=asynchronous,
        retries=9,  # a worker that is killed shall not change the result
        checkpoint=os.path.join(folder, "run.ckpt"),
        log=os.path.join(folder, f"run.{log}"),
        **small,
    )
    numbers = {name: np.asarray(result[name], float).tobytes().hex() for name in ("x", "fun", "mean", "std", "sigma")}
    counts = {name: result[name] for name in ("nfev", "nit", "failures", "restarts", "message", "success")}
    Path(folder, "result").write_text(json.dumps(numbers | counts))


@dataclass
class Tally:
    """What a campaign has seen."""

    workers: int
    log: str
    asynchronous: bool
    seed: int
    kills: int = 0
    """Of runs."""
    worker_kills: int = 0
    runs: int = 0
    """That have come to their end."""
    evaluations: int = 0
    """Of these runs."""
    lives: int = 0
    before_the_first_checkpoint: int = 0
    """Kills."""
    while_a_checkpoint_was_written: int = 0
    """Kills; seen by what they left behind."""
    cut_off: int = 0
    """Evaluations that had ended, but whose value was not in the log yet when the run was killed."""
    longest_cut_off_ms: float = 0.0
    """The longest time between such an end and the kill."""
    ended_after_the_kill: int = 0
    """Evaluations of workers whose run was dead already."""
    begun_again: int = 0
    """Evaluations that were begun more than once, as a kill came before they were in the log."""
    seconds: float = 0.0


@dataclass
class Run:
    """One run, from its first life to its last."""

    folder: Path
    settings: dict[str, Any]
    tally: Tally
    life: int = 0
    rows: list[Evaluation] = field(default_factory=list[Evaluation])
    known: int = 0
    """How many evaluations the log had before this life."""
    counted: int = 0
    """Evaluations in the last checkpoint."""
    leftovers: int = 0
    worker_kills: int = 0
    """In this life."""
    mark: str = ""
    killed: int = 0
    """When the last kill was sent, in nanoseconds."""

    def start(self) -> None:
        """Begin the next life."""
        self.life += 1
        self.tally.lives += 1
        self.worker_kills = 0
        self.mark = uuid.uuid4().hex
        source = str(Path(thalweg.__file__).parents[1])
        environment = os.environ | {MARK: self.mark, "PYTHONPATH": source, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}
        given = {"folder": str(self.folder), "life": self.life, **self.settings}
        self.process = subprocess.Popen([sys.executable, __file__, "--child", json.dumps(given)], env=environment)

    def workers(self) -> list[int]:
        """The worker processes of this life."""
        return [pid for pid in members(self.mark) if pid != self.process.pid]

    def recorded(self) -> list[tuple[str, int, bytes, int]]:
        """What the objective says: begin or end, in which life, at which point, and when."""
        path = self.folder / "record"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [(kind, int(life), bytes.fromhex(x), int(when)) for kind, life, x, when in map(str.split, lines)]

    def wait(self, moment: float, *, working: bool) -> bool:
        """Wait for a moment after the first evaluation of this life, or after now; whether the run is still alive then."""
        path, end = self.folder / "record", time.monotonic() + 120
        size = path.stat().st_size if path.exists() else 0
        while working and self.process.poll() is None and (path.stat().st_size if path.exists() else 0) == size:
            if time.monotonic() > end:
                raise LostError(f"life {self.life} evaluates nothing")
            time.sleep(0.002)
        try:
            self.process.wait(moment)
        except subprocess.TimeoutExpired:
            return True
        return False

    def kill(self, *, workers_too: bool) -> None:
        """End the life."""
        others = self.workers() if workers_too else []
        self.killed = time.monotonic_ns()
        for pid in (self.process.pid, *others):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()
        self.tally.kills += 1

    def kill_worker(self, choose: random.Random) -> None:
        """End one of the workers."""
        workers = self.workers()
        if workers:
            try:
                os.kill(choose.choice(workers), signal.SIGKILL)
            except ProcessLookupError:
                return
            self.worker_kills += 1
            self.tally.worker_kills += 1

    def inspect(self) -> None:
        """See that nothing is lost, once a life has ended."""
        end = time.monotonic() + 60
        while members(self.mark):
            if time.monotonic() > end:
                raise LostError(f"workers outlive life {self.life}")
            time.sleep(0.005)
        self._inspect_log()
        self._inspect_checkpoint()
        self._inspect_record()

    def _inspect_log(self) -> None:
        import pandas  # here, as a life does without

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
        else:  # what waits for its part is not seen yet; a kill may come before there is any
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
        meta, _ = checkpoint.read(path)
        counted = meta["nfev"] + meta["extra"]["restarts"]["tally"]["nfev"]
        if not self.counted <= counted <= len(self.rows):
            raise LostError(f"the checkpoint counts {counted} evaluations after {self.counted}, the log {len(self.rows)}")
        leftovers = len(list(self.folder.glob(".run.ckpt.*")))
        self.tally.while_a_checkpoint_was_written += leftovers > self.leftovers
        self.counted, self.leftovers = counted, leftovers

    def _inspect_record(self) -> None:
        record, logged = self.recorded(), {row.x.tobytes(): i for i, row in enumerate(self.rows)}
        begun = Counter(x for kind, life, x, _ in record if (kind, life) == ("begin", self.life))
        if any(x in logged and logged[x] < self.known for x in begun):
            raise LostError("evaluations that were in the log were begun again")
        if sum(begun.values()) > len(begun) + self.worker_kills:
            raise LostError("evaluations were begun more often than workers were killed")
        if logged.keys() - {x for kind, _, x, _ in record if kind == "end"}:
            raise LostError("the log has evaluations that have never ended")
        missing = {x: when for kind, life, x, when in record if (kind, life) == ("end", self.life) and x not in logged}
        cut_off = [self.killed - when for when in missing.values() if when <= self.killed]
        if len(cut_off) > self.settings["workers"] + self.worker_kills:
            raise LostError(f"{len(cut_off)} finished evaluations are not in the log")
        self.tally.cut_off += len(cut_off)
        self.tally.ended_after_the_kill += len(missing) - len(cut_off)
        self.tally.longest_cut_off_ms = max([self.tally.longest_cut_off_ms, *(round(each / 1e6, 3) for each in cut_off)])
        self.known = len(self.rows)


def members(mark: str) -> list[int]:
    """The processes of a life that are alive."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it has ended, or is not ours to look at
            continue
    return found


def bits(row: Evaluation) -> tuple[Any, ...]:
    """An evaluation for comparison."""
    return (*row[:3], row.x.tobytes(), np.float64(row.f).tobytes(), row.error)


def whole(run: Run) -> tuple[str, list[tuple[Any, ...]]]:
    """The result of a run that has ended, and its log in order."""
    if run.process.returncode != 0:
        raise LostError(f"a run ended with exit code {run.process.returncode}")
    return (run.folder / "result").read_text(), sorted(bits(row) for row in read_log(run.folder / f"run.{run.settings['log']}"))


def left_alone(folder: Path, settings: dict[str, Any]) -> Run:
    """The same run, undisturbed."""
    run = Run(folder, {**settings, "workers": 1, "log": "jsonl"}, Tally(1, "jsonl", False, settings["seed"]))
    run.start()
    run.process.wait()
    return run


def repeated(folder: Path, run: Run) -> Run:
    """A run out of the log and an early checkpoint of another: there is nothing left to evaluate."""
    log = f"run.{run.settings['log']}"
    shutil.copy(run.folder / "early.ckpt", folder / "run.ckpt")
    (shutil.copytree if (run.folder / log).is_dir() else shutil.copy)(run.folder / log, folder / log)
    again = Run(folder, run.settings, Tally(0, "", True, 0))
    again.start()
    again.process.wait()
    if again.recorded():
        raise LostError("a run that is all in the log was evaluated again")
    return again


def campaign(
    kills: int,
    workers: int,
    seed: int,
    log: str,
    folder: Path,
    evaluations: int = 1500,
    seconds: float = 0.002,
    asynchronous: bool = False,
) -> Iterator[Tally]:
    """Run after run, until there were so many kills; each is compared with one that was not killed."""
    tally, choose, started = Tally(workers, log, asynchronous, seed), random.Random(seed), time.monotonic()
    common = {"workers": workers, "log": log, "evaluations": evaluations, "seconds": seconds, "asynchronous": asynchronous}
    while tally.kills + tally.worker_kills < kills:
        settings = {"seed": seed + tally.runs, **common}
        killed, other = (folder / f"{kind}-{settings['seed']}" for kind in ("killed", "other"))
        killed.mkdir()
        other.mkdir()
        run = Run(killed, settings, tally)
        live(run, kills, choose)
        if whole(run) != whole(repeated(other, run) if asynchronous else left_alone(other, settings)):
            raise LostError(f"the result of seed {settings['seed']} differs from that of a run that was not killed")
        begun = Counter(x for kind, _, x, _ in run.recorded() if kind == "begin")
        tally.begun_again += sum(begun.values()) - len(begun)
        tally.runs += 1
        tally.evaluations += len(run.rows)
        tally.seconds = round(time.monotonic() - started, 1)
        yield tally


def live(run: Run, kills: int, choose: random.Random) -> None:
    """Kill and start again, until the run has ended."""
    tally = run.tally
    run.start()
    while True:
        if tally.kills + tally.worker_kills >= kills:
            run.process.wait()
        # most kills come while it works, some while it starts
        working = choose.random() < 0.8
        if not run.wait(choose.expovariate(4.0) if working else choose.uniform(0.0, 2.0), working=working):
            run.inspect()
            return
        if run.settings["workers"] > 1 and choose.random() < 0.3:
            run.kill_worker(choose)
            continue
        run.kill(workers_too=choose.random() < 0.5)
        run.inspect()
        run.start()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", choices=["jsonl", "parquet"], default="jsonl")
    parser.add_argument("--asynchronous", action="store_true")
    parser.add_argument("--out", type=Path, help="the JSON to which the campaign is added")
    arguments = parser.parse_args()
    if arguments.child:
        child(**arguments.child)
        return
    folder = Path(tempfile.mkdtemp(prefix="thalweg-kill-"))  # stays if something is lost
    before = json.loads(arguments.out.read_text()) if arguments.out and arguments.out.exists() else []
    chosen = {name: getattr(arguments, name) for name in ("kills", "workers", "seed", "log", "asynchronous")}
    for tally in campaign(**chosen, folder=folder):
        print(json.dumps(asdict(tally)), flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps([*before, asdict(tally)], indent=1) + "\n")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
