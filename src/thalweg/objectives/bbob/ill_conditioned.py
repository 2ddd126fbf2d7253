"""f10 to f14: unimodal functions of high conditioning. Each is f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp

from thalweg.objectives.bbob.problem import Problem
from thalweg.objectives.bbob.transforms import asymmetric, ladder, oscillate, steps, turn, turn_twice


def rotated_ellipsoid(x: jax.Array, p: Problem) -> jax.Array:
    """f10: condition 10^6, with ripples."""
    return (ladder(1e6, x) * oscillate(turn(p.rotation, x - p.x_opt)) ** 2).sum()


def discus(x: jax.Array, p: Problem) -> jax.Array:
    """f11: one direction a thousand times as sensitive as all others."""
    z = oscillate(turn(p.rotation, x - p.x_opt))
    return 1e6 * z[0] ** 2 + (z[1:] ** 2).sum()


def bent_cigar(x: jax.Array, p: Problem) -> jax.Array:
    """f12: one direction a thousand times less sensitive than all others, and not quite straight."""
    z = turn(p.rotation, asymmetric(turn(p.rotation, x - p.x_opt), 0.5))
    return z[0] ** 2 + 1e6 * (z[1:] ** 2).sum()


def sharp_ridge(x: jax.Array, p: Problem) -> jax.Array:
    """f13: a ridge where the gradient says nothing about the way along it."""
    z = turn_twice(p, x - p.x_opt, 10.0)
    return z[0] ** 2 + 100 * jnp.sqrt((z[1:] ** 2).sum())


def different_powers(x: jax.Array, p: Problem) -> jax.Array:
    """f14: powers from 2 to 6: the closer to the minimum, the worse the conditioning."""
    z = jnp.abs(turn(p.rotation, x - p.x_opt))
    return jnp.sqrt((z ** (2 + 4 * steps(x))).sum())
