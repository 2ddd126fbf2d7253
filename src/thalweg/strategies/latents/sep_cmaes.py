"""sep-CMA-ES: CMA-ES with a diagonal covariance, linear in the dimension (Ros & Hansen 2008); docs/math.md (24)."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp

from thalweg.strategies import ranking
from thalweg.strategies.latents.cma_parameters import cma_parameters
from thalweg.strategies.latents.cmaes import CMAES, CMAState, covariance_weights, walk
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True)
class SepCMAES(CMAES):
    """CMA-ES with a diagonal covariance: it scales coordinates and learns no correlations; O(d) per point.

    The covariance rates c1 and cmu are those of CMA-ES times (d + 2) / 3, the factor of Ros & Hansen. The negative weights
    follow from these larger rates by the same rule, so the variances stay positive. In dimension 1 it is CMA-ES.
    """

    diagonal: ClassVar[bool] = True

    def start(self, key: Key, x0: Array, sigma0: Array) -> CMAState:
        zero = jnp.zeros_like(x0)
        return CMAState(key, x0, sigma0, jnp.ones_like(x0), None, None, zero, zero, jnp.asarray(0))

    def update(self, state: CMAState, e: Array, f: Array) -> CMAState:
        n, d = e.shape
        p = cma_parameters(d, n, self.defaults, active=self.active, separable=True)
        weights = ranking.assign(f, p.weights)
        moved, moving = walk(state, jnp.maximum(weights, 0.0) @ e, p)
        # the diagonal of docs/math.md (6)
        decay, scaled = covariance_weights(weights, e, moving, p)
        q = moved.path / state.root
        new = decay + p.c1 * q**2 + p.cmu * (scaled @ e**2)
        return moved._replace(root=state.root * jnp.sqrt(jnp.maximum(new, 1e-12)))
