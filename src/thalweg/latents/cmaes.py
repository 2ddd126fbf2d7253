"""CMA-ES with active covariance update and cumulative step-size adaptation (Hansen 2016); docs/math.md (4) to (6).

The covariance lives as a root: C = root root'. The update is worked out in standard coordinates, where the old covariance is
the identity and the new one, M, is well conditioned; then root <- root M^(1/2). So the eigendecomposition never meets the
condition number of C, and the flow's coordinates turn as little as possible from one generation to the next.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp

from thalweg import ranking
from thalweg.latents.base import Latent, apply, solve
from thalweg.latents.cma_parameters import Defaults, cma_parameters
from thalweg.types import Array, Key


class CMAState(NamedTuple):
    key: Key
    mean: Array
    sigma: Array
    root: Array
    """root root' = C."""
    path: Array
    """p_c, in the search space and units of sigma."""
    sigma_path: Array
    """p_sigma, in standard coordinates."""
    generation: Array


@dataclass(frozen=True)
class CMAES(Latent):
    """CMA-ES. `defaults` names the parameter set, `active` turns the negative weights on."""

    defaults: Defaults = "pycma"
    active: bool = True

    def start(self, key: Key, x0: Array, sigma0: Array) -> CMAState:
        zero = jnp.zeros_like(x0)
        return CMAState(key, x0, sigma0, jnp.eye(x0.shape[-1], dtype=x0.dtype), zero, zero, jnp.asarray(0))

    def update(self, state: CMAState, e: Array, f: Array) -> CMAState:
        n, d = e.shape
        p = cma_parameters(d, n, self.defaults, active=self.active)
        weights = ranking.assign(f, p.weights)
        generation = state.generation + 1

        # mean: m <- m + sigma root <e>_w, docs/math.md (4)
        step = jnp.maximum(weights, 0.0) @ e
        shift = apply(state.root, step)

        # paths: an isotropic one for the step-size, one in the search space for the rank-one update, docs/math.md (5)
        sigma_path = (1 - p.cs) * state.sigma_path + (p.cs * (2 - p.cs) * p.mueff) ** 0.5 * step
        length = jnp.sum(sigma_path**2) / (1 - (1 - p.cs) ** (2 * generation))
        moving = length / d < 2 + 4 / (d + 1)
        path = (1 - p.cc) * state.path + jnp.where(moving, (p.cc * (2 - p.cc) * p.mueff) ** 0.5, 0.0) * shift

        # covariance in standard coordinates, docs/math.md (6); a negative weight acts on a vector of length sqrt(d)
        q = solve(state.root, path)
        lengths = jnp.sum(e**2, -1)
        scaled = jnp.where(weights < 0, weights * d / (lengths + 1e-9), weights)
        c1 = p.c1 * jnp.where(moving, 1.0, 1 - p.cc * (2 - p.cc))
        decay = 1 - c1 - p.cmu * weights.sum()
        new = decay * jnp.eye(d, dtype=e.dtype) + p.c1 * jnp.outer(q, q) + p.cmu * (e * scaled[:, None]).T @ e
        values, vectors = jnp.linalg.eigh(new)
        growth = (vectors * jnp.sqrt(jnp.maximum(values, 1e-12))) @ vectors.T

        change = p.cs / p.damps * (jnp.linalg.norm(sigma_path) / p.chi - 1)
        return CMAState(
            state.key,
            state.mean + state.sigma * shift,
            state.sigma * jnp.exp(jnp.clip(change, -1.0, 1.0)),
            state.root @ growth,
            path,
            sigma_path,
            generation,
        )
