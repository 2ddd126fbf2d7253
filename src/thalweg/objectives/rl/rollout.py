"""What rollouts give."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.objectives.rl.normaliser import Moments


class Rollout(NamedTuple):
    """One episode."""

    ret: float
    """The return: the sum of all rewards."""
    steps: int


class Evaluation(NamedTuple):
    """The rollouts of one policy."""

    returns: np.ndarray
    steps: np.ndarray

    @classmethod
    def of(cls, rollouts: Sequence[Rollout]) -> "Evaluation":
        """All of them."""
        if not rollouts:
            raise ValueError("seeds must hold at least one environment seed, got none")
        return cls(np.array([each.ret for each in rollouts]), np.array([each.steps for each in rollouts]))

    @property
    def value(self) -> float:
        """What is minimised."""
        return -float(self.returns.mean())


class Trial(NamedTuple):
    """The rollouts of one policy, and what it observed."""

    evaluation: Evaluation
    seen: Moments | None
    """None unless observations are normalised by running statistics."""
