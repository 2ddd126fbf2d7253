"""Open points of runs that have ended: their values still count, but teach nothing."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from thalweg._common.checks import as_array
from thalweg.search.pending import MOST, PendingPoint, PendingPoints, key_of


class LatePoints:
    """The open points of finished runs, each with the number of its run."""

    def __init__(self) -> None:
        self.open: dict[bytes, list[tuple[int, PendingPoint]]] = {}

    def __iter__(self) -> Iterator[tuple[int, PendingPoint]]:
        """Iterate over the numbers of runs and their points, oldest first."""
        every = (each for points in self.open.values() for each in points)
        return iter(sorted(every, key=lambda each: (each[0], each[1].place)))

    def add(self, run: int, pending: PendingPoints) -> None:
        """Keep the open points of a run that has just ended."""
        for point in pending.open_points:
            self._add(run, point)
        for _, point in list(self)[: max(0, len(self.open) - MOST)]:
            self.close(point.x)

    def split(self, X: Any, F: Iterable[Any]) -> tuple[list[tuple[np.ndarray, Any]], Any, list[Any]]:
        """Return the points of finished runs with their values, and the other points and values."""
        if not self.open:
            return [], X, list(F)
        points, values = as_array(X, "X"), list(F)
        late = [key_of(x) in self.open for x in np.atleast_2d(points)]
        if len(values) != len(late):
            return [], X, values  # an error, which is explained where values are told
        present = [i for i, is_late in enumerate(late) if not is_late]
        found = [(x, value) for x, value, is_late in zip(points, values, late, strict=True) if is_late]
        return found, points[present], [values[i] for i in present]

    def close(self, x: np.ndarray) -> None:
        """Forget a point of a finished run, once its value is counted."""
        points = self.open[key_of(x)]
        points.pop(0)
        if not points:
            del self.open[key_of(x)]

    def pack(self) -> list[dict[str, Any]]:
        """Return all of it as JSON's types."""
        return [
            {"run": run, "x": point.x.tolist(), "generation": point.generation, "index": point.index} for run, point in self
        ]

    def unpack(self, packed: Iterable[dict[str, Any]], coordinates: int) -> None:
        """Restore what `pack` has returned, with this number of coordinates of the objective's argument."""
        self.open = {}
        for each in packed:
            x = np.array(each["x"], float)
            if x.shape != (coordinates,):
                raise ValueError(f"a point of an ended run has shape {x.shape}")
            self._add(each["run"], PendingPoint(x, x[:0], x[:0], each["generation"], each["index"]))

    def _add(self, run: int, point: PendingPoint) -> None:
        self.open.setdefault(key_of(point.x), []).append((run, point))
