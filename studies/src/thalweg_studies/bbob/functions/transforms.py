"""Transformations shared by the BBOB functions, in JAX: the "symbols and definitions" of INRIA RR-6829.

Where all 24 functions are compiled into one program, XLA merges equal calls of these.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

HALF_BOX = 5.0
"""Half the width of the suite's box [-5, 5]^d."""


def oscillate(z: jax.Array) -> jax.Array:
    """Return T_osz(z): oscillations of the logarithm of each coordinate that depend on its sign; 0 stays 0."""
    logarithm = jnp.log(jnp.where(z == 0, 1, jnp.abs(z)))
    first, second = jnp.where(z > 0, 10.0, 5.5), jnp.where(z > 0, 7.9, 3.1)
    ripples = jnp.sin(first.astype(z.dtype) * logarithm) + jnp.sin(second.astype(z.dtype) * logarithm)
    return jnp.sign(z) * jnp.exp(logarithm + 0.049 * ripples)


def asymmetric(z: jax.Array, beta: float) -> jax.Array:
    """Return T_asy^beta(z): a positive coordinate i is raised to the power 1 + beta (i - 1) / (d - 1) sqrt(z_i)."""
    positive = jnp.where(z > 0, z, 1)
    return jnp.where(z > 0, positive ** (1 + beta * fractions(z) * jnp.sqrt(positive)), z)


def geometric_weights(base: float, z: jax.Array) -> jax.Array:
    """Return base^((i - 1) / (d - 1)): 1 for the first coordinate up to `base` for the last."""
    d = z.shape[-1]
    return jnp.asarray(base ** (np.arange(d) / (d - 1)), z.dtype)


def fractions(z: jax.Array) -> jax.Array:
    """Return (i - 1) / (d - 1): 0 for the first coordinate up to 1 for the last."""
    d = z.shape[-1]
    return jnp.asarray(np.arange(d) / (d - 1), z.dtype)


def rotate(matrix: Any, z: jax.Array) -> jax.Array:
    """Return the matrix product in full precision; a GPU would round float32 by default."""
    return jnp.matmul(matrix, z, precision=jax.lax.Precision.HIGHEST)


def scale_rotated(p: Any, z: jax.Array, condition: float) -> jax.Array:
    """Return R Lambda^condition Q z: scale the coordinates rotated by Q, and rotate the result by R."""
    return rotate(p.R, geometric_weights(condition**0.5, z) * rotate(p.Q, z))


def boundary_penalty(x: jax.Array) -> jax.Array:
    """Return f_pen(x), the squared distance of x to the box."""
    return (jnp.maximum(jnp.abs(x) - HALF_BOX, 0) ** 2).sum()


def one_minus_cosine(z: jax.Array) -> jax.Array:
    """Return 1 - cos(2 pi z) as 2 sin(pi r)^2, r = z - round(z): accurate near 0, and cheap for large z."""
    return 2 * jnp.sin(np.pi * (z - jnp.round(z))) ** 2


def rastrigin(z: jax.Array) -> jax.Array:
    """Return 10 (d - sum cos(2 pi z_i)) + |z|^2."""
    return (10 * one_minus_cosine(z) + z**2).sum()


def rosenbrock_terms(z: jax.Array) -> jax.Array:
    """Return the d - 1 terms 100 (z_i^2 - z_(i+1))^2 + (z_i - 1)^2."""
    return 100 * (z[:-1] ** 2 - z[1:]) ** 2 + (z[:-1] - 1) ** 2


def rosenbrock_scale(d: int) -> float:
    """Return the factor by which Rosenbrock's valley shrinks in high dimension to stay in the box."""
    return max(1.0, d**0.5 / 8)
