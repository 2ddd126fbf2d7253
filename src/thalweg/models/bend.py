"""The bend by values: the bow with which f is most nearly quadratic in standard coordinates; docs/math.md (42) to (44)."""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from thalweg.models.fit import NONE, Fitted, Form, fit

PRIOR = 0.05
"""Standard deviation of a move of the bow in each direction, before the values are seen."""
LONGEST_STEP = 0.2
"""Largest move of the bow at once."""
LONGEST = 10.0
"""Largest length of the bow."""
STEPS = 2
"""Gauss-Newton steps."""
NEEDED = 0.3
"""Ratio of squared residuals, with a bow over without, above which the bow is not believed."""
RATE = 0.2
"""Learning rate of the evidence."""


class Moved(NamedTuple):
    """A new estimate of the bow."""

    bow: np.ndarray
    precision: float
    """1 over its expected squared error."""
    fitted: Fitted
    """The model in the coordinates of this bow."""


class Bend:
    """Estimates the bow by Gauss-Newton steps from the present one, and moves it by bounded steps.

    `evidence` is the smoothed logarithm of the ratio of squared residuals, with a bow over without: where that is too large,
    a bow explains no more than chance, and it shrinks.
    """

    def __init__(self, evidence: float = 0.0) -> None:
        self.evidence = evidence

    def move(self, fitted: Fitted, axis: np.ndarray, bow: np.ndarray) -> Moved | None:
        """Return a better bow, given the model in the coordinates of the present one; None if there is no estimate."""
        data = fitted.data
        if fitted.form.separable:
            found = fit(data, Form(False, NONE, fitted.form.ranks))
            if found is None:
                return None
            fitted = found
        if len(data.f) <= len(fitted.solution.coefficients) + len(axis):
            return None
        square = square_along(data.e, axis)
        complement = orthogonal_to(axis)

        def at(other: np.ndarray) -> Fitted | None:
            """Return the model in the coordinates of another bow."""
            return fit(data.moved(-square[:, None] * (other - bow)), fitted.form)

        target, covariance, moved = bow, np.empty((0, 0)), fitted
        for step in range(STEPS):
            if step and (moved := at(target)) is None:
                return None
            gradient = moved.linear + 2 * moved.data.e @ moved.matrix
            change, covariance = moved.solution.extended(-(gradient @ complement.T) * (square * data.weights)[:, None])
            target = target + change @ complement
            if not norm(target) < LONGEST:  # the steps do not converge: stay, and let the evidence decide
                target = bow
                break
        change, error = shrunk(complement @ (target - bow), covariance)
        new = bow + change @ complement
        tried, straight = at(new), at(np.zeros_like(bow)) if np.any(bow) else fitted
        if tried is None or straight is None:
            return None
        if tried.solution.squares > fitted.solution.squares:
            new, tried = bow, fitted
        ratio = max(tried.solution.squares, 1e-300) / max(straight.solution.squares, 1e-300)
        self.evidence += RATE * (min(max(log(ratio), -5.0), 1.0) - self.evidence)
        if self.evidence > log(NEEDED):
            new = new / 2
            tried = at(new) or tried
        return Moved(new, 1 / max(error, 1e-12), tried)


def square_along(e: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return ((axis.e)^2 - 1) / sqrt(2) for each point e (n, d), to the same bits whichever other points there are."""
    return (np.einsum("ij,j->i", e, axis) ** 2 - 1) / sqrt(2)


def shrunk(change: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a change of the bow, shrunk by its covariance against the prior and to a largest length, and its squared error.

    In a direction that the values do not determine the bow stays as it is, docs/math.md (43).
    """
    variances, directions = np.linalg.eigh(covariance)
    kept = PRIOR**2 / (PRIOR**2 + np.maximum(variances, 0.0))
    change = directions @ (kept * (directions.T @ change))
    length = norm(change)
    return change * min(1.0, LONGEST_STEP / max(length, 1e-300)), float(np.sum(PRIOR**2 * (1 - kept)))


def norm(vector: np.ndarray) -> float:
    """Return the Euclidean length; several times as fast as numpy's on a short vector."""
    return sqrt(vector @ vector)


def orthogonal_to(axis: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (d - 1, d) of the complement of a unit vector, by Householder's reflection.

    >>> orthogonal_to(np.array([0.0, 1.0])).tolist()
    [[1.0, 0.0]]
    """
    last = np.sign(axis[-1]) or 1.0
    normal = axis.copy()
    normal[-1] += last
    return np.eye(len(axis))[:-1] - np.outer(normal[:-1], normal) * (2 / (normal @ normal))
