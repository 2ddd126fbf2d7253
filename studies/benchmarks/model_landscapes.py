"""The landscapes of `model.py`: ten functions, each moved or rotated at random by the seed; the minimum is always 0.

z = R (x - s) with a random rotation R and s uniform in [-1, 1]^d; for the bananas y = R x without s, so that x = 0 is where the
valley is usually entered. Bent cigar, sharp ridge and different powers are BBOB's f12, f13 and f14.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from thalweg.objectives.functions import asymmetric, chain, discus, ellipsoid, sphere
from thalweg.objectives.problems import random_rotation

BANANAS = {"banana-1e2": 1e2, "banana-1e3": 1e3, "banana-1e4": 1e4, "banana-1e5": 1e5}
"""Bananas and their factors; banana-1e2 is Rosenbrock's function."""

Landscape = Callable[[np.ndarray], float]


def bent_cigar(z: np.ndarray, R: np.ndarray) -> float:
    """f12: z_1^2 + 1e6 sum_{i>=2} z_i^2 of R T_asy^0.5(z)."""
    z = R @ asymmetric(z, 0.5)
    return z[0] ** 2 + 1e6 * (z[1:] ** 2).sum()


def sharp_ridge(z: np.ndarray, R: np.ndarray) -> float:
    """f13: z_1^2 + 100 sqrt(sum_{i>=2} z_i^2) of R Lambda^10 z, where z has a rotation of its own."""
    z = R @ (10.0 ** (0.5 * np.linspace(0, 1, len(z))) * z)
    return z[0] ** 2 + 100 * np.sqrt((z[1:] ** 2).sum())


def different_powers(z: np.ndarray) -> float:
    """f14: sqrt(sum |z_i|^(2 + 4 (i-1)/(d-1)))."""
    return np.sqrt((np.abs(z) ** (2 + 4 * np.linspace(0, 1, len(z)))).sum())


CONVEX = ("sphere", "ellipsoid", "discus", "bent-cigar", "different-powers", "sharp-ridge")
FUNCTIONS = (*CONVEX, *BANANAS)


def landscape(function: str, d: int, seed: int) -> Landscape:
    """Return a function of one point on the landscape of a seed; all functions share its rotations and its shift."""
    rng = np.random.default_rng((seed, d))
    shift, R, Q = rng.uniform(-1, 1, d), random_rotation(rng, d), random_rotation(rng, d)
    if function in BANANAS:
        valley = partial(chain, a=BANANAS[function])
        return lambda x: float(valley(R @ x))
    plain: dict[str, Landscape] = {
        "sphere": sphere,
        "ellipsoid": ellipsoid,
        "discus": discus,
        "bent-cigar": partial(bent_cigar, R=R),
        "sharp-ridge": partial(sharp_ridge, R=Q),
        "different-powers": different_powers,
    }
    value = plain[function]
    return lambda x: float(value(R @ (x - shift)))
