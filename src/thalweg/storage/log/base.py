"""Common parts of the logs: the evaluations of earlier calls."""

import logging
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np

from thalweg.storage.log.row import Evaluation

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
