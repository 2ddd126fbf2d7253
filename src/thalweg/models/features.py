"""Features of the model: a constant, the coordinates, their squares, and their products."""

import numpy as np

LINEAR, DIAGONAL, FULL = 0, 1, 2
"""Kinds of models: each has the features of the one before and further ones."""


def number_of_features(d: int, kind: int) -> int:
    """Return the number of coefficients of a model in dimension d.

    >>> [number_of_features(5, kind) for kind in (LINEAR, DIAGONAL, FULL)]
    [6, 11, 21]
    """
    return (d + 1, 2 * d + 1, d * (d + 3) // 2 + 1)[kind]


def features(e: np.ndarray, kind: int) -> np.ndarray:
    """Return the features of the points e (n, d): (n, number_of_features)."""
    parts = [np.ones((len(e), 1)), e]
    if kind >= DIAGONAL:
        parts.append(e**2)
    if kind >= FULL:
        i, j = np.triu_indices(e.shape[1], 1)
        parts.append(e[:, i] * e[:, j])
    return np.concatenate(parts, axis=1)
