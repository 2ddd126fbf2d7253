"""f20 to f24: multimodal functions with a weak global structure. Each returns f(x) - f_opt at one point (d,)."""

import jax
import jax.numpy as jnp
import numpy as np

from thalweg_studies.bbob.functions.problem import LUNACEK_ARGMIN, SCHWEFEL_ARGMIN, BBOBProblem
from thalweg_studies.bbob.functions.transforms import (
    boundary_penalty,
    geometric_weights,
    one_minus_cosine,
    oscillate,
    rotate,
    scale_rotated,
)

SCHWEFEL_MAXIMUM = 418.9828872724339
"""The maximum of x sin(sqrt |x|) on [-500, 500]."""

OCTAVES = 2.0 ** np.arange(1, 33)
"""The frequencies of Katsuura's function."""


def schwefel(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f20: Schwefel's function, with the best of 2^d minima near a corner and far from the second best."""
    mirrored = 2 * jnp.sign(p.x_opt) * x - SCHWEFEL_ARGMIN
    chained = mirrored.at[1:].add(0.25 * mirrored[:-1])
    z = 100 * (geometric_weights(10**0.5, x) * chained + SCHWEFEL_ARGMIN)
    penalty = (jnp.maximum(jnp.abs(z) - 500, 0) ** 2).sum()
    return 0.01 * (SCHWEFEL_MAXIMUM - (z * jnp.sin(jnp.sqrt(jnp.abs(z)))).mean() + penalty)


def gallagher(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f21 and f22: Gallagher's functions, minus the largest of 101 or 21 Gaussian peaks."""
    away = rotate(p.Q, x) - p.peaks
    heights = p.peak_heights * jnp.exp(-0.5 / x.shape[-1] * (p.peak_scales * away**2).sum(-1))
    return oscillate(10 - heights.max()) ** 2 + boundary_penalty(x)


def katsuura(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f23: Katsuura's function, continuous and rugged everywhere at all scales."""
    d = x.shape[-1]
    octaves = jnp.asarray(OCTAVES, x.dtype)[:, None]
    scaled = octaves * scale_rotated(p, x - p.x_opt, 100.0)
    ruggedness = (jnp.abs(scaled - jnp.round(scaled)) / octaves).sum(0)
    # The definition's (product of 1 + i r_i)^(10 / d^1.2) - 1, computed without overflow and cancellation.
    logarithm = jnp.log1p(jnp.arange(1, d + 1, dtype=x.dtype) * ruggedness).sum()
    return 10 / d**2 * jnp.expm1(10 / d**1.2 * logarithm) + boundary_penalty(x)


def lunacek(x: jax.Array, p: BBOBProblem) -> jax.Array:
    """f24: Lunacek's bi-Rastrigin, two funnels of which the wider has the higher minimum, with oscillations added."""
    d = x.shape[-1]
    narrowness = 1 - 0.5 / ((d + 20) ** 0.5 - 4.1)
    other_argmin = -(((LUNACEK_ARGMIN**2 - 1) / narrowness) ** 0.5)
    mirrored = 2 * jnp.sign(p.x_opt) * x
    deep = ((mirrored - LUNACEK_ARGMIN) ** 2).sum()
    wide = d + narrowness * ((mirrored - other_argmin) ** 2).sum()
    z = scale_rotated(p, mirrored - LUNACEK_ARGMIN, 100.0)
    return jnp.minimum(deep, wide) + 10 * one_minus_cosine(z).sum() + 1e4 * boundary_penalty(x)
