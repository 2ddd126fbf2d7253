"""Press Ctrl-C at random moments of very short runs: each gives a result, and leaves nothing behind.

    nice python studies/benchmarks/interrupt.py --runs 10000  # goes on where results/interrupt.json ends
    python studies/benchmarks/interrupt.py --table docs/reliability.md

One short run of `minimize` follows the other, with the settings in `SETTINGS`. A timer of the kernel sends SIGINT at a moment
that is uniform over the median duration of such a run. The outcomes are

- interrupted: a result whose reason to stop is "interrupt";
- complete: the signal came during the run, and the result is that of a run which had stopped by itself;
- late: the signal came after the run;
- before: KeyboardInterrupt without a single evaluation, in the set-up of the search, which makes no result;
- outside: KeyboardInterrupt in the lines around the run;
- escaped: KeyboardInterrupt out of `minimize` after the first evaluation, or any other exception.

A fault is an escape; a lock, a temporary file, a descriptor, a child process or a handler of signals that stays; and, of a run
with a checkpoint, a continuation that does not have the bits of an undisturbed run. Linux only.
"""

import ctypes
import json
import os
import random
import signal
import statistics
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from shared import add_table, deliver, make_parser, markdown, provenance, write_json

import thalweg

COMMON = {"x0": [1.0, 2.0], "method": "cma", "seed": 1, "popsize": 6, "max_evals": 18}
SETTINGS: dict[str, dict[str, Any]] = {
    "in this process": {},
    "checkpoint and log": {"checkpoint": "run.ckpt"},
    "checkpoint, Parquet log": {"checkpoint": "run.ckpt", "log": "run.parquet"},
    "callback": {"callback": lambda result: time.sleep(0.0005), "checkpoint": "run.ckpt"},
    "restarts": {"checkpoint": "run.ckpt", "restarts": 2, "max_evals": 60, "options": {"tolfun": 1.0}},
    "with a model": {"checkpoint": "run.ckpt", "model": "quadratic"},
    "vectorized": {"vectorized": True, "checkpoint": "run.ckpt"},
    "map": {"workers": map, "checkpoint": "run.ckpt"},
    "threads": {"workers": 2, "checkpoint": "run.ckpt"},
    "threads, asynchronous": {"workers": 2, "checkpoint": "run.ckpt", "asynchronous": True},
    "processes": {"workers": 2, "checkpoint": "run.ckpt"},
}
"""Arguments of `minimize`; the workers of "threads" are an executor."""
RARE = 100
"""One run in so many is one with processes, whose start takes a thousand times as long as the others."""
SAVED = 100
"""Number of interrupts after which the report is written."""


def main() -> None:
    parser = make_parser(__doc__, "interrupt")
    parser.add_argument("--runs", type=int, default=10_000, help="number of interrupts in all (default: 10000)")
    add_table(parser)
    options = parser.parse_args()
    if options.table is None:
        report = json.loads(options.out.read_text()) if options.out.exists() else {"seconds": 0.0, "counts": {}, "faults": []}
        measure(report, options.runs, options.out)
    deliver(show(json.loads(options.out.read_text())), options.table, "interrupt")


def measure(report: dict[str, Any], runs: int, out: Path) -> None:
    """Interrupt runs until there are so many in the report, and write it now and then."""
    began, here, usual = time.monotonic() - report["seconds"], Path.cwd(), [name for name in SETTINGS if name != "processes"]
    counts = {name: Counter(report["counts"].get(name, {})) for name in SETTINGS}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    with tempfile.TemporaryDirectory(prefix="thalweg-interrupt-") as folder, ThreadPoolExecutor(2) as pool:
        os.chdir(folder)
        try:
            series = Series(pool)
            for i in range(number(report), runs):
                choose = random.Random(i)
                name = "processes" if i % RARE == RARE - 1 else choose.choice(usual)
                outcome, faults = series.interrupted(name, choose.random())
                counts[name][outcome] += 1
                report["faults"] += [{"run": i, "setting": name, "outcome": outcome, "fault": each} for each in faults]
                if i % SAVED == SAVED - 1 or i == runs - 1:
                    report["seconds"] = round(time.monotonic() - began, 1)
                    report["counts"] = {name: dict(sorted(each.items())) for name, each in counts.items() if each}
                    write_json(here / out, {"meta": provenance("interrupt"), **report})
        finally:
            os.chdir(here)
            signal.signal(signal.SIGINT, handler)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def number(report: dict[str, Any]) -> int:
    """Return the number of interrupts in a report."""
    return sum(sum(each.values()) for each in report["counts"].values())


class Timer:
    """A timer of the kernel that sends SIGINT to this process; a thread would wait for the lock of the interpreter."""

    class Event(ctypes.Structure):
        """The C structure `sigevent`."""

        _fields_ = [(name, ctypes.c_int) for name in ("value", "more", "number", "notify", *map(str, range(12)))]

    def __init__(self) -> None:
        self.library, self.timer = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p()
        event = self.Event(number=int(signal.SIGINT))
        if self.library.timer_create(time.CLOCK_MONOTONIC, ctypes.byref(event), ctypes.byref(self.timer)):
            raise OSError(ctypes.get_errno(), "timer_create")

    def send_after(self, seconds: float) -> None:
        """Send the signal after this time."""
        self._set((ctypes.c_long * 4)(0, 0, int(seconds), int(seconds % 1 * 1e9)))

    def stop(self) -> bool:
        """Stop the timer; return True if the signal was still to come."""
        return any(self._set((ctypes.c_long * 4)()))

    def _set(self, times: Any) -> Any:
        before = (ctypes.c_long * 4)()
        if self.library.timer_settime(self.timer, 0, times, before):
            raise OSError(ctypes.get_errno(), "timer_settime")
        return before


class Series:
    """Runs one after the other. SIGINT is blocked except around the run."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool, self.timer = pool, Timer()
        self.references: dict[str, Any] = {}
        """Results of undisturbed runs."""
        self.durations: dict[str, list[float]] = {}
        """The latest durations of undisturbed runs."""
        self.calls = 0

    def prepare(self, name: str) -> float:
        """Make undisturbed runs if there was none; return the median duration of the latest."""
        if name not in self.references:
            self.run(name)  # compiles
            clean()
            self.durations[name] = []
            for _ in range(3 if name == "processes" else 9):
                self.references[name] = self.timed(name)
                clean()
        return statistics.median(self.durations[name][-9:])

    def timed(self, name: str) -> Any:
        """Make an undisturbed run, and keep its duration."""
        began = time.perf_counter()
        result = self.run(name)
        self.durations[name].append(time.perf_counter() - began)
        return result

    def run(self, name: str) -> Any:
        """Make a run."""
        given = COMMON | SETTINGS[name]
        if name.startswith("threads"):
            given["workers"] = self.pool
        self.calls = 0
        fun = self.batch if given.get("vectorized") else sphere if name == "processes" else self.sphere
        return thalweg.minimize(fun, **given)

    def sphere(self, x: Any) -> float:
        """Return the value of a point, and count the calls."""
        self.calls += 1
        return float(x @ x)

    def batch(self, X: Any) -> Any:
        """Return the values of points."""
        self.calls += 1
        return (X**2).sum(axis=1)

    def interrupted(self, name: str, moment: float) -> tuple[str, list[str]]:
        """Make a run that is interrupted at this moment, from 0 to 1; return what came out, and the faults."""
        seconds = max(1e-6, moment * self.prepare(name))
        if random.random() < 0.02:  # the machine may be slower than before
            self.timed(name)
            clean()
        open_before, others = descriptors(), children()
        result, error, mask = None, None, {signal.SIGINT}
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, mask)
            self.timer.send_after(seconds)
            result = self.run(name)
            signal.pthread_sigmask(signal.SIG_BLOCK, mask)
        except BaseException as caught:
            error = caught
        signal.pthread_sigmask(signal.SIG_BLOCK, mask)
        late = self.timer.stop() or signal.sigtimedwait(mask, 0) is not None
        faults = [] if signal.getsignal(signal.SIGINT) is signal.default_int_handler else ["the handler stays"]
        inside = error is not None and any("thalweg/search" in file for file in files_of(error))
        if error is None:
            outcome = "interrupted" if "interrupt" in result.stop else "late" if late else "complete"
        elif not isinstance(error, KeyboardInterrupt) or (inside and self.has_evaluated(name)):
            outcome = "escaped"
            faults.append(f"{type(error).__name__}: {error}, in {' '.join(files_of(error)[-6:])}")
        else:
            outcome = "before" if inside else "outside"
        faults += [f"{file} stays" for file in os.listdir() if file.endswith((".lock", ".new"))]
        faults += ["a process stays"] if children() - others else []
        if error is not None:
            error = error.with_traceback(None)  # its frames keep descriptors open
        if "checkpoint" in SETTINGS[name] and outcome != "escaped":
            faults += self.continued(name)
        faults += [f"{descriptors() - open_before} descriptors stay"] if descriptors() > open_before else []
        clean()
        return outcome, faults

    def has_evaluated(self, name: str) -> bool:
        """Return whether the run has made an evaluation: for processes the log tells."""
        log = Path("run.ckpt.jsonl")
        return self.calls > 0 or (name == "processes" and log.exists() and log.stat().st_size > 0)

    def continued(self, name: str) -> list[str]:
        """Continue to the end; return a fault if that is not the undisturbed end."""
        reference = self.references[name]
        try:
            result = self.run(name)
        except Exception as error:
            return [f"continued: {type(error).__name__}: {error}"]
        if result.nfev != reference.nfev:
            return [f"continued: {result.nfev} evaluations, not {reference.nfev}"]
        if "asynchronous" not in SETTINGS[name] and (result.fun, *result.x) != (reference.fun, *reference.x):
            return [f"continued: f = {result.fun}, not {reference.fun}"]
        return []


def sphere(x: Any) -> float:
    """Return the value of a point."""
    return float(x @ x)


def files_of(error: BaseException) -> list[str]:
    """Return file and line of each frame that an exception has left."""
    places: list[str] = []
    step = error.__traceback__
    while step is not None:
        places.append(f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}")
        step = step.tb_next
    return places


def descriptors() -> int:
    """Return the number of open files of this process."""
    return len(os.listdir("/proc/self/fd"))


def children() -> set[str]:
    """Return the numbers of the child processes, also of those that have ended and that nobody has waited for."""
    tasks = os.listdir("/proc/self/task")
    return {child for task in tasks for child in Path(f"/proc/self/task/{task}/children").read_text().split()}


def clean() -> None:
    """Remove the files of a run."""
    for file in Path().rglob("*"):
        if file.is_file():
            file.unlink()
    for folder in Path().iterdir():
        folder.rmdir()


def show(report: dict[str, Any]) -> str:
    """Return a sentence and a table."""
    names, total = ["interrupted", "complete", "before", "outside", "late", "escaped"], Counter[str]()
    for each in report["counts"].values():
        total.update(each)
    rows = [[name, *(f"{each.get(key, 0):,}" for key in names)] for name, each in [*report["counts"].items(), ("all", total)]]
    during = total["interrupted"] + total["complete"] + total["escaped"]
    text = f"{number(report):,} interrupts, {during:,} of them during a run, {len(report['faults'])} faults."
    return f"{text}\n\n{markdown(['setting', *names], rows)}"


if __name__ == "__main__":
    main()
