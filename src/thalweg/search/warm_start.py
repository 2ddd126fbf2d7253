"""Mean and spread of a search that starts from known points, docs/math.md (49), (50) (after Nomura et al. 2021).

The best of the points are a sample of the distribution to start from: a normal one with their moments. Few points say little
about its shape and less about its size, so both are shrunk; it is at most as wide as a search without known points begins.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

SHARE = 0.1
"""Share of the points, the best ones, that is a sample of the start."""
SIMILAR = 1 / 3
"""Standard deviation around each point of a similar function, in units of sigma0: a tenth of a box by the defaults."""
NEAR = 0.001
"""The same for points of the objective itself."""
LEAST = 4
"""Least number of points that give the moments, if there are as many."""


class WarmStart(NamedTuple):
    """The normal distribution that a search starts from, in R^d."""

    mean: np.ndarray
    root: np.ndarray
    """The symmetric root of its covariance."""

    @property
    def std(self) -> np.ndarray:
        """Standard deviation per coordinate."""
        return np.linalg.norm(self.root, axis=1)

    @property
    def size(self) -> float:
        """Standard deviation of a ball of the same volume."""
        return float(np.exp(np.linalg.slogdet(self.root)[1] / len(self.mean)))


def warm_start(y: np.ndarray, sigma0: float, share: float, smoothing: float) -> WarmStart:
    """Return the start from points y (n, d) of R^d, best first, in place of a ball of standard deviation sigma0.

    >>> start = warm_start(np.array([[1.0, 2.0]]), 0.5, 0.1, 0.3)
    >>> start.mean.tolist(), start.root.tolist()
    ([1.0, 2.0], [[0.5, 0.0], [0.0, 0.5]])
    """
    n, d = y.shape
    k = min(n, max(ceil(share * n), LEAST))
    best = y[:k]
    mean = best.mean(0)
    centred = best - mean
    covariance = centred.T @ centred / max(k - 1, 1)
    variance = float(np.trace(covariance)) / d
    size = sigma0 ** (2 / k) * variance ** (1 - 1 / k)
    if variance > 0:
        rho = shrinkage(covariance, k)
        covariance = size * ((1 - rho) * covariance / variance + rho * np.eye(d))
    else:
        covariance = size * np.eye(d)
    values, vectors = np.linalg.eigh(covariance + (smoothing * sigma0) ** 2 * np.eye(d))
    return WarmStart(mean, (vectors * np.minimum(np.sqrt(np.maximum(values, 0.0)), sigma0)) @ vectors.T)


def shrinkage(covariance: np.ndarray, k: int) -> float:
    """Return the weight of the isotropic part in the covariance of k points, docs/math.md (50) (Chen et al. 2010, OAS)."""
    d = len(covariance)
    squared, trace = float(np.sum(covariance**2)), float(np.trace(covariance))
    elongation = squared - trace**2 / d
    above = (1 - 2 / d) * squared + trace**2
    return 1.0 if elongation <= 0 else min(1.0, above / ((k + 1 - 2 / d) * elongation))
