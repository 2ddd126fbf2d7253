"""Normalisation of observations to mean 0 and standard deviation 1, by fixed or by running statistics."""

from dataclasses import dataclass

import numpy as np

MIN_STD = 1e-8
"""The smallest standard deviation that counts; a more constant observation is centred but not scaled."""


@dataclass(frozen=True)
class Normaliser:
    """A fixed mean and standard deviation for each observation.

    With it the value of a point depends on the point alone. `normalise="running"` uses another normaliser for each generation,
    as ARS does (Mania, Guy, Recht 2018).
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, observations: np.ndarray) -> "Normaliser":
        """Estimate a normaliser from observations (n, size).

        >>> Normaliser.of(np.array([[1.0, 5.0], [3.0, 5.0]]))
        Normaliser(mean=(2.0, 5.0), std=(1.0, 1.0))
        """
        return Moments.of(observations).normaliser


@dataclass(frozen=True, eq=False)
class Moments:
    """Count, mean and squared deviations of observations, which can be merged exactly with those of others."""

    count: int
    mean: np.ndarray
    squares: np.ndarray
    """The sum of squared deviations from the mean; plain squares would lose digits where the mean is large."""

    @classmethod
    def empty(cls, size: int) -> "Moments":
        """Return the moments of no observation."""
        return cls(0, np.zeros(size), np.zeros(size))

    @classmethod
    def of(cls, observations: np.ndarray) -> "Moments":
        """Compute the moments of observations (n, size)."""
        if observations.ndim != 2 or not len(observations):
            raise ValueError(f"observations must have shape (n, size) with n > 0, got {observations.shape}")
        with np.errstate(over="ignore", invalid="ignore"):  # non-finite moments are reported by `finite`
            mean = observations.mean(0)
            return cls(len(observations), mean, ((observations - mean) ** 2).sum(0))

    def merged(self, other: "Moments") -> "Moments":
        """Return the moments of the observations of both (Chan, Golub, LeVeque 1979).

        >>> Moments.of(np.array([[1.0]])).merged(Moments.of(np.array([[2.0], [6.0]])))
        Moments(count=3, mean=array([3.]), squares=array([14.]))
        """
        if not (self.count and other.count):
            return self if self.count else other
        count = self.count + other.count
        with np.errstate(over="ignore", invalid="ignore"):
            difference = other.mean - self.mean
            mean = self.mean + difference * (other.count / count)
            between = difference**2 * (self.count * other.count / count)
            return Moments(count, mean, self.squares + other.squares + between)

    @property
    def finite(self) -> bool:
        """True if all moments are finite."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.squares).all())

    @property
    def normaliser(self) -> Normaliser:
        """The normaliser by these moments; that of no observation changes nothing.

        >>> Moments.empty(2).normaliser
        Normaliser(mean=(0.0, 0.0), std=(1.0, 1.0))
        """
        std = np.sqrt(self.squares / max(self.count, 1))
        return Normaliser(tuple(self.mean.tolist()), tuple(np.where(std < MIN_STD, 1.0, std).tolist()))
