"""Trajectories of many runs, generation by generation."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Work(NamedTuple):
    """The work of the device for all runs."""

    generations: np.ndarray
    """Generations of each run, (runs,)."""
    lanes: int
    """Number of runs side by side."""
    rounds: int
    """Generations that the lanes made side by side until the last run had ended."""

    @property
    def idle(self) -> float:
        """Share of the lanes' generations that no run needed any more."""
        return 1 - float(self.generations.sum()) / (self.lanes * self.rounds)


@dataclass(frozen=True)
class Trajectories:
    """Many runs, generation by generation.

    A run ends when it reaches the target or breaks down (its numbers are no longer finite); from there on its rows stand still.
    """

    evaluations: np.ndarray
    """Evaluations after each generation, (generations,)."""
    best: np.ndarray
    """Best value so far, (runs, generations)."""
    median: np.ndarray
    """Median value of each generation, failures as inf, (runs, generations)."""
    x: np.ndarray
    """Best point of each run, (runs, d)."""
    info: dict[str, np.ndarray]
    """Further numbers of the strategy by name, each (runs, generations)."""
    work: Work | None = None
    """The work of the device; None where `run_many` was not used."""

    @property
    def fun(self) -> np.ndarray:
        """Best value of each run."""
        return self.best[:, -1]

    @property
    def sigma(self) -> np.ndarray:
        """Step-size, (runs, generations)."""
        return self.info["sigma"]

    def evaluations_to(self, target: float) -> np.ndarray:
        """Return the evaluations until the best value was at or below the target; inf for runs that never got there."""
        reached = self.best <= target
        return np.where(reached.any(1), self.evaluations[reached.argmax(1)], np.inf)

    def best_at(self, evaluations: float) -> np.ndarray:
        """Return the best value of each run within that many evaluations; inf if that is less than a generation."""
        generation = int(np.searchsorted(self.evaluations, evaluations, side="right")) - 1
        return self.best[:, generation] if generation >= 0 else np.full(len(self.best), np.inf)
