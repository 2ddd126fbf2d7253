"""Penalised least squares by a Cholesky factor of the normal equations; docs/math.md (34), (35)."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.linalg import lapack

LAPACK = cast("Any", lapack)
JITTER = (0.0, 1e-13, 1e-10)
"""Amounts to add to the diagonal, in turn, where rounding makes the scaled matrix indefinite."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The coefficients c that minimise |rows c - targets|^2 + sum penalty c^2."""

    rows: np.ndarray
    coefficients: np.ndarray
    residuals: np.ndarray
    """targets - rows c."""
    factor: np.ndarray
    """The lower Cholesky factor of the scaled normal matrix S (rows' rows + penalty) S."""
    scale: np.ndarray
    """The diagonal of S: with it the matrix has ones on its diagonal."""
    penalty: np.ndarray

    @property
    def squares(self) -> float:
        """The mean squared residual."""
        return float(np.mean(self.residuals**2))

    @property
    def freedom(self) -> float:
        """The effective number of coefficients: each penalty takes a part of one."""
        shrunk = self.penalty * self.scale**2
        if not np.any(shrunk > 1e-9):
            return float(len(shrunk))
        inverse, _ = LAPACK.dtrtri(self.factor, lower=1)
        return float(len(shrunk) - shrunk @ np.sum(np.tril(inverse) ** 2, axis=0))

    @property
    def predicted(self) -> float:
        """The generalised cross-validation error: an estimate of the squared error at points that were left out."""
        left = 1 - self.freedom / len(self.residuals)
        return self.squares / left**2 if left > 1e-9 else float("inf")

    def extended(self, further: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of further columns, fitted together with the present ones, and their covariance.

        By the Schur complement, which costs little beside the fit itself, docs/math.md (37).
        """
        cross = self.scale[:, None] * (self.rows.T @ further)
        known, _ = LAPACK.dtrtrs(self.factor, cross, lower=1)
        inner = further.T @ further - known.T @ known
        inverse = np.linalg.pinv(inner, hermitian=True)
        pull = further.T @ self.residuals
        found = inverse @ pull
        m, p = self.rows.shape
        # the least value of the penalised problem; without the penalty's part it would fall below 0
        least = float(self.residuals @ self.residuals + self.penalty @ self.coefficients**2 - pull @ found)
        variance = max(least, 0.0) / max(m - p - len(pull), 1)
        return found, variance * inverse


def solve(rows: np.ndarray, targets: np.ndarray, penalty: np.ndarray) -> Solution | None:
    """Return the penalised least-squares solution, or None where the numbers are too large or the rows say too little.

    Columns are scaled to like sizes, and one step of refinement gives back the digits that squaring the matrix has cost.
    """
    with np.errstate(all="ignore"):
        size = np.einsum("ij,ij->j", rows, rows) + penalty
        if not (np.all(np.isfinite(size)) and np.all(np.isfinite(targets))):
            return None
        scale = 1 / np.sqrt(np.maximum(size, 1e-300))
        scaled, shrunk = rows * scale, penalty * scale**2
        normal, right = scaled.T @ scaled, scaled.T @ targets
        diagonal = normal.reshape(-1)[:: len(scale) + 1]
        diagonal += shrunk
        for jitter in JITTER:
            diagonal += jitter
            factor, failed = LAPACK.dpotrf(normal, lower=1, clean=0)
            if not failed:
                break
        else:
            return None
        found, _ = LAPACK.dpotrs(factor, right, lower=1)
        rest = targets - scaled @ found
        found += LAPACK.dpotrs(factor, scaled.T @ rest - shrunk * found, lower=1)[0]
        if not np.all(np.isfinite(found)):
            return None
        return Solution(rows, found * scale, targets - scaled @ found, factor, scale, penalty)
