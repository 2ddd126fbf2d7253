"""f15 to f19: multimodal functions with an adequate global structure. Each is f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.objectives.bbob.problem import Problem
from thalweg.objectives.bbob.transforms import (
    asymmetric,
    ladder,
    oscillate,
    outside,
    rastrigin,
    rosenbrock_scale,
    rosenbrock_terms,
    turn,
    turn_twice,
    waves,
)

TERMS = np.arange(12)
"""Of Weierstrass' series."""


def rotated_rastrigin(x: jax.Array, p: Problem) -> jax.Array:
    """f15: Rastrigin's function, distorted and rotated."""
    return rastrigin(turn_twice(p, asymmetric(oscillate(turn(p.rotation, x - p.x_opt)), 0.2), 10.0))


def weierstrass(x: jax.Array, p: Problem) -> jax.Array:
    """f16: rugged at many scales, with many global minima.

    The definition's sum_k 2^-k (cos(2 pi 3^k (z + 1/2)) - cos(pi 3^k)) is sum_k 2^-k (1 - cos(2 pi 3^k z)), as 3^k is odd.
    """
    z = turn_twice(p, oscillate(turn(p.rotation, x - p.x_opt)), 0.01)
    heights, frequencies = (jnp.asarray(base**TERMS, x.dtype) for base in (0.5, 3.0))
    return 10 * (heights[:, None] * waves(frequencies[:, None] * z)).sum(0).mean() ** 3 + 10 / x.shape[-1] * outside(x)


def schaffer(x: jax.Array, p: Problem, condition: float) -> jax.Array:
    """Ripples whose height and length both shrink towards the minimum."""
    z = ladder(condition**0.5, x) * turn(p.other_rotation, asymmetric(turn(p.rotation, x - p.x_opt), 0.5))
    s = z[:-1] ** 2 + z[1:] ** 2
    return (s**0.25 * (1 + jnp.sin(50 * s**0.1) ** 2)).mean() ** 2 + 10 * outside(x)


def mild_schaffer(x: jax.Array, p: Problem) -> jax.Array:
    """f17: condition 10."""
    return schaffer(x, p, 10.0)


def harsh_schaffer(x: jax.Array, p: Problem) -> jax.Array:
    """f18: condition 1000."""
    return schaffer(x, p, 1000.0)


def griewank_rosenbrock(x: jax.Array, p: Problem) -> jax.Array:
    """f19: Griewank's ripples along Rosenbrock's valley; 10 mean(t / 4000 + 1 - cos t)."""
    t = rosenbrock_terms(rosenbrock_scale(x.shape[-1]) * turn(p.other_rotation, x) + 0.5)
    return 10 * (t / 4000 + 2 * jnp.sin(t / 2) ** 2).mean()
