"""The work loop: computes the missing units of a study in this process or in several, and reports progress and failures."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from typing import Any, Generic, NamedTuple

from thalweg._common.checks import as_count
from thalweg_studies.common.progress import Meter, OnProgress, every_second, silent
from thalweg_studies.common.results import ResultsFolder
from thalweg_studies.common.study import Unit


class Failure(NamedTuple, Generic[Unit]):
    """A unit that raised an error."""

    unit: Unit
    error: str

    def __str__(self) -> str:
        return f"{self.unit} failed: {self.error}"


Outcome = tuple[Any, str | None]
"""A unit, and its error if it failed."""


def execute(
    results: ResultsFolder[Unit, Any], units: Sequence[Unit], workers: int = 1, report: OnProgress = silent
) -> list[Failure[Unit]]:
    """Compute the units that the folder does not hold yet, and return those that failed; the next call tries them again.

    One worker is this process; several are new processes with one thread each. The results are the same, except those of a
    study that is not `exact`: there the last digit, in which XLA with one thread may differ, decides the rest of a run.
    """
    study, failures = results.study, list[Failure[Unit]]()
    workers, pending = as_count(workers, "workers"), results.pending(units)
    if pending:
        results.sign()
    meter, groups = Meter(study, units, pending, report), study.groups(pending)
    meter.report()
    alone = workers == 1 or len(groups) < 2 or study.batched
    try:
        for unit, error in _here(results, groups, meter) if alone else _processes(results, groups, workers, meter):
            if error is not None:
                failures.append(Failure(unit, error))
    finally:
        study.clean_up()
    return failures


def _here(results: ResultsFolder[Any, Any], groups: Sequence[Sequence[Any]], meter: Meter[Any]) -> Iterator[Outcome]:
    """Compute the groups in this process."""
    tells = any(results.study.begun(unit) is not None for group in groups for unit in group)
    with every_second(meter.report) if tells else nullcontext():
        for group in groups:
            for unit, error in _compute(results, group):
                meter.finish(unit)
                meter.report()
                yield unit, error


def _processes(
    results: ResultsFolder[Any, Any], groups: Sequence[Sequence[Any]], workers: int, meter: Meter[Any]
) -> Iterator[Outcome]:
    """Compute the groups in new processes."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")  # JAX has threads of its own, which a fork would not survive
    with ProcessPoolExecutor(min(workers, len(groups)), mp_context=context, initializer=_become_worker) as pool:
        try:
            jobs: dict[Future[list[Outcome]], Sequence[Any]] = {
                pool.submit(_compute_group, results, group): group for group in groups
            }
            while jobs:
                for job in wait(jobs, timeout=1.0, return_when=FIRST_COMPLETED).done:
                    for unit, error in job.result():
                        meter.finish(unit)
                        yield unit, error
                    del jobs[job]
                for unit in (unit for job, group in jobs.items() if job.running() for unit in meter.pending(group)):
                    if results.read(unit) is not None:
                        meter.finish(unit)
                meter.report()
        except BrokenProcessPool:
            raise ValueError(
                "a worker process was killed, perhaps because memory ran out; the same command continues from here"
            ) from None
        except BaseException:  # Ctrl-C above all: no worker may outlive it
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise


def _compute_group(results: ResultsFolder[Any, Any], group: Sequence[Any]) -> list[Outcome]:
    return list(_compute(results, group))


def _compute(results: ResultsFolder[Any, Any], group: Sequence[Any]) -> Iterator[Outcome]:
    """Compute the units of a group and write each result at once; an error counts as a failure if the study is tolerant."""
    study = results.study
    for batch in [group] if study.batched else [[unit] for unit in group]:
        error = None
        try:
            for unit, result in zip(batch, study.run_batch(batch), strict=True):
                results.write(unit, result)
        except Exception as raised:
            # a missing package or a full disk would fail every unit
            if not study.tolerant or isinstance(raised, ImportError | OSError):
                raise
            error = f"{type(raised).__name__}: {' '.join(str(raised).split())}"
        for unit in batch:
            yield unit, error


def _become_worker() -> None:
    """Prepare a new process: one thread, as the workers share the cores, and an end with the parent."""
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
