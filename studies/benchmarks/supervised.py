"""Trials of a campaign in a child process under limits of memory and time: one that crashes or hangs costs only itself.

A trial is a function of a seed and a number, so that any of them can be repeated alone. The parent hands out portions; the
child notes in a shared page which trial it is at, and prints the counts of a portion as a line of JSON. If the child dies or a
trial takes too long, that trial is noted as a fault, and a new child repeats the portion without it.
"""

import argparse
import contextlib
import json
import logging
import mmap
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any

from shared import add_table, deliver, make_parser, markdown, provenance, write_json

REPOSITORY = Path(__file__).parents[2]
PORTION = 500
MIB = 2**20
ADDRESSES = 1024 * MIB
"""Address space in bytes that a trial may reserve."""
CACHED = 1536 * MIB
"""Address space in bytes by which a child may grow before a new one replaces it: compiled programs stay in a process."""
CACHE = "JAX_COMPILATION_CACHE_DIR"
"""The environment variable with the folder of compiled programs, one for all children of a campaign."""
STATUS = Path("/proc/self/status")


@dataclass
class Counts:
    """Counts of some trials."""

    trials: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    """Number of trials by kind and outcome."""
    faults: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    longest_ms: float = 0.0
    largest_mib: float = 0.0
    """Largest memory that a trial took."""

    def add(self, other: "Counts") -> None:
        """Add the counts of other trials."""
        self.trials += other.trials
        self.outcomes.update(other.outcomes)
        self.faults += other.faults
        self.longest_ms = max(self.longest_ms, other.longest_ms)
        self.largest_mib = max(self.largest_mib, other.largest_mib)

    def plain(self) -> dict[str, Any]:
        """Return all of it as JSON's types."""
        return {**vars(self), "outcomes": dict(sorted(self.outcomes.items()))}


class FaultError(Exception):
    """Raised by a trial that has found what must not be."""


@dataclass(frozen=True)
class Plan:
    """A campaign of trials."""

    script: Path
    prepare: Callable[[Path], Callable[[random.Random], str]]
    """Function from an empty folder to the function that makes a trial and returns its kind and outcome as a word."""
    seconds: float
    """Longest time of a trial."""
    mib: float
    """Largest resident memory of a trial."""


def child(plan: Plan, seed: int) -> None:
    """Read lines of JSON with the trials of a portion, and print a line with their counts, until the input ends."""
    warnings.simplefilter("ignore")
    logging.getLogger("thalweg").setLevel(logging.CRITICAL)
    page = mmap.mmap(os.open(sys.argv[sys.argv.index("--page") + 1], os.O_RDWR), mmap.PAGESIZE)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a trial prints is no answer
    with tempfile.TemporaryDirectory(prefix="thalweg-trials-") as folder:
        trial = plan.prepare(Path(folder))
        base = status("VmSize")
        for line in sys.stdin:
            portion, counts = json.loads(line), Counts()
            for number in range(*portion["range"]):
                if number not in portion["without"]:
                    page[:16] = number.to_bytes(8, "little") + time.monotonic_ns().to_bytes(8, "little")
                    attempt(plan, trial, seed, number, counts)
            page[:16] = bytes(16)
            print(json.dumps(counts.plain()), file=answers, flush=True)
            if status("VmSize") > base + CACHED:
                break


def attempt(plan: Plan, trial: Callable[[random.Random], str], seed: int, number: int, counts: Counts) -> None:
    """Make a trial and count it."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, began, wrong = status("VmRSS"), time.monotonic(), None
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + ADDRESSES, resource.RLIM_INFINITY))
    try:
        outcome = trial(random.Random(f"{seed} {number}"))
    except FaultError as fault:
        outcome, wrong = "fault", str(fault)
    except BaseException as error:
        outcome, wrong = "fault", f"{type(error).__name__}: {error}"[:400]
        wrong += "".join(traceback.format_tb(error.__traceback__)[-2:])[-400:].replace(f"{REPOSITORY}/", "")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    seconds, mib = time.monotonic() - began, (status("VmHWM") - before) / MIB
    if wrong is None and mib > plan.mib:
        wrong = f"{outcome} took {mib:.0f} MiB"
    alive = [each.name for each in threading.enumerate() if each.name.startswith("thalweg-trial")]
    if wrong is None and alive:
        wrong = f"{outcome} left threads {alive}"
    if wrong is not None:
        counts.faults.append({"trial": number, "what": wrong})
        outcome = "fault"
    counts.trials += 1
    counts.outcomes[outcome] += 1
    counts.longest_ms = max(counts.longest_ms, round(1e3 * seconds, 1))
    counts.largest_mib = max(counts.largest_mib, round(mib, 1))


def status(name: str) -> int:
    """Return a number of bytes that Linux knows of this process."""
    text = STATUS.read_text()
    return int(text[text.index(name + ":") + len(name) + 1 :].split(None, 1)[0]) * 1024


class Child:
    """A process that makes trials."""

    def __init__(self, plan: Plan, seed: int, cache: str) -> None:
        self.plan = plan
        self.descriptor, self.name = tempfile.mkstemp(prefix="thalweg-page-")
        os.ftruncate(self.descriptor, mmap.PAGESIZE)
        self.page = mmap.mmap(self.descriptor, mmap.PAGESIZE)
        given = [sys.executable, str(plan.script), "--child", "--seed", str(seed), "--page", self.name]
        environment = os.environ | {"MALLOC_ARENA_MAX": "2", "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1", CACHE: cache}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(given, env=environment, **pipes)
        self.errors = threading.Thread(target=self._read_errors, daemon=True)
        self.last_words: list[str] = []
        self.errors.start()

    def _read_errors(self) -> None:
        for line in self.process.stderr or ():
            self.last_words = [*self.last_words[-9:], line]

    def at(self) -> tuple[int, float] | None:
        """Return the present trial and its age in seconds; None if there is none."""
        number, since = (int.from_bytes(self.page[i : i + 8], "little") for i in (0, 8))
        return (number, time.monotonic() - since / 1e9) if since else None

    def portion(self, first: int, last: int, without: set[int]) -> Counts | None:
        """Return the counts of a portion; None if the child has died or been ended at the trial that `at` then returns."""
        answer: list[str] = []

        def exchange() -> None:
            with contextlib.suppress(OSError, ValueError):
                self.process.stdin.write(json.dumps({"range": [first, last], "without": sorted(without)}) + "\n")  # type: ignore[union-attr]
                self.process.stdin.flush()  # type: ignore[union-attr]
                answer.append(self.process.stdout.readline())  # type: ignore[union-attr]

        thread = threading.Thread(target=exchange, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.2)
            now = self.at()
            if now is not None and now[1] > self.plan.seconds:
                self.process.kill()
        if not (answer and answer[0].endswith("\n")):
            return None
        found = json.loads(answer[0])
        return Counts(**{**found, "outcomes": Counter(found["outcomes"])})

    def end(self) -> int:
        """End the process; return its exit status."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.page.close()
        os.close(self.descriptor)
        os.unlink(self.name)
        return self.process.returncode


def supervise(plan: Plan, seed: int, cache: str, portions: Iterable[tuple[int, int]]) -> Iterator[Counts]:
    """Make the trials of portions, from a first to before a last, and yield the counts of each portion."""
    worker: Child | None = None
    silent = 0
    try:
        for first, last in portions:
            without, faults = set[int](), list[dict[str, Any]]()
            while True:
                worker = worker or Child(plan, seed, cache)
                counts = worker.portion(first, last, without)
                if counts is not None:
                    silent = 0
                    break
                now = worker.at()
                words, code = "".join(worker.last_words)[-400:], worker.end()
                worker = None
                if now is not None:
                    without.add(now[0])
                    hung = now[1] > plan.seconds
                    what = f"took longer than {plan.seconds} s" if hung else f"ended the process with {code}: {words}"
                    faults.append({"trial": now[0], "what": what})
                else:  # it ended between two portions, as children do that have grown
                    silent += 1
                    if silent > 3:
                        raise RuntimeError(f"children end with {code} at once: {words}")
            lost = Counts(len(without), Counter({"fault": len(without)} if without else {}), faults)
            counts.add(lost)
            yield counts
    finally:
        if worker is not None:
            worker.end()


class Portions:
    """Hands portions to children that work side by side; the next one begins at `next`."""

    def __init__(self, first: int, last: int, minutes: float) -> None:
        self.next, self.last, self.end = first, last, time.monotonic() + 60 * minutes
        self.lock = threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while (portion := self.take()) is not None:
            yield portion

    def take(self) -> tuple[int, int] | None:
        """Return the next portion; None if there is none, or time is up."""
        with self.lock:
            first, self.next = self.next, min(self.next + PORTION, self.last)
            if first >= self.last or time.monotonic() > self.end:
                self.next = first
                return None
            return first, self.next


def side_by_side(plan: Plan, seed: int, portions: Portions, jobs: int) -> Iterator[Counts]:
    """Make the trials of portions in so many children at a time, and yield the counts of each portion."""
    answers, cache = Queue[Counts | BaseException | None](), tempfile.mkdtemp(prefix="thalweg-programs-")

    def work() -> None:
        try:
            for counts in supervise(plan, seed, cache, portions):
                answers.put(counts)
        except BaseException as error:
            answers.put(error)
        answers.put(None)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    while threads:
        answer = answers.get()
        if isinstance(answer, BaseException):
            raise answer
        if answer is None:
            threads.pop()
        else:
            yield answer
    shutil.rmtree(cache)


def make_plan_parser(about: str | None, name: str, trials: int) -> argparse.ArgumentParser:
    """Return a parser with the options of a campaign of trials."""
    parser = make_parser(about, name)
    parser.add_argument("--trials", type=int, default=trials, help=f"number of trials in all (default: {trials})")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="end after so many minutes; --out is where to go on"
    )
    parser.add_argument("--jobs", type=int, default=1, help="number of processes at a time (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the trials (default: 1)")
    add_table(parser)
    parser.add_argument("--trial", type=int, metavar="NUMBER", help="make this trial alone, in this process, and print it")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--page", help=argparse.SUPPRESS)
    return parser


def run_plan(plan: Plan, name: str, trials: int, about: str | None) -> None:
    """Run the command line of a campaign of trials: go on where --out ends, until there are so many or time is up."""
    options = make_plan_parser(about, name, trials).parse_args()
    if options.table is not None:
        deliver(show(json.loads(options.out.read_text())), options.table, name)
        return
    if options.child:
        child(plan, options.seed)
        return
    if options.trial is not None:
        with tempfile.TemporaryDirectory(prefix="thalweg-trials-") as folder:
            os.environ.setdefault(CACHE, folder)
            print(plan.prepare(Path(folder))(random.Random(f"{options.seed} {options.trial}")))
        return
    total, seconds, began = Counts(), 0.0, time.monotonic()
    portions = Portions(0, options.trials, options.minutes)
    if options.out.exists():
        saved = json.loads(options.out.read_text())
        if saved["meta"]["seed"] != options.seed:
            raise SystemExit(f"--out: {options.out} has trials of seed {saved['meta']['seed']}; choose another file")
        seconds, portions.next = saved["seconds"], saved["next"]
        total.add(Counts(**{key: saved[key] for key in ("trials", "faults", "longest_ms", "largest_mib")}))
        total.outcomes.update(saved["outcomes"])
    for counts in side_by_side(plan, options.seed, portions, options.jobs):
        total.add(counts)
        so_far = round(seconds + time.monotonic() - began, 1)
        meta = provenance(name, seed=options.seed)
        write_json(options.out, {"meta": meta, "next": portions.next, **total.plain(), "seconds": so_far})
        print(f"{total.trials} trials, {len(total.faults)} faults, {so_far:.0f} s", flush=True)
        for fault in counts.faults:
            print(f"  {fault}", flush=True)


def show(saved: dict[str, Any]) -> str:
    """Return a table of the outcomes, by kind, from the contents of a result file."""
    kinds: dict[str, Counter[str]] = {}
    for outcome, number in saved["outcomes"].items():
        kind, _, what = outcome.rpartition(": ")
        kinds.setdefault(kind or "all", Counter())[what] += number
    columns = sorted({what for counts in kinds.values() for what in counts})
    rows = [[kind, *(f"{counts[what]:,}" for what in columns), f"{counts.total():,}"] for kind, counts in kinds.items()]
    head = f"{saved['trials']:,} trials, {len(saved['faults'])} faults; the longest took {saved['longest_ms'] / 1e3:.1f} s."
    return head + "\n\n" + markdown(["kind", *columns, "in all"], rows)
