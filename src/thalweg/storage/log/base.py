"""What both kinds of logs share: what earlier calls have evaluated, and one writer at a time."""

import logging
import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from thalweg.storage.log.rows import Evaluation

try:
    import fcntl
except ImportError:  # Windows: there a second writer goes unnoticed
    fcntl = None

logger = logging.getLogger("thalweg")


class EvaluationLog(ABC):
    """A record of evaluations that only grows: the one in hand, and what was in it when it was opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[tuple[int, int], dict[int, Evaluation]] = {}

    @abstractmethod
    def append(self, rows: Sequence[Evaluation]) -> None:
        """Hand evaluations to the operating system: when this returns, the death of the process loses none of them."""

    @abstractmethod
    def sync(self) -> None:
        """Hand all of them to the disk: when this returns, a failure of the power loses none of them."""

    @abstractmethod
    def close(self) -> None:
        """Let another go on with it."""

    def known(self, run: int, generation: int, X: np.ndarray) -> dict[int, Evaluation]:
        """The points of a generation, by index, that were evaluated before the log was opened: those equal to the last bit."""
        rows = self._known.get((run, generation), {})
        same = {i: row for i, row in rows.items() if i < len(X) and row.x.tobytes() == np.asarray(X[i], float).tobytes()}
        if len(same) < len(rows):
            logger.warning(
                "log %s has other points in generation %d than are asked for; these are evaluated anew", self.path, generation
            )
        return same

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _remember(self, rows: Iterable[Evaluation], since: tuple[int, int]) -> int:
        """Keep those that may be asked for again; returns how many there were in all."""
        number = 0
        for row in rows:
            number += 1
            if (row.run, row.generation) >= since:
                self._known.setdefault((row.run, row.generation), {})[row.index] = row
        return number


class Lock:
    """Keeps a file or folder from a second writer until it is released, or until the process ends in whatever way."""

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
        """Let others write."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


_held: weakref.WeakSet[Lock] = weakref.WeakSet()


def _release_all() -> None:
    for each in list(_held):
        each.release()


if hasattr(os, "register_at_fork"):  # a worker that outlives a killed run must not hold its lock
    os.register_at_fork(after_in_child=_release_all)
