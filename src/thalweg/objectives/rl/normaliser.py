"""Observations brought to mean 0 and standard deviation 1: by numbers that stay as they are, or by running ones."""

from dataclasses import dataclass

import numpy as np

CONSTANT = 1e-8
"""A standard deviation below it is none: such an observation is centred and not scaled."""


@dataclass(frozen=True)
class Normaliser:
    """The mean and the standard deviation of each observation, frozen.

    So the value of a point is a function of the point alone, whoever evaluates it and when. `normalise="running"` takes another
    one for each generation, as ARS does (Mania, Guy, Recht 2018).
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, observations: np.ndarray) -> "Normaliser":
        """Out of observations (n, size).

        >>> Normaliser.of(np.array([[1.0, 5.0], [3.0, 5.0]]))
        Normaliser(mean=(2.0, 5.0), std=(1.0, 1.0))
        """
        return Moments.of(observations).normaliser


@dataclass(frozen=True, eq=False)
class Moments:
    """What is known of the observations met so far: enough to merge it with what is known of others, exactly."""

    count: int
    mean: np.ndarray
    squares: np.ndarray
    """The sum of squared deviations from the mean: the sum of squares itself would lose its digits where the mean is large."""

    @classmethod
    def none(cls, size: int) -> "Moments":
        """Of no observation at all."""
        return cls(0, np.zeros(size), np.zeros(size))

    @classmethod
    def of(cls, observations: np.ndarray) -> "Moments":
        """Of observations (n, size)."""
        if observations.ndim != 2 or not len(observations):
            raise ValueError(f"observations must have shape (n, size) with n > 0, got {observations.shape}")
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told by `finite`
            mean = observations.mean(0)
            return cls(len(observations), mean, ((observations - mean) ** 2).sum(0))

    def merged(self, other: "Moments") -> "Moments":
        """Of the observations of both (Chan, Golub, LeVeque 1979).

        >>> Moments.of(np.array([[1.0]])).merged(Moments.of(np.array([[2.0], [6.0]])))
        Moments(count=3, mean=array([3.]), squares=array([14.]))
        """
        if not (self.count and other.count):
            return self if self.count else other
        count = self.count + other.count
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.mean - self.mean
            mean = self.mean + apart * (other.count / count)
            return Moments(count, mean, self.squares + other.squares + apart**2 * (self.count * other.count / count))

    @property
    def finite(self) -> bool:
        """Whether all are numbers."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.squares).all())

    @property
    def normaliser(self) -> Normaliser:
        """Frozen as they are; those of no observation change nothing.

        >>> Moments.none(2).normaliser
        Normaliser(mean=(0.0, 0.0), std=(1.0, 1.0))
        """
        std = np.sqrt(self.squares / max(self.count, 1))
        return Normaliser(tuple(self.mean.tolist()), tuple(np.where(std < CONSTANT, 1.0, std).tolist()))
