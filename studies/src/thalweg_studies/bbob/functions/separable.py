"""f1 to f5: separable functions. Each returns f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp

from thalweg_studies.bbob.functions.problem import BBOBProblem
from thalweg_studies.bbob.functions.transforms import (
    HALF_BOX,
    asymmetric,
    boundary_penalty,
    geometric_weights,
    oscillate,
    rastrigin,
)


def sphere(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f1: sphere, |x - x_opt|^2."""
    return ((x - p.x_opt) ** 2).sum()


def ellipsoid(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f2: ellipsoid with condition 10^6 and oscillations."""
    return (geometric_weights(1e6, x) * oscillate(x - p.x_opt) ** 2).sum()


def rippled_rastrigin(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f3: Rastrigin's function, made asymmetric."""
    return rastrigin(geometric_weights(10**0.5, x) * asymmetric(oscillate(x - p.x_opt), 0.2))


def bueche_rastrigin(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f4: Büche-Rastrigin, with every second coordinate ten times as steep on its positive side."""
    z = oscillate(x - p.x_opt)
    odd = jnp.arange(x.shape[-1]) % 2 == 0  # the first, the third, ...
    return rastrigin(geometric_weights(10**0.5, x) * jnp.where(odd & (z > 0), 10 * z, z)) + 100 * boundary_penalty(x)


def linear_slope(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f5: linear slope with its minimum in a corner of the box, constant beyond the corner."""
    towards = jnp.minimum(jnp.sign(p.x_opt) * x, HALF_BOX)
    return (geometric_weights(10.0, x) * (HALF_BOX - towards)).sum()
