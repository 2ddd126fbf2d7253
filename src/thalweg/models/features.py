"""Features of the model: a constant, the coordinates, and their squares and products; docs/math.md (38)."""

from functools import lru_cache

import numpy as np


def number_of_features(d: int) -> int:
    """Return the number of coefficients of a quadratic function in dimension d.

    >>> [number_of_features(d) for d in (2, 5, 10)]
    [6, 21, 66]
    """
    return d * (d + 3) // 2 + 1


@lru_cache(maxsize=64)
def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices i < j of all pairs of n things."""
    i, j = np.triu_indices(n, 1)
    return i, j


def quadratic_features(e: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the features of the points e (n, d): 1, e_i, |e|^2, e_i^2 - e_{i+1}^2, e_i e_j; times the points' weights.

    The squares come as their sum and their differences, so that a penalty on all but the first d + 2 pulls the model towards
    one that curves alike in all directions, as it does in the coordinates of a search distribution that has adapted.
    """
    n, d = e.shape
    made = np.empty((number_of_features(d), n))  # a feature is a row here: long loops, and few large arrays besides
    x, square, (i, j), products = e.T.copy(), e**2, pairs(d), made[2 * d + 1 :]
    made[0], made[1 : d + 1] = 1.0, x
    np.sum(square, axis=1, out=made[d + 1])
    np.subtract(square.T[:-1], square.T[1:], out=made[d + 2 : 2 * d + 1])
    np.take(x, i, axis=0, out=products, mode="clip")
    products *= x[j]
    return made.T.copy() if weights is None else np.multiply(made.T, weights[:, None], order="C")


def hessian(coefficients: np.ndarray, d: int) -> np.ndarray:
    """Return the symmetric matrix M of the function c + b.e + e' M e with these coefficients of `quadratic_features`."""
    sum_of_squares, differences = coefficients[d + 1], coefficients[d + 2 : 2 * d + 1]
    matrix = np.zeros((d, d))
    matrix[pairs(d)] = coefficients[2 * d + 1 :] / 2
    matrix += matrix.T
    diagonal = np.full(d, sum_of_squares)
    diagonal[:-1] += differences
    diagonal[1:] -= differences
    matrix[np.diag_indices(d)] = diagonal
    return matrix


def isotropic_features(e: np.ndarray) -> np.ndarray:
    """Return the first d + 2 of the `quadratic_features` of the points e (n, d): 1, e_i, |e|^2."""
    return np.concatenate([np.ones((len(e), 1)), e, np.sum(e**2, axis=1)[:, None]], axis=1)


def separable_features(u: np.ndarray) -> np.ndarray:
    """Return the features of the points u (n, d): 1, u_i, u_i^2."""
    return np.concatenate([np.ones((len(u), 1)), u, u**2], axis=1)
