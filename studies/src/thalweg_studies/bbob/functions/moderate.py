"""f6 to f9: functions of low or moderate conditioning. Each returns f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp

from thalweg_studies.bbob.functions.problem import BBOBProblem
from thalweg_studies.bbob.functions.transforms import (
    boundary_penalty,
    geometric_weights,
    oscillate,
    rosenbrock_scale,
    rosenbrock_terms,
    rotate,
    scale_rotated,
)


def attractive_sector(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f6: attractive sector, one of 2^d sectors in which the values are low."""
    z = scale_rotated(p, x - p.x_opt, 10.0)
    return oscillate((jnp.where(z * p.x_opt > 0, 100 * z, z) ** 2).sum()) ** 0.9


def step_ellipsoid(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f7: step ellipsoid made of plateaus, which are smaller near the minimum."""
    stretched = geometric_weights(10**0.5, x) * rotate(p.Q, x - p.x_opt)
    # Round halves up, as COCO does; jnp.round rounds them to the even neighbour.
    grain = jnp.where(jnp.abs(stretched) > 0.5, 1, 10).astype(x.dtype)
    z = rotate(p.R, jnp.floor(grain * stretched + 0.5) / grain)
    return 0.1 * jnp.maximum(1e-4 * jnp.abs(stretched[0]), (geometric_weights(100.0, x) * z**2).sum()) + boundary_penalty(x)


def rosenbrock(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f8: Rosenbrock's function with its curved valley."""
    return rosenbrock_terms(rosenbrock_scale(x.shape[-1]) * (x - p.x_opt) + 1).sum()


def rotated_rosenbrock(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f9: Rosenbrock's function, rotated about the origin."""
    return rosenbrock_terms(rosenbrock_scale(x.shape[-1]) * rotate(p.Q, x) + 0.5).sum()
