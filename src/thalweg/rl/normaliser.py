"""Observations brought to mean 0 and standard deviation 1, by numbers that stay as they are."""

from dataclasses import dataclass

import numpy as np

CONSTANT = 1e-8
"""A standard deviation below it is none: such an observation is centred and not scaled."""


@dataclass(frozen=True)
class Normaliser:
    """The mean and the standard deviation of each observation.

    ARS (Mania, Guy, Recht 2018) keeps both running over all that was ever observed, so that the policy of a point changes
    while the search goes on. Here they are frozen before it begins: the value of a point is then a function of the point alone,
    whoever evaluates it and when, and a strategy that remembers (a covariance, a path, a flow) is not misled.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, observations: np.ndarray) -> "Normaliser":
        """Out of observations (n, size).

        >>> Normaliser.of(np.array([[1.0, 5.0], [3.0, 5.0]]))
        Normaliser(mean=(2.0, 5.0), std=(1.0, 1.0))
        """
        if observations.ndim != 2 or not len(observations):
            raise ValueError(f"observations must have shape (n, size) with n > 0, got {observations.shape}")
        std = observations.std(0)
        return cls(tuple(observations.mean(0).tolist()), tuple(np.where(std < CONSTANT, 1.0, std).tolist()))
