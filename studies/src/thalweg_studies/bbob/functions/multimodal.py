"""f15 to f19: multimodal functions with an adequate global structure. Each returns f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp
import numpy as np

from thalweg_studies.bbob.functions.problem import BBOBProblem
from thalweg_studies.bbob.functions.transforms import (
    asymmetric,
    boundary_penalty,
    geometric_weights,
    one_minus_cosine,
    oscillate,
    rastrigin,
    rosenbrock_scale,
    rosenbrock_terms,
    rotate,
    scale_rotated,
)

TERMS = np.arange(12)
"""The indices k of the terms of Weierstrass' series."""


def rotated_rastrigin(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f15: Rastrigin's function, made asymmetric and rotated."""
    return rastrigin(scale_rotated(p, asymmetric(oscillate(rotate(p.R, x - p.x_opt)), 0.2), 10.0))


def weierstrass(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f16: Weierstrass' function, rugged at many scales and with many global minima.

    The definition's sum_k 2^-k (cos(2 pi 3^k (z + 1/2)) - cos(pi 3^k)) is sum_k 2^-k (1 - cos(2 pi 3^k z)), as 3^k is odd.
    """
    z = scale_rotated(p, oscillate(rotate(p.R, x - p.x_opt)), 0.01)
    heights, frequencies = (jnp.asarray(base**TERMS, x.dtype) for base in (0.5, 3.0))
    series = (heights[:, None] * one_minus_cosine(frequencies[:, None] * z)).sum(0)
    return 10 * series.mean() ** 3 + 10 / x.shape[-1] * boundary_penalty(x)


def schaffer(x: jax.Array, p: BBOBProblem, condition: float) -> jax.Array:
    """Return Schaffer's F7, whose ripples become lower and shorter towards the minimum."""
    z = geometric_weights(condition**0.5, x) * rotate(p.Q, asymmetric(rotate(p.R, x - p.x_opt), 0.5))
    s = z[:-1] ** 2 + z[1:] ** 2
    return (s**0.25 * (1 + jnp.sin(50 * s**0.1) ** 2)).mean() ** 2 + 10 * boundary_penalty(x)


def mild_schaffer(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f17: Schaffer's F7 with condition 10."""
    return schaffer(x, p, 10.0)


def harsh_schaffer(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f18: Schaffer's F7 with condition 1000."""
    return schaffer(x, p, 1000.0)


def griewank_rosenbrock(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f19: Griewank's function of Rosenbrock's terms t, 10 mean(t / 4000 + 1 - cos t)."""
    t = rosenbrock_terms(rosenbrock_scale(x.shape[-1]) * rotate(p.Q, x) + 0.5)
    return 10 * (t / 4000 + 2 * jnp.sin(t / 2) ** 2).mean()
