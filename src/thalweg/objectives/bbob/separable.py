"""f1 to f5: separable functions. Each is f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp

from thalweg.objectives.bbob.problem import Problem
from thalweg.objectives.bbob.transforms import HALF_BOX, asymmetric, ladder, oscillate, outside, rastrigin


def sphere(x: jax.Array, p: Problem) -> jax.Array:
    """f1: |x - x_opt|^2."""
    return ((x - p.x_opt) ** 2).sum()


def ellipsoid(x: jax.Array, p: Problem) -> jax.Array:
    """f2: condition 10^6, with ripples."""
    return (ladder(1e6, x) * oscillate(x - p.x_opt) ** 2).sum()


def rippled_rastrigin(x: jax.Array, p: Problem) -> jax.Array:
    """f3: Rastrigin's function, distorted."""
    return rastrigin(ladder(10**0.5, x) * asymmetric(oscillate(x - p.x_opt), 0.2))


def bueche_rastrigin(x: jax.Array, p: Problem) -> jax.Array:
    """f4: as f3, but every second coordinate is ten times as steep on its positive side."""
    z = oscillate(x - p.x_opt)
    odd = jnp.arange(x.shape[-1]) % 2 == 0  # the first, the third, ...
    return rastrigin(ladder(10**0.5, x) * jnp.where(odd & (z > 0), 10 * z, z)) + 100 * outside(x)


def linear_slope(x: jax.Array, p: Problem) -> jax.Array:
    """f5: a plane whose minimum is a corner of the box; what lies beyond the corner counts as the corner."""
    towards = jnp.minimum(jnp.sign(p.x_opt) * x, HALF_BOX)
    return (ladder(10.0, x) * (HALF_BOX - towards)).sum()
