"""f6 to f9: functions of low or moderate conditioning. Each is f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp

from thalweg.objectives.bbob.problem import Problem
from thalweg.objectives.bbob.transforms import (
    ladder,
    oscillate,
    outside,
    rosenbrock_scale,
    rosenbrock_terms,
    turn,
    turn_twice,
)


def attractive_sector(x: jax.Array, p: Problem) -> jax.Array:
    """f6: only one sector of the space, 1 of 2^d, is cheap."""
    z = turn_twice(p, x - p.x_opt, 10.0)
    return oscillate((jnp.where(z * p.x_opt > 0, 100 * z, z) ** 2).sum()) ** 0.9


def step_ellipsoid(x: jax.Array, p: Problem) -> jax.Array:
    """f7: an ellipsoid of plateaus, finer ones in the middle."""
    stretched = ladder(10**0.5, x) * turn(p.other_rotation, x - p.x_opt)
    # Halves go up, as in COCO; jnp.round takes them to the even neighbour.
    grain = jnp.where(jnp.abs(stretched) > 0.5, 1, 10).astype(x.dtype)
    z = turn(p.rotation, jnp.floor(grain * stretched + 0.5) / grain)
    return 0.1 * jnp.maximum(1e-4 * jnp.abs(stretched[0]), (ladder(100.0, x) * z**2).sum()) + outside(x)


def rosenbrock(x: jax.Array, p: Problem) -> jax.Array:
    """f8: a bent valley."""
    return rosenbrock_terms(rosenbrock_scale(x.shape[-1]) * (x - p.x_opt) + 1).sum()


def rotated_rosenbrock(x: jax.Array, p: Problem) -> jax.Array:
    """f9: the same valley, turned about the origin."""
    return rosenbrock_terms(rosenbrock_scale(x.shape[-1]) * turn(p.other_rotation, x) + 0.5).sum()
