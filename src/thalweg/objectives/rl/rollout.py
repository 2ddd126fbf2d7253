"""Results of one rollout, and of all rollouts of a policy."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thalweg.objectives.rl.normaliser import Moments


class Rollout(NamedTuple):
    """The result of one episode."""

    ret: float
    """The return: the sum of all rewards."""
    steps: int


class PolicyEvaluation(NamedTuple):
    """The results of all rollouts of one policy."""

    returns: np.ndarray
    steps: np.ndarray
    moments: Moments | None = None
    """Moments of the observations, if they are normalised by running statistics."""

    @classmethod
    def of(cls, rollouts: Sequence[Rollout], moments: Moments | None = None) -> "PolicyEvaluation":
        """Collect the results of single rollouts."""
        if not rollouts:
            raise ValueError("seeds must hold at least one environment seed, got none")
        return cls(np.array([each.ret for each in rollouts]), np.array([each.steps for each in rollouts]), moments)

    @property
    def value(self) -> float:
        """The value to minimise: minus the mean return."""
        return -float(self.returns.mean())
