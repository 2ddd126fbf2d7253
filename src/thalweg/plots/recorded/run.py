"""`Recorded`: all that is known of a run."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg.plots.recorded.tables import Evaluations, Generations
from thalweg.search.campaign import Best
from thalweg.search.constraints import Kinds

DECADES = 2.0
"""Range of positive values from which on a coordinate is shown on a logarithmic axis, where nothing tells its kind."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """All that is known of a run from its result, its checkpoint or its log."""

    name: str
    """Name of the file, without folders; "result" for a result."""
    evaluations: Evaluations
    """Empty where there is no log."""
    generations: Generations
    """Empty where the log has no numbers of the search."""
    names: tuple[str, ...]
    """Names of the variables; x[0], x[1], ... where they have none."""
    logarithmic: np.ndarray
    """True for each variable that is searched, or varies, over decades."""
    integers: np.ndarray
    """True for each variable that takes whole numbers alone."""
    best: Best | None
    """The best point, its value and violation, and the number of evaluations when it was found; None without any value."""
    nfev: int
    failures: int
    method: str | None = None
    seed: int | None = None
    message: str | None = None
    """Why the run has ended; None if it goes on, or if nothing tells."""
    elapsed: float | None = None
    """Seconds that the run took; None where unknown."""
    kinds: Kinds | None = None
    """The constraints; None without, or where only the log tells of them."""
    before: int = 0
    """Evaluations of the run before the first one in `evaluations`."""

    @property
    def d(self) -> int:
        """The number of variables."""
        return len(self.names)

    @property
    def constrained(self) -> bool:
        """True if the run has constraints."""
        return self.kinds is not None or bool(self.evaluations.g.shape[1] + self.evaluations.h.shape[1])

    @cached_property
    def number(self) -> np.ndarray:
        """The number of each evaluation within the run, from 1."""
        return self.before + np.arange(1, len(self.evaluations) + 1)

    @cached_property
    def best_so_far(self) -> np.ndarray:
        """The lowest value of a feasible point up to each evaluation, inf before the first."""
        return self.evaluations.best_so_far(self.kinds)

    @cached_property
    def violation(self) -> np.ndarray:
        """The largest violation of a constraint of each evaluation, 0 without constraints."""
        return self.evaluations.violation(self.kinds)


def labels(names: tuple[str, ...] | None, d: int) -> tuple[str, ...]:
    """Return the names of d variables, or x[0], x[1], ... without."""
    return names if names is not None and len(names) == d else tuple(f"x[{i}]" for i in range(d))


def spans_decades(x: np.ndarray) -> np.ndarray:
    """Tell for each column of points whether it is positive and its values span several decades."""
    if not len(x):
        return np.zeros(x.shape[1], bool)
    low, high = np.min(x, axis=0), np.max(x, axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return (low > 0) & (high / low > 10**DECADES)
