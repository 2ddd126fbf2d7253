"""The gauge: everything affine in the flow belongs to the latent; docs/math.md (15) and (16)."""

from typing import Any

import jax
import jax.numpy as jnp

from thalweg.strategies.latents.frame import Frame
from thalweg.strategies.strategy import Array, Key


def design(key: Key, d: int, n: int, dtype: Any, *, diagonal: bool = False) -> Array:
    """n points (rounded up to an even number of at least 2 d + 2) with mean 0 and covariance I exactly.

    Antithetic standard normals, then whitened: with exact first and second moments the least-squares fit is a plain mean. For
    a diagonal fit the variances will do, so that there may be fewer points than coordinates.
    """
    half = (n + 1) // 2 if diagonal else max(d + 1, (n + 1) // 2)
    e = jax.random.normal(key, (half, d), dtype)
    if diagonal:
        e = e / jnp.sqrt(jnp.mean(e**2, 0))
    else:
        root = jnp.linalg.cholesky(e.T @ e / half)
        e = jax.scipy.linalg.solve_triangular(root, e.T, lower=True).T
    return jnp.concatenate([e, -e])


def affine_part(points: Array, y: Array, *, diagonal: bool) -> Frame:
    """The least-squares affine fit over the design points, for y = N(points): N(e) = c + L e + bend, docs/math.md (15)."""
    mean = jnp.mean(y, 0)
    if diagonal:
        return Frame(mean, jnp.mean(y * points, 0))
    return Frame(mean, y.T @ points / len(points))


def nonlinearity(points: Array, y: Array, straight: Frame) -> Array:
    """Root mean square of the bend, L^-1 (N(e) - c) - e, per coordinate: 0 for a straight distribution."""
    return jnp.sqrt(jnp.mean((straight.place(y) - points) ** 2))


def identity_frame(d: int, dtype: Any, *, diagonal: bool) -> Frame:
    """The affine part of a flow that has learned nothing."""
    return Frame(jnp.zeros(d, dtype), jnp.ones(d, dtype) if diagonal else jnp.eye(d, dtype=dtype))
