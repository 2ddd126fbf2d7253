"""The affine part of a flow, which belongs to the latent; docs/math.md (15) and (16)."""

from typing import Any

import jax
import jax.numpy as jnp

from thalweg.strategies.latents.frame import Frame
from thalweg.strategies.strategy import Array, Key


def design_points(key: Key, d: int, n: int, dtype: Any, *, diagonal: bool = False) -> Array:
    """Return n points (rounded up to an even number of at least 2 d + 2) with mean 0 and covariance I exactly.

    The points are antithetic standard normals, then whitened: with exact first and second moments the least-squares fit is a
    plain mean. A diagonal fit needs exact variances only, and may have fewer points than coordinates.
    """
    half = (n + 1) // 2 if diagonal else max(d + 1, (n + 1) // 2)
    e = jax.random.normal(key, (half, d), dtype)
    if diagonal:
        e = e / jnp.sqrt(jnp.mean(e**2, 0))
    else:
        root = jnp.linalg.cholesky(e.T @ e / half)
        e = jax.scipy.linalg.solve_triangular(root, e.T, lower=True).T
    return jnp.concatenate([e, -e])


def fit_affine_part(design: Array, y: Array, *, diagonal: bool) -> Frame:
    """Return the least-squares c and L of y = N(design) = c + L design + bend, docs/math.md (15)."""
    mean = jnp.mean(y, 0)
    if diagonal:
        return Frame(mean, jnp.mean(y * design, 0))
    return Frame(mean, y.T @ design / len(design))


def nonlinearity(design: Array, y: Array, affine_inverse: Frame) -> Array:
    """Return the root mean square of the bend, L^-1 (N(e) - c) - e, per coordinate: 0 for an affine map."""
    return jnp.sqrt(jnp.mean((affine_inverse.place(y) - design) ** 2))
