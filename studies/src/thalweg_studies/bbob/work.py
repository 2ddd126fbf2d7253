"""The runs of a benchmark, one after another or by several processes. A run that fails is reported and costs no other."""

import multiprocessing
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from thalweg._common.checks import as_count
from thalweg_studies.bbob.plan import Unit
from thalweg_studies.bbob.problem import watched
from thalweg_studies.bbob.solve import solve
from thalweg_studies.bbob.starts import problem_seed
from thalweg_studies.bbob.store import Store
from thalweg_studies.paper.work import Progress, Report, become_worker, silent


class Failure(NamedTuple):
    """A run that ended in an error."""

    unit: Unit
    error: str

    def __str__(self) -> str:
        return f"{self.unit} failed: {self.error}"


Runner = Callable[[Store, Unit], None]
"""Runs a unit and keeps its results."""


def run_unit(store: Store, unit: Unit) -> None:
    """Run a unit on coco-experiment's (or IOHexperimenter's) problem and keep its record and its course."""
    entrant, function, d, instance = unit
    settings, draft = store.settings, store.draft(unit)
    try:
        with watched(function, d, instance, settings.evaluations(d), settings.logger, draft, entrant.slug) as problem:
            seed = problem_seed(settings.seed, function, d, instance)
            run = solve(entrant, problem, seed, bipop=settings.restarts == "bipop")
        store.write(unit, run, draft)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def execute(
    store: Store, units: Sequence[Unit], workers: int = 1, report: Report = silent, run: Runner = run_unit
) -> list[Failure]:
    """Run what the store does not hold yet, and return what failed; the same call again tries that again.

    With one worker the work is done in this process, else in fresh ones of one thread each. The results are the same.
    """
    pending = store.pending(units)
    watch = Watch(len(units), pending, report)
    try:
        if as_count(workers, "workers") == 1 or len(pending) < 2:
            for unit in pending:
                watch.finished(unit, _attempt(run, store, unit))
        else:
            _share(store, pending, workers, watch, run)
    finally:
        shutil.rmtree(store.drafts, ignore_errors=True)
    return watch.failures


def _share(store: Store, pending: Sequence[Unit], workers: int, watch: "Watch", run: Runner) -> None:
    """Let processes do the work."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # JAX has threads of its own, which a fork would not survive
    with ProcessPoolExecutor(min(workers, len(pending)), mp_context=context, initializer=become_worker) as pool:
        try:
            waiting: dict[Future[str | None], Unit] = {pool.submit(_attempt, run, store, unit): unit for unit in pending}
            while waiting:
                for job in wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED).done:
                    watch.finished(waiting.pop(job), job.result())
                watch.tell()
        except BrokenProcessPool:
            raise ValueError(
                "a worker process was ended from outside, perhaps for want of memory; the same command goes on from here"
            ) from None
        except BaseException:  # Ctrl-C above all: nothing goes on behind it
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise


def _attempt(run: Runner, store: Store, unit: Unit) -> str | None:
    """Run a unit; returns what went wrong, in words."""
    try:
        run(store, unit)
    except (ImportError, OSError):  # an extra that is missing or a full disk: true of all runs
        raise
    except Exception as error:  # whatever a method raises is its own failure
        return in_words(error)
    return None


def in_words(error: Exception) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class Watch:
    """Counts what is finished, and estimates the time left by what the runs so far took."""

    def __init__(self, total: int, pending: Sequence[Unit], report: Report) -> None:
        self.total, self.report, self.failures = total, report, list[Failure]()
        self.left = Counter(map(_cost, pending))
        self.before = self._work()
        self.start = time.monotonic()
        self.tell()

    def finished(self, unit: Unit, error: str | None) -> None:
        """Take a unit into account."""
        if error is not None:
            self.failures.append(Failure(unit, error))
        self.left[_cost(unit)] -= 1
        self.tell()

    def tell(self) -> None:
        """Report how far the work is."""
        left, done = self._work(), self.total - self.left.total()
        finished = self.before - left
        seconds = None if left and not finished else (time.monotonic() - self.start) * left / (finished or 1.0)
        self.report(Progress(done, self.total, done / self.total, seconds))

    def _work(self) -> float:
        return sum(cost * count for cost, count in self.left.items())


def _cost(unit: Unit) -> float:
    """About how long a run takes, in units of its own: evaluations grow with the dimension, and so does each."""
    return float(unit.dimension**2)
