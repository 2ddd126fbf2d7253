"""Functions with one curved valley, for which curved search distributions are made."""

from functools import cache, partial

import numpy as np

from thalweg.objectives.base import Objective, Points, Values, namespace, origin
from thalweg.objectives.quadratics import cigar


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


ROSENBROCK = banana(100.0, "rosenbrock")
BENT_CIGAR = Objective("bent-cigar", bent_cigar, origin, "the cigar, bent and rotated at random", takes_rotation=True)
