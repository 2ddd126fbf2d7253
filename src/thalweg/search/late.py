"""Open points of runs that have ended: their values still count, but teach nothing."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from thalweg._common.checks import as_array
from thalweg.search.pending import PendingPoints


class LatePoints:
    """The open points of finished runs."""

    def __init__(self) -> None:
        self.runs: list[PendingPoints] = []

    def add(self, pending: PendingPoints) -> None:
        """Keep the open points of a run that has just ended."""
        if pending.open:
            self.runs.append(pending)

    def split(self, X: Any, F: Iterable[Any]) -> tuple[list[tuple[np.ndarray, Any]], Any, list[Any]]:
        """Return the points of finished runs with their values, and the other points and values."""
        if not self.runs:
            return [], X, list(F)
        points, values = as_array(X, "X"), list(F)
        owners = [next((run for run in self.runs if run.holds(x)), None) for x in np.atleast_2d(points)]
        if len(values) != len(owners):
            return [], X, values  # an error, which is explained where values are told
        late = [(x, value) for x, value, owner in zip(points, values, owners, strict=True) if owner is not None]
        present = [i for i, owner in enumerate(owners) if owner is None]
        return late, points[present], [values[i] for i in present]

    def close(self, x: np.ndarray) -> None:
        """Forget a point of a finished run, once its value is counted."""
        next(run for run in self.runs if run.holds(x)).forget(x)
        self.runs = [run for run in self.runs if run.open]
