"""The transformations that BBOB's functions share, traced by JAX: the "symbols and definitions" of INRIA RR-6829.

Written once, so that XLA computes each of them once where all 24 functions are compiled into one program.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

HALF_BOX = 5.0
"""The suite's box is [-5, 5]^d."""


def oscillate(z: jax.Array) -> jax.Array:
    """T_osz: ripples on the logarithm of each coordinate, different ones for either sign; 0 stays 0."""
    logarithm = jnp.log(jnp.where(z == 0, 1, jnp.abs(z)))
    first, second = jnp.where(z > 0, 10.0, 5.5), jnp.where(z > 0, 7.9, 3.1)
    ripples = jnp.sin(first.astype(z.dtype) * logarithm) + jnp.sin(second.astype(z.dtype) * logarithm)
    return jnp.sign(z) * jnp.exp(logarithm + 0.049 * ripples)


def asymmetric(z: jax.Array, beta: float) -> jax.Array:
    """T_asy: a positive coordinate i is raised to the power 1 + beta (i - 1) / (d - 1) sqrt(z_i)."""
    positive = jnp.where(z > 0, z, 1)
    return jnp.where(z > 0, positive ** (1 + beta * steps(z) * jnp.sqrt(positive)), z)


def ladder(base: float, z: jax.Array) -> jax.Array:
    """base^((i - 1) / (d - 1)): from 1 for the first coordinate to the base for the last."""
    d = z.shape[-1]
    return jnp.asarray(base ** (np.arange(d) / (d - 1)), z.dtype)


def steps(z: jax.Array) -> jax.Array:
    """(i - 1) / (d - 1): from 0 to 1."""
    d = z.shape[-1]
    return jnp.asarray(np.arange(d) / (d - 1), z.dtype)


def turn(matrix: Any, z: jax.Array) -> jax.Array:
    """A matrix product in full precision, which a GPU would not give float32 unasked."""
    return jnp.matmul(matrix, z, precision=jax.lax.Precision.HIGHEST)


def turn_twice(p: Any, z: jax.Array, condition: float) -> jax.Array:
    """R Lambda^condition Q z, with Q the other rotation: stretch a turned space, and turn it again."""
    return turn(p.rotation, ladder(condition**0.5, z) * turn(p.other_rotation, z))


def outside(x: jax.Array) -> jax.Array:
    """f_pen: the squared distance to the box."""
    return (jnp.maximum(jnp.abs(x) - HALF_BOX, 0) ** 2).sum()


def waves(z: jax.Array) -> jax.Array:
    """1 - cos(2 pi z), as 2 sin(pi z)^2 of what z has beyond a whole number: exact near 0, and cheap for a large z."""
    return 2 * jnp.sin(np.pi * (z - jnp.round(z))) ** 2


def rastrigin(z: jax.Array) -> jax.Array:
    """10 (d - sum cos(2 pi z_i)) + |z|^2."""
    return (10 * waves(z) + z**2).sum()


def rosenbrock_terms(z: jax.Array) -> jax.Array:
    """100 (z_i^2 - z_(i+1))^2 + (z_i - 1)^2, d - 1 of them."""
    return 100 * (z[:-1] ** 2 - z[1:]) ** 2 + (z[:-1] - 1) ** 2


def rosenbrock_scale(d: int) -> float:
    """How much Rosenbrock's valley shrinks in a large dimension, so that it stays in the box."""
    return max(1.0, d**0.5 / 8)
