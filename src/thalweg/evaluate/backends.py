"""Ways to evaluate a generation. Each fills a list of outcomes, so that an interrupt loses nothing that was finished."""

import concurrent.futures as futures
import multiprocessing
import pickle
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thalweg.values import PENDING, Failure, Guarded, Objective, guarded, raised

MapLike = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass
class Backend(ABC):
    """Evaluates the objective at the points of a generation."""

    fun: Objective
    args: tuple[Any, ...]

    @abstractmethod
    def run(self, points: np.ndarray, outcomes: list[Any], timeout: float | None) -> np.ndarray | None:
        """Put what the objective gives at points[i] into outcomes[i]; who can, gives up after `timeout` seconds.

        Who has all values at once, as an array of numbers, returns that instead.
        """

    def close(self) -> None:
        """Let go of what was taken."""


@dataclass
class Serial(Backend):
    """One point after the other."""

    def run(self, points: np.ndarray, outcomes: list[Any], timeout: float | None) -> None:
        for i, x in enumerate(points):
            outcomes[i] = guarded(self.fun, x, self.args)


@dataclass
class Vectorized(Backend):
    """The whole generation in one call."""

    def run(self, points: np.ndarray, outcomes: list[Any], timeout: float | None) -> np.ndarray | None:
        outcome = guarded(self.fun, points, self.args)
        if outcome is None or isinstance(outcome, Failure):
            outcomes[:] = [outcome] * len(points)
            return None
        try:
            values = np.asarray(outcome)
        except ValueError:  # a ragged list
            values = np.asarray(outcome, dtype=object)
        if values.shape not in ((len(points),), (len(points), 1)):
            raise ValueError(
                f"with vectorized=True fun must return one value per point: got shape {values.shape} for points of shape "
                f"{points.shape}, wanted ({len(points)},)"
            )
        values = values.reshape(len(points))
        if values.dtype.kind in "biuf":
            return values.astype(float)
        outcomes[:] = values.tolist()
        return None


@dataclass
class Mapped(Backend):
    """A callable like the built-in `map`, for instance that of a `multiprocessing.Pool`."""

    mapper: MapLike

    def run(self, points: np.ndarray, outcomes: list[Any], timeout: float | None) -> None:
        found = list(self.mapper(Guarded(self.fun, self.args), list(points)))
        if len(found) != len(points):
            raise ValueError(f"workers must return one value per point, as map does: got {len(found)} for {len(points)} points")
        outcomes[:] = found


@dataclass
class Executor(Backend):
    """Any `concurrent.futures.Executor`."""

    executor: futures.Executor

    def run(self, points: np.ndarray, outcomes: list[Any], timeout: float | None) -> None:
        collect(self.executor, self.fun, self.args, points, outcomes, range(len(points)), timeout)


@dataclass
class Processes(Backend):
    """Processes of our own. Those that die are replaced, and the points that were lost with them are tried once more, alone."""

    number: int
    pool: futures.ProcessPoolExecutor | None = None
    proven: bool = field(default=False)
    """Whether a process has ever answered."""

    def __post_init__(self) -> None:
        try:
            pickle.dumps((self.fun, self.args))
        except Exception as error:
            raise ValueError(
                f"workers={self.number} sends fun and args to other processes, but they cannot be pickled ({error}); "
                "define fun at the top level of a module, or pass workers=ThreadPoolExecutor(...)"
            ) from error

    def run(self, points: np.ndarray, outcomes: list[Any], timeout: float | None) -> None:
        lost = self._try(points, outcomes, range(len(points)), timeout)
        for i in lost:
            died = bool(self._try(points, outcomes, [i], timeout))
            if died and not self.proven:
                raise RuntimeError(
                    f"workers={self.number}: the worker processes die before they answer; put the call of minimize under "
                    "`if __name__ == '__main__':` and fun into an importable module, or pass workers=ThreadPoolExecutor(...)"
                )
            if died:
                outcomes[i] = Failure("the process that evaluated the objective died")

    def close(self) -> None:
        if self.pool is not None:
            processes: dict[int, Any] = getattr(self.pool, "_processes", None) or {}
            for process in list(processes.values()):  # one that hangs would keep the interpreter from exiting
                process.terminate()
            self.pool.shutdown(wait=False, cancel_futures=True)
            self.pool = None

    def _try(self, points: np.ndarray, outcomes: list[Any], which: Sequence[int], timeout: float | None) -> list[int]:
        """Evaluate some of the points; returns those that were lost because a process died."""
        if self.pool is None:
            context = multiprocessing.get_context("spawn")  # a fork of a process that runs JAX may deadlock
            ignore = (signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
            self.pool = futures.ProcessPoolExecutor(self.number, context, signal.signal, ignore)
        collect(self.pool, self.fun, self.args, points, outcomes, which, timeout)
        lost = [i for i in which if isinstance(outcomes[i], Failure) and isinstance(outcomes[i].error, BrokenProcessPool)]
        self.proven = self.proven or len(lost) < len(which)
        if lost or any(outcomes[i] is PENDING for i in which):
            self.close()
        return lost


def collect(
    executor: futures.Executor,
    fun: Objective,
    args: tuple[Any, ...],
    points: np.ndarray,
    outcomes: list[Any],
    which: Sequence[int],
    timeout: float | None,
) -> None:
    """Submit some of the points and put into `outcomes` what comes back in time, even if interrupted."""
    jobs: dict[int, futures.Future[Any]] = {}
    try:
        for i in which:
            try:
                jobs[i] = executor.submit(fun, points[i], *args)
            except Exception as error:  # the executor is broken or shut down
                outcomes[i] = raised(error)
        futures.wait(jobs.values(), timeout)
    finally:
        for i, job in jobs.items():
            if job.cancel() or not job.done():
                continue
            error = job.exception()
            if error is None:
                outcomes[i] = job.result()
            elif isinstance(error, Exception):
                outcomes[i] = raised(error)
