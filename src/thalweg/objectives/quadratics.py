"""Convex quadratic functions."""

import numpy as np

from thalweg.objectives.base import Objective, Points, Values, namespace, origin


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


SPHERE = Objective("sphere", sphere, origin, "a round bowl")
ELLIPSOID = Objective("ellipsoid", ellipsoid, origin, "a bowl of condition 1e6, all scales present")
DISCUS = Objective("discus", discus, origin, "a bowl of condition 1e6, one short axis")
CIGAR = Objective("cigar", cigar, origin, "a bowl of condition 1e4, one long axis")
