"""The fit of a quadratic function to an archive: its points, their weights, and its form; docs/math.md (38) to (41)."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from thalweg.models.features import (
    hessian,
    isotropic_features,
    number_of_features,
    quadratic_features,
    separable_features,
)
from thalweg.models.least_squares import Solution, System, lapack
from thalweg.models.rank_correlation import kendall_tau

NONE = 1e-11
"""A penalty that guards against rounding alone."""
TOWARDS_ISOTROPY = 1e-2
"""The penalty that pulls the full quadratic towards one that curves alike in all directions."""
LARGEST_FULL = 50
"""The largest dimension of full quadratics; a fit in dimension 100 would have 5,151 coefficients and take seconds."""
OUTLYING = 1e10
"""Largest value in a fit, in units of the median above the best one; larger ones count as that."""
LARGEST_UNIT = float(np.finfo(float).max) / OUTLYING


class Form(NamedTuple):
    """The form of a model, chosen by the error that it predicts."""

    separable: bool = False
    """True for squares of the coordinates of R^d alone, False for all products of standard coordinates."""
    penalty: float = TOWARDS_ISOTROPY
    """That on differences of squares and on products; inf leaves these out, and the function curves alike in all directions."""
    ranks: bool = False
    """True if ranks are fitted instead of values."""

    @property
    def isotropic(self) -> bool:
        """True for a function that curves alike in all directions of standard coordinates."""
        return not self.separable and self.penalty == inf


@dataclass(frozen=True, eq=False)
class Data:
    """Points and values of a fit, best first."""

    e: np.ndarray
    """Standard coordinates (m, d)."""
    y: np.ndarray
    """The points of R^d."""
    f: np.ndarray
    weights: np.ndarray
    """Factors of the residuals: they fall linearly in rank, and have the mean square 1."""
    unit: float
    """The unit of the fitted values: the median above the best one, or the largest; 0 if all are equal."""

    @classmethod
    def weighted(cls, e: np.ndarray, y: np.ndarray, f: np.ndarray, best: float) -> "Data":
        """Return data with rank weights; the first has `best` times the weight of the last."""
        with np.errstate(over="ignore"):
            middle, last = float(f[len(f) // 2] - f[0]), float(f[-1] - f[0])
        return cls(e, y, f, rank_weights(len(f), best), min(middle or last, LARGEST_UNIT))

    def targets(self, *, ranks: bool) -> np.ndarray:
        """Return the weighted values, from the best one on and in their unit; or weighted ranks."""
        if ranks:
            return self.weights * (np.arange(len(self.f)) * (2 / len(self.f)))
        with np.errstate(over="ignore"):
            return self.weights * np.minimum((self.f - self.f[0]) / self.unit, OUTLYING)

    def moved(self, shift: np.ndarray) -> "Data":
        """Return the same data with standard coordinates moved by `shift` (m, d)."""
        return Data(self.e + shift, self.y, self.f, self.weights, self.unit)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A quadratic function of standard coordinates, or a separable one of the coordinates of R^d."""

    data: Data
    form: Form
    solution: Solution
    centre: np.ndarray
    """The point of R^d from which a separable function measures."""
    spread: np.ndarray
    """Its units."""

    def __call__(self, e: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the values at points with these standard coordinates and places in R^d, in units of f."""
        return self._in_units_of_f(self._features(e, y) @ self.solution.coefficients)

    @property
    def linear(self) -> np.ndarray:
        """The gradient at the origin, in units of the fit."""
        return self.solution.coefficients[1 : self.data.e.shape[1] + 1]

    @cached_property
    def matrix(self) -> np.ndarray:
        """Half the Hessian, in units of the fit."""
        d = self.data.e.shape[1]
        coefficients = self.solution.coefficients
        if self.form.isotropic:
            return np.diag(np.full(d, coefficients[d + 1]))
        return np.diag(coefficients[d + 1 :]) if self.form.separable else hessian(coefficients, d)

    def stationary(self) -> np.ndarray:
        """Return the point where the gradient vanishes: standard coordinates, or of a separable function a point of R^d."""
        values, vectors = np.linalg.eigh(self.matrix)
        size = np.abs(values)
        kept = size > 1e-15 * np.max(size)
        point = vectors @ (np.where(kept, -0.5 / np.where(kept, values, 1.0), 0.0) * (vectors.T @ self.linear))
        return self.centre + self.spread * point if self.form.separable else point

    def left_out(self, which: np.ndarray) -> np.ndarray:
        """Return for these points of the data the values that the other points predict, docs/math.md (41)."""
        solution = self.solution
        rows, residuals = solution.rows[which], solution.residuals[which]
        columns, _ = lapack().dtrtrs(solution.factor, (rows * solution.scale).T, lower=1)
        leverage = np.minimum(np.sum(columns**2, axis=0), 1 - 1e-9)
        targets = rows @ solution.coefficients + residuals
        return self._in_units_of_f((targets - residuals / (1 - leverage)) / self.data.weights[which])

    def _in_units_of_f(self, fitted: np.ndarray) -> np.ndarray:
        """Return fitted targets as values of f."""
        if not self.form.ranks:
            return self.data.f[0] + self.data.unit * fitted
        # values with the ranks that the model gives; beyond the last one along a line
        ranks = np.arange(len(self.data.f)) * (2 / len(self.data.f))
        beyond = np.minimum(fitted, 0.0) + np.maximum(fitted - ranks[-1], 0.0)
        return np.interp(fitted, ranks, self.data.f) + self.data.unit * beyond

    def _features(self, e: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.form.separable:
            return separable_features((y - self.centre) / self.spread)
        return isotropic_features(e) if self.form.isotropic else quadratic_features(e)


@lru_cache(maxsize=64)
def rank_weights(m: int, best: float) -> np.ndarray:
    """Return weights of m points that fall linearly from `best` times the last one, with the mean square 1."""
    weights = np.linspace(best, 1.0, m)
    weights /= sqrt(np.mean(weights**2))
    weights.flags.writeable = False  # all fits of this size share them
    return weights


def fit(data: Data, *forms: Form) -> Fitted | None:
    """Fit functions of these forms, and return the one whose predicted error is least.

    None if all values are equal or the numbers are too large. The forms agree in `ranks`.
    """
    if not data.unit > 0:
        return None
    targets = data.targets(ranks=forms[0].ranks)
    full: System | None = None
    found: list[Fitted] = []
    d, centre = data.e.shape[1], data.y[0]
    for form in forms:
        if form.separable:
            spread = np.std(data.y, axis=0)
            spread = np.where(spread > 0, spread, 1.0)
            system = System(separable_features((data.y - centre) / spread) * data.weights[:, None], targets)
            penalty = np.full(2 * d + 1, NONE)
        elif form.isotropic:
            spread = centre
            system = System(isotropic_features(data.e) * data.weights[:, None], targets)
            penalty = np.full(d + 2, NONE)
        else:
            spread = centre
            full = system = full or System(quadratic_features(data.e, data.weights), targets)
            penalty = np.full(number_of_features(d), form.penalty)
            penalty[: d + 2] = NONE
        if (solution := system.solve(penalty)) is not None:
            found.append(Fitted(data, form, solution, centre, spread))
    return found[0] if len(found) == 1 else min(found, key=lambda fitted: fitted.solution.predicted, default=None)


def number_of_coefficients(d: int) -> int:
    """Return the largest number of coefficients of a model in dimension d.

    >>> [number_of_coefficients(d) for d in (2, 50, 51)]
    [6, 1326, 103]
    """
    return number_of_features(d) if d <= LARGEST_FULL else 2 * d + 1


def choose(data: Data, *, ranks: bool) -> Fitted | None:
    """Return the best of the full quadratic with either penalty and a separable one, as far as the points determine them.

    Above `LARGEST_FULL` an isotropic function takes the place of the full quadratic.
    """
    m, d = data.e.shape
    if d > LARGEST_FULL:
        forms = [Form(False, inf, ranks)] if m > d + 3 else []
    else:
        forms = [Form(False, TOWARDS_ISOTROPY, ranks)]
        if m > number_of_features(d):
            forms.append(Form(False, NONE, ranks))
    if m > 2 * d + 2:
        forms.append(Form(True, NONE, ranks))
    return fit(data, *forms) if forms else None


def choose_targets(data: Data, *, present: bool) -> tuple[bool, Fitted | None]:
    """Return whether a fit of ranks orders points that are left out better than a fit of values does, and the better fit.

    The present choice stays unless the other one is better by the standard error of a rank correlation.
    """
    n = len(data.f)
    margin = sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)))
    fits = [choose(data, ranks=ranks) for ranks in (False, True)]
    values, ranks = (-1.0 if each is None else kendall_tau(data.f, each.left_out(np.arange(n))) for each in fits)
    better = ranks > values + (-margin if present else margin)
    return better, fits[better]
