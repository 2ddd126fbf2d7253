"""The weighted least-squares fit of a quadratic function (Hansen 2019)."""

from dataclasses import dataclass

import numpy as np

from thalweg.models.features import DIAGONAL, FULL, features


@dataclass(frozen=True, eq=False)
class Fitted:
    """The function constant + linear . e + e' matrix e."""

    constant: float
    linear: np.ndarray
    matrix: np.ndarray
    """Symmetric; 0 in a linear model."""
    kind: int

    def __call__(self, e: np.ndarray) -> np.ndarray:
        """Return the values at the points e (n, d)."""
        return self.constant + e @ self.linear + np.sum((e @ self.matrix) * e, axis=1)

    def optimum(self, newest: np.ndarray) -> np.ndarray:
        """Return the stationary point; in a linear model a step down the slope from the newest point."""
        if self.kind < DIAGONAL:
            return newest - 2 * self.linear
        return np.linalg.pinv(self.matrix) @ (-self.linear / 2)


def rank_weights(n: int, best: float) -> np.ndarray:
    """Return the weights of n points, best first: from `best` linearly down to 1."""
    return np.linspace(best, 1.0, n)


def fit(e: np.ndarray, f: np.ndarray, kind: int, weight: float) -> Fitted | None:
    """Fit a model of this kind to the finite values f (n,) at the points e (n, d), which come best first.

    With fewer points than features the coefficients are those of the smallest norm. None if the numbers are too large.
    """
    d = e.shape[1]
    w = rank_weights(len(f), weight)[:, None]
    # in units of their spread the columns have like sizes; values from the best one on lose no digits to a large constant
    unit = float(np.sqrt(np.mean(e**2))) or 1.0
    with np.errstate(all="ignore"):
        rows, above = w * features(e / unit, kind), w[:, 0] * (f - f[0])
        if not (np.all(np.isfinite(rows)) and np.all(np.isfinite(above))):
            return None
        try:
            found = np.linalg.lstsq(rows, above, rcond=1e-15)[0]
        except np.linalg.LinAlgError:
            return None
        matrix = np.zeros((d, d))
        if kind >= DIAGONAL:
            matrix[np.diag_indices(d)] = found[d + 1 : 2 * d + 1]
        if kind >= FULL:
            i, j = np.triu_indices(d, 1)
            matrix[i, j] = matrix[j, i] = found[2 * d + 1 :] / 2
        fitted = Fitted(float(found[0] + f[0]), found[1 : d + 1] / unit, matrix / unit**2, kind)
        return fitted if np.all(np.isfinite(found)) and np.all(np.isfinite(fitted.matrix)) else None
