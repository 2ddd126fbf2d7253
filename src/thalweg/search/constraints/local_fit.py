"""Weighted least squares around the mean of the search distribution, in its standard coordinates, docs/math.md (51)."""

from typing import NamedTuple

import numpy as np

NEAR = 2.0
"""Squared distance from the mean per dimension at which an evaluation has half the weight."""


class Design:
    """Evaluations in standard coordinates, (k, d), weighted by their distance from the mean; those not `taken` by 0."""

    def __init__(self, e: np.ndarray, taken: np.ndarray | None = None) -> None:
        squares = np.sum(e**2, axis=1)
        near = np.isfinite(squares) if taken is None else np.isfinite(squares) & taken
        self.shape = (len(e) if taken is None else int(np.sum(taken)), e.shape[1])
        """Number of evaluations and of coordinates."""
        distance = np.where(near, squares, 0.0) / e.shape[1]
        self.root = np.where(near, np.sqrt(1 / (1 + (distance / NEAR) ** 2)), 0.0)[:, None]
        e = np.where(near[:, None], e, 0.0)
        self.columns = np.column_stack([np.ones(len(e)), e, np.where(near, squares, 0.0) / 2])

    def planes(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values at the mean, (m,), and the gradients, (m, d), of linear fits to values (k, m)."""
        found = np.linalg.lstsq(self.columns[:, :-1] * self.root, values * self.root, rcond=1e-10)[0]
        return found[0], found[1:].T

    def bowl(self, values: np.ndarray) -> "Bowl":
        """Return the fit of a quadratic function whose curvature is the same in all directions."""
        found = np.linalg.lstsq(self.columns * self.root, values * self.root[:, 0], rcond=1e-10)[0]
        residual = (values - self.columns @ found) * self.root[:, 0]
        spread = np.sqrt(np.sum(residual**2) / max(float(np.sum(self.root**2)), 1e-300))
        return Bowl(found[1:-1], float(found[-1]), float(spread))


class Bowl(NamedTuple):
    """A quadratic function with one curvature."""

    gradient: np.ndarray
    """Gradient at the mean."""
    curvature: float
    residual: float
    """Weighted standard deviation of the values around the fit."""
