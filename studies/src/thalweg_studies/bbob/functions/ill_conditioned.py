"""f10 to f14: unimodal functions of high conditioning. Each returns f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp

from thalweg_studies.bbob.functions.problem import BBOBProblem
from thalweg_studies.bbob.functions.transforms import asymmetric, fractions, geometric_weights, oscillate, rotate, scale_rotated


def rotated_ellipsoid(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f10: rotated ellipsoid with condition 10^6 and oscillations."""
    return (geometric_weights(1e6, x) * oscillate(rotate(p.R, x - p.x_opt)) ** 2).sum()


def discus(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f11: discus, with one direction a thousand times as sensitive as all others."""
    z = oscillate(rotate(p.R, x - p.x_opt))
    return 1e6 * z[0] ** 2 + (z[1:] ** 2).sum()


def bent_cigar(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f12: bent cigar, with one slightly curved direction a thousand times less sensitive than all others."""
    z = rotate(p.R, asymmetric(rotate(p.R, x - p.x_opt), 0.5))
    return z[0] ** 2 + 1e6 * (z[1:] ** 2).sum()


def sharp_ridge(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f13: sharp ridge, where the gradient points across the ridge and not along it."""
    z = scale_rotated(p, x - p.x_opt, 10.0)
    return z[0] ** 2 + 100 * jnp.sqrt((z[1:] ** 2).sum())


def different_powers(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f14: sum of powers from 2 to 6, worse conditioned the closer to the minimum."""
    z = jnp.abs(rotate(p.R, x - p.x_opt))
    return jnp.sqrt((z ** (2 + 4 * fractions(x))).sum())
