"""Penalised least squares by a Cholesky factor of the normal equations; docs/math.md (39), (40)."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import isfinite
from typing import Any

import numpy as np

JITTER = (0.0, 1e-13, 1e-10)
"""Amounts to add to the diagonal, in turn, where rounding makes the scaled matrix indefinite."""


@cache
def lapack() -> Any:
    """Return scipy's LAPACK, imported at the first fit: `import thalweg` shall not wait for it."""
    return import_module("scipy.linalg.lapack")


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
        return float(np.add.reduce(self.residuals**2)) / len(self.residuals)

    @property
    def freedom(self) -> float:
        """The effective number of coefficients: each penalty takes a part of one."""
        shrunk = self.penalty * self.scale**2
        if not np.any(shrunk > 1e-9):
            return float(len(shrunk))
        inverse, _ = lapack().dtrtri(self.factor, lower=1)
        return float(len(shrunk) - shrunk @ np.sum(np.tril(inverse) ** 2, axis=0))

    @property
    def predicted(self) -> float:
        """The generalised cross-validation error: an estimate of the squared error at points that were left out."""
        left = 1 - self.freedom / len(self.residuals)
        return self.squares / left**2 if left > 1e-9 else float("inf")

    def extended(self, further: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of further columns, fitted together with the present ones, and their covariance.

        By the Schur complement, which costs little beside the fit itself, docs/math.md (42).
        """
        cross = self.scale[:, None] * (self.rows.T @ further)
        known, _ = lapack().dtrtrs(self.factor, cross, lower=1)
        inner = further.T @ further - known.T @ known
        values, vectors = np.linalg.eigh(inner)
        kept = values > 1e-13 * max(values[-1], 0.0)
        inverse = (vectors * np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)) @ vectors.T
        pull = further.T @ self.residuals
        found = inverse @ pull
        m, p = self.rows.shape
        # the least value of the penalised problem; without the penalty's part it would fall below 0
        least = float(self.residuals @ self.residuals + self.penalty @ self.coefficients**2 - pull @ found)
        variance = max(least, 0.0) / max(m - p - len(pull), 1)
        return found, variance * inverse


class System:
    """Rows and targets of a fit, with the normal matrix, which all penalties share."""

    def __init__(self, rows: np.ndarray, targets: np.ndarray) -> None:
        self.rows, self.targets = rows, targets
        with np.errstate(all="ignore"):
            self.normal, self.right = rows.T @ rows, rows.T @ targets

    def solve(self, penalty: np.ndarray) -> Solution | None:
        """Return the penalised solution, or None where the numbers are too large or the rows say too little.

        Columns are scaled to like sizes, and one step of refinement gives back the digits that squaring the matrix has cost.
        """
        with np.errstate(all="ignore"):
            size = self.normal.diagonal() + penalty
            if not (isfinite(size.sum()) and isfinite(self.right.sum())):
                return None
            scale = 1 / np.sqrt(np.maximum(size, 1e-300))
            if (factor := self._factor(scale, penalty * scale**2)) is None:
                return None
            found = scale * lapack().dpotrs(factor, scale * self.right, lower=1)[0]
            right = self.rows.T @ (self.targets - self.rows @ found) - penalty * found
            found += scale * lapack().dpotrs(factor, scale * right, lower=1)[0]
            if not isfinite(found.sum()):
                return None
            return Solution(self.rows, found, self.targets - self.rows @ found, factor, scale, penalty)

    def _factor(self, scale: np.ndarray, shrunk: np.ndarray) -> np.ndarray | None:
        """Return the lower Cholesky factor of the scaled normal matrix with `shrunk` on its diagonal; None if it has none."""
        added = 0.0
        for jitter in JITTER:
            added += jitter
            scaled = self.normal * scale[:, None]
            scaled *= scale
            diagonal = scaled.reshape(-1)[:: len(scale) + 1]
            diagonal += shrunk
            diagonal += added
            # LAPACK works in place on a matrix in Fortran's order
            factor, failed = lapack().dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return factor
        return None
