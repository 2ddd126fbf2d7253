"""The test functions: quadratic, with a curved valley, and with several minima. The minimum is always 0.

A new one is a function and an entry of `OBJECTIVES`.
"""

from functools import cache, partial
from math import pi

import numpy as np

from thalweg._common.checks import one_of
from thalweg.objectives.base import Objective, Points, Values, namespace

STYBLINSKI_ARGMIN = -2.903534027771177
"""The lower root of 4 x^3 - 32 x + 5."""


def sphere(x: Points) -> Values:
    """Sphere: sum x_i^2."""
    return (x**2).sum(-1)


def ellipsoid(x: Points) -> Values:
    """Ellipsoid with condition number 1e6, the scales spread evenly over the axes: sum 10^(6 (i-1)/(d-1)) x_i^2."""
    return weighted(x, 10.0 ** np.linspace(0, 6, x.shape[-1]))


def discus(x: Points) -> Values:
    """Discus, with one short axis: 1e6 x_1^2 + sum_{i>=2} x_i^2."""
    return weighted(x, np.where(np.arange(x.shape[-1]) == 0, 1e6, 1.0))


def cigar(x: Points) -> Values:
    """Cigar, with one long axis: x_1^2 + 1e4 sum_{i>=2} x_i^2."""
    return weighted(x, np.where(np.arange(x.shape[-1]) == 0, 1.0, 1e4))


def weighted(x: Points, weights: np.ndarray) -> Values:
    """Return sum w_i x_i^2 in the floating-point type of x."""
    return (namespace(x).asarray(weights, x.dtype) * x**2).sum(-1)


def chain(x: Points, a: float) -> Values:
    """Rosenbrock: sum_{i<d} a (x_{i+1} - x_i^2)^2 + (1 - x_i)^2; the valley x_{i+1} = x_i^2 is narrower for a larger a."""
    here, following = x[..., :-1], x[..., 1:]
    return (a * (following - here**2) ** 2 + (1 - here) ** 2).sum(-1)


@cache
def banana(a: float, name: str | None = None) -> Objective:
    """Return Rosenbrock's function with the factor a instead of 100: the same curve, a narrower valley for a larger a.

    >>> float(banana(1e4)([0.0, 1.0]))
    10001.0
    """
    if not a > 0:
        raise ValueError(f"a must be positive, got {a}; pass 100 for Rosenbrock's function")
    about = f"a curved valley, x_(i+1) = x_i^2, with the factor {a:g}"
    return Objective(name or f"banana-{a:g}", partial(chain, a=a), np.ones, about, least_dimension=2)


def bent_cigar(y: Points, rotation: Points | None = None, beta: float | None = None) -> Values:
    """Bent cigar: cigar(R T_asy^beta(y)), y = R x, that is bent by T_asy in the rotated axes and rotated once more.

    The default of beta is the paper's: 2 in dimension 10 and 0.5 in dimension 2; other dimensions take 0.5 as well.
    """
    if beta is None:
        beta = 2.0 if y.shape[-1] == 10 else 0.5
    bent = asymmetric(y, beta)
    return cigar(bent if rotation is None else bent @ rotation.T)


def asymmetric(x: Points, beta: float) -> Points:
    """Return BBOB's T_asy^beta: x_i^(1 + beta (i-1)/(d-1) sqrt(x_i)) where x_i > 0, unchanged elsewhere."""
    xp = namespace(x)
    rates = xp.asarray(beta * np.linspace(0, 1, x.shape[-1]), x.dtype)
    positive = xp.where(x > 0, x, 1.0)  # keeps x <= 0 out of the power, whose value or gradient would be NaN
    return xp.where(x > 0, positive ** (1 + rates * xp.sqrt(positive)), x)


def rastrigin(x: Points) -> Values:
    """Rastrigin: 10 d + sum x_i^2 - 10 cos(2 pi x_i), as a sum of terms that vanish at the minimum and keep all digits."""
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


def beale_optimum(d: int) -> np.ndarray:
    """Return (3, 0.5, 0, ...)."""
    return np.array([3.0, 0.5] + [0.0] * (d - 2))


def styblinski(x: Points) -> Values:
    """Styblinski-Tang: 0.5 sum (x_i^4 - 16 x_i^2 + 5 x_i) + 39.16616570377142 d, factored by its double root s.

    Each coordinate has a second minimum at 2.7468, where it adds 14.1367 to the value.
    """
    s = STYBLINSKI_ARGMIN
    return 0.5 * ((x - s) ** 2 * ((x + s) ** 2 + 2 * s**2 - 16)).sum(-1)


def styblinski_optimum(d: int) -> np.ndarray:
    """Return the lower of the two minima in every coordinate."""
    return np.full(d, STYBLINSKI_ARGMIN)


_ALL = (
    Objective("sphere", sphere, np.zeros, "a round bowl"),
    Objective("ellipsoid", ellipsoid, np.zeros, "a bowl of condition 1e6, all scales present"),
    Objective("discus", discus, np.zeros, "a bowl of condition 1e6, one short axis"),
    Objective("cigar", cigar, np.zeros, "a bowl of condition 1e4, one long axis"),
    banana(100.0, "rosenbrock"),
    Objective("bent-cigar", bent_cigar, np.zeros, "the cigar, bent and rotated at random", takes_rotation=True),
    Objective("rastrigin", rastrigin, np.zeros, "a bowl with a grid of minima", multimodal=True),
    Objective("griewank", griewank, np.zeros, "a wide bowl with shallow ripples", multimodal=True),
    Objective("beale", beale, beale_optimum, "flat, with a second, endless valley", multimodal=True, least_dimension=2),
    Objective("styblinski", styblinski, styblinski_optimum, "2^d minima, one of them global", multimodal=True),
)

OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _ALL}


def find_objective(objective: str | Objective) -> Objective:
    """Return the objective of that name; an `Objective` is returned as it is."""
    if isinstance(objective, Objective):
        return objective
    if objective not in OBJECTIVES:
        raise ValueError(
            f"objective {objective!r} is unknown; pass an Objective, or a name: {one_of(objective, list(OBJECTIVES))}"
        )
    return OBJECTIVES[objective]
