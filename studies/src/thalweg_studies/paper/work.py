"""Units of work, done one after another or by several processes, with word on how it goes."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

from thalweg._common.checks import as_count
from thalweg_studies.paper.experiment import Experiment, Unit
from thalweg_studies.paper.store import Store


class Progress(NamedTuple):
    """How far the work is."""

    done: int
    """Units that are finished, those of earlier runs included."""
    total: int
    share: float
    """The finished part by cost, from 0 to 1, with what is known of units that are under way."""
    seconds_left: float | None
    """About how long it will take; None as long as nothing is known."""


Report = Callable[[Progress], object]
"""Told whenever units are finished, and every second when several processes work or units tell how far they are."""


def silent(progress: Progress) -> None:
    """Report nothing."""


def compute(store: Store[Any], seeds: int, workers: int = 1, report: Report = silent) -> list[Unit]:
    """Run what is missing of the store's experiment, write its tidy file, and return the units."""
    units = store.experiment.units(seeds)
    execute(store, units, workers, report)
    store.merge(units)
    return units


def execute(store: Store[Any], units: Sequence[Unit], workers: int = 1, report: Report = silent) -> int:
    """Compute those units that the store does not hold yet; returns how many they were.

    With one worker the work is done in this process; else in fresh ones of one thread each. The results are the same, except of
    experiments that are not `exact`: there the last digit, in which XLA with one thread may differ, rules the rest of a run.
    """
    workers = as_count(workers, "workers")
    pending = store.pending(units)
    if pending:
        store.sign()
    watch = Watch(store, units, pending, report)
    groups = by_program(store.experiment, pending)
    watch.look()
    if workers == 1 or len(groups) < 2:
        with every_second(watch.look) if any(store.experiment.begun(unit) is not None for unit in pending) else nullcontext():
            for group in groups:
                for unit in group:
                    compute_one(store, unit)
                    watch.look()
        return len(pending)
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # JAX has threads of its own, which a fork would not survive
    with ProcessPoolExecutor(min(workers, len(groups)), mp_context=context, initializer=become_worker) as pool:
        try:
            waiting = {pool.submit(compute_all, store, group) for group in groups}
            while waiting:
                done, waiting = wait(waiting, timeout=1.0, return_when=FIRST_EXCEPTION)
                for job in done:
                    job.result()
                watch.look()
        except BaseException:  # Ctrl-C above all: nothing goes on behind it
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
    return len(pending)


def compute_all(store: Store[Any], units: Iterable[Unit]) -> None:
    """Compute units one after another, and keep each as soon as it is there."""
    for unit in units:
        compute_one(store, unit)


def compute_one(store: Store[Any], unit: Unit) -> None:
    """Run one unit and keep its results."""
    store.write(unit, store.experiment.run(unit))


def by_program(experiment: Experiment[Any], units: Iterable[Unit]) -> list[list[Unit]]:
    """Units that share a compiled program together, the most expensive program first, so that no worker is left with it.

    Among equals seed by seed: what is there after an interruption then compares all arms.
    """
    groups: dict[tuple[Any, ...], list[Unit]] = {}
    for unit in units:
        groups.setdefault(experiment.program(unit), []).append(unit)
    return sorted(groups.values(), key=lambda group: (-sum(map(experiment.cost, group)), group[0].first))


@contextmanager
def every_second(do: Callable[[], None]) -> Generator[None]:
    """Do something every second, in a thread of its own, as long as the context lasts."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(1.0):
            do()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def become_worker() -> None:
    """Prepare a fresh process: one thread, as the workers share the cores among themselves; and no life after the parent's."""
    os.environ["OMP_NUM_THREADS"] = "1"
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class Watch:
    """Sees which units have come, and reports."""

    def __init__(self, store: Store[Any], units: Sequence[Unit], pending: Sequence[Unit], report: Report) -> None:
        self.store, self.report, self.total = store, report, len(units)
        self.pending = list(pending)
        self.cost = {unit: store.experiment.cost(unit) for unit in units}
        self.lock = threading.Lock()
        self.before = self._remaining()
        self.start = time.monotonic()

    def look(self) -> None:
        """Report how far the work is."""
        with self.lock:
            self.pending = [
                unit for unit in self.pending if not self.store.path(unit).exists() or self.store.read(unit) is None
            ]
            left, everything = self._remaining(), sum(self.cost.values())
            finished = self.before - left
            seconds = None if left and not finished else (time.monotonic() - self.start) * left / (finished or 1.0)
            self.report(Progress(self.total - len(self.pending), self.total, 1 - left / everything, seconds))

    def _remaining(self) -> float:
        begun = self.store.experiment.begun
        return sum(self.cost[unit] * (1 - (begun(unit) or 0.0)) for unit in self.pending)
