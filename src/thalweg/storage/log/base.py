"""Common parts of the logs: the evaluations of earlier calls, and a lock for one writer at a time."""

import logging
import os
import weakref
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from thalweg.storage.log.row import Evaluation

try:
    import fcntl
except ImportError:  # Windows, where a second writer goes unnoticed
    fcntl = None

logger = logging.getLogger("thalweg")


class EvaluationLog(AbstractContextManager["EvaluationLog"]):
    """A log that is open for appending, with the evaluations that it had when it was opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[int, int], dict[int, Evaluation]] = {}

    @abstractmethod
    def append(self, rows: Sequence[Evaluation]) -> None:
        """Hand evaluations to the operating system: once this returns, the end of the process loses none of them."""

    @abstractmethod
    def sync(self) -> None:
        """Write all evaluations to the disk: once this returns, a power failure loses none of them."""

    @abstractmethod
    def close(self) -> None:
        """Close the log and release its lock."""

    def known(self, run: int, generation: int, X: np.ndarray, indices: Sequence[int] | None = None) -> dict[int, Evaluation]:
        """Return earlier evaluations of points X of a generation, by their place in X. They must be equal to the last bit.

        X are all points of the generation, or those that have these indices.
        """
        rows = self._known.get((run, generation), {})
        if indices is not None:
            rows = {i: rows[index] for i, index in enumerate(indices) if index in rows}
        same = {i: row for i, row in rows.items() if i < len(X) and row.x.tobytes() == np.asarray(X[i], float).tobytes()}
        if len(same) < len(rows):
            logger.warning(
                "log %s has other points in generation %d than the search; these are evaluated again", self.path, generation
            )
        return same

    def __exit__(self, *_: object) -> None:
        self.close()

    def _remember(self, rows: Iterable[Evaluation], since: tuple[int, int]) -> int:
        """Keep the rows from (run, generation) `since` on. Return the number of all rows."""
        number = 0
        for row in rows:
            number += 1
            if (row.run, row.generation) >= since:
                self._known.setdefault((row.run, row.generation), {})[row.index] = row
        return number


class Lock:
    """Locks a file or folder against a second writer, until it is released or the process ends."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_RDONLY) if fcntl else None
        if fcntl is None or self.descriptor is None:
            return
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise ValueError(f"log {os.fspath(path)!r} is in use by another run; wait for it or pass another log") from None
        except OSError:  # a file system without locks
            logger.debug("no lock on %s", path, exc_info=True)
        _held.add(self)

    def release(self) -> None:
        """Release the lock."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


_held: weakref.WeakSet[Lock] = weakref.WeakSet()


def _release_all() -> None:
    for each in list(_held):
        each.release()


if hasattr(os, "register_at_fork"):  # a forked worker that outlives a killed run must not hold its lock
    os.register_at_fork(after_in_child=_release_all)
