"""A run that continues from a checkpoint: the sentence that says so, and the objective that its values are of."""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.search.campaign import Best
from thalweg.search.optimizer import Optimizer

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

notices = logging.getLogger("thalweg.notices")
"""The command line shows these messages, too."""


@dataclass(frozen=True)
class Origin:
    """The objective that a checkpoint's values are of."""

    identify: Callable[[], str] | None = None
    """Returns its fingerprint now; None without a checkpoint."""
    objectives: tuple[str, ...] = ()
    """Its fingerprints at the start, and at the last checkpoint: an objective may keep an account of its own."""
    trusted: int = 0
    """Number of the evaluations whose values were taken for those of the objective without a test; 0 for none."""
    again: tuple[float, ...] = ()
    """Values of the best point that was evaluated again by this call."""

    def saved(self) -> dict[str, Any]:
        """Return what the checkpoint keeps of it."""
        return {"objectives": list(self.objectives), "trusted": self.trusted}

    def now(self) -> "Origin":
        """Return it with the fingerprint that the objective has now."""
        return self if self.identify is None else replace(self, objectives=(*self.objectives[:1], self.identify()))

    def describe(self, result: "OptimizeResult", best: Best) -> None:
        """Add to a result with this best point the values that were tested, and say so if its own were not."""
        result.reevaluated = np.array(self.again)
        if 0 < best.nfev <= self.trusted and np.isfinite(best.f):
            result.message += (
                f" The best value is from the first {self.trusted} evaluations, which were trusted: the objective may have "
                "changed since."
            )


def announce(es: Optimizer, checkpoint: str | os.PathLike[str]) -> None:
    """Say from where the search continues, or that it has finished already."""
    name = os.fspath(checkpoint)
    if es.stop():
        message = "already finished, nothing to do: %s has %d evaluations"
    else:
        message = "continuing from %s after %d evaluations"
    notices.info(message, name, es.nfev)
