"""Functions with several minima, shifted so that the global one has the value 0.

Rastrigin's and Styblinski's functions are written as sums of terms that vanish at the minimum, not of large numbers that cancel
there, so that values close to the minimum keep all their digits.
"""

from math import pi

import numpy as np

from thalweg.objectives.base import Objective, Points, Values, namespace, origin

STYBLINSKI_ARGMIN = -2.903534027771177
"""The lower root of 4 x^3 - 32 x + 5."""


def rastrigin(x: Points) -> Values:
    """Rastrigin: 10 d + sum x_i^2 - 10 cos(2 pi x_i) = sum x_i^2 + 20 sin(pi x_i)^2."""
    return (x**2 + 20 * namespace(x).sin(pi * x) ** 2).sum(-1)


def griewank(x: Points) -> Values:
    """Griewank: 1 + sum x_i^2 / 4000 - prod cos(x_i / sqrt(i))."""
    xp = namespace(x)
    roots = xp.asarray(np.sqrt(np.arange(1, x.shape[-1] + 1)), x.dtype)
    return 1 + (x**2).sum(-1) / 4000 - xp.cos(x / roots).prod(-1)


def beale(x: Points) -> Values:
    """Beale: three squares in x_1 and x_2, plus sum_{i>=3} x_i^2.

    A second valley, x_2 = 1 + s / x_1 for x_1 -> -inf, descends to 0.452 and has no end: runs that follow it have failed.
    """
    first, second = x[..., 0], x[..., 1]
    squares = sum((c - first + first * second**k) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))
    return squares + (x[..., 2:] ** 2).sum(-1)


def styblinski(x: Points) -> Values:
    """Styblinski-Tang: 0.5 sum (x_i^4 - 16 x_i^2 + 5 x_i) + 39.16616570377142 d, factored by its double root s.

    Each coordinate has a second minimum at 2.7468, where it adds 14.1367 to the value.
    """
    s = STYBLINSKI_ARGMIN
    return 0.5 * ((x - s) ** 2 * ((x + s) ** 2 + 2 * s**2 - 16)).sum(-1)


def beale_optimum(d: int) -> np.ndarray:
    """Return (3, 0.5, 0, ...)."""
    return np.array([3.0, 0.5] + [0.0] * (d - 2))


def styblinski_optimum(d: int) -> np.ndarray:
    """Return the lower of the two minima in every coordinate."""
    return np.full(d, STYBLINSKI_ARGMIN)


RASTRIGIN = Objective("rastrigin", rastrigin, origin, "a bowl with a grid of minima", multimodal=True)
GRIEWANK = Objective("griewank", griewank, origin, "a wide bowl with shallow ripples", multimodal=True)
BEALE = Objective("beale", beale, beale_optimum, "flat, with a second, endless valley", multimodal=True, least_dimension=2)
STYBLINSKI = Objective("styblinski", styblinski, styblinski_optimum, "2^d minima, one of them global", multimodal=True)
