"""CMA-ES with active covariance update and cumulative step-size adaptation (Hansen 2016); docs/math.md (4) to (6).

The covariance is stored as a root: C = root root'. The update is computed in standard coordinates, where the old covariance
is the identity and the new one, M, is well conditioned; then root <- root M^(1/2). The eigendecomposition is therefore
independent of the condition number of C, and the flow's coordinates turn as little as possible between generations.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.strategies import ranking
from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.cma_parameters import CMAParameters, Defaults, cma_parameters
from thalweg.strategies.latents.frame import apply, solve
from thalweg.strategies.strategy import Array, Key


class CMAState(NamedTuple):
    key: Key
    mean: Array
    sigma: Array
    root: Array
    """A root of the covariance: root root' = C."""
    path: Array
    """p_c, in the search space and units of sigma."""
    sigma_path: Array
    """p_sigma, in standard coordinates."""
    generation: Array


@dataclass(frozen=True)
class CMAES(Latent):
    """CMA-ES. `defaults` names the parameter set; `active` enables the negative weights."""

    defaults: Defaults = "pycma"
    active: bool = True

    def start(self, key: Key, x0: Array, sigma0: Array) -> CMAState:
        zero = jnp.zeros_like(x0)
        return CMAState(key, x0, sigma0, jnp.eye(x0.shape[-1], dtype=x0.dtype), zero, zero, jnp.asarray(0))

    def update(self, state: CMAState, e: Array, f: Array) -> CMAState:
        n, d = e.shape
        p = cma_parameters(d, n, self.defaults, active=self.active)
        weights = ranking.assign(f, p.weights)
        moved, moving = walk(state, jnp.maximum(weights, 0.0) @ e, p)
        # the covariance in standard coordinates, docs/math.md (6)
        decay, scaled = covariance_weights(weights, e, moving, p)
        q = solve(state.root, moved.path)
        new = decay * jnp.eye(d, dtype=e.dtype) + p.c1 * jnp.outer(q, q) + p.cmu * (e * scaled[:, None]).T @ e
        values, vectors = jnp.linalg.eigh(new)
        growth = (vectors * jnp.sqrt(jnp.maximum(values, 1e-12))) @ vectors.T
        return moved._replace(root=state.root @ growth)

    def squeezed(self, state: CMAState, factors: Array) -> CMAState:
        return squeeze_path(super().squeezed(state, factors), factors)


def squeeze_path(state: Any, factors: Array) -> Any:
    """Multiply p_c by factors below 1, as the distribution was; what all have in common belongs to the step size, its unit.

    Factors above 1, those of a margin around whole numbers, stand for no step that the search has made.
    """
    narrower = jnp.minimum(factors, 1.0)
    return state._replace(path=narrower / jnp.max(narrower) * state.path)


def walk(state: CMAState, step: Array, p: CMAParameters) -> tuple[CMAState, Array]:
    """Move mean, paths and step size by the recombined step <e>_w, docs/math.md (4), (5); also return whether p_c moved."""
    generation = state.generation + 1
    shift = apply(state.root, step)  # the mean moves with the old root
    sigma_path = (1 - p.cs) * state.sigma_path + sqrt(p.cs * (2 - p.cs) * p.mueff) * step
    length = jnp.sum(sigma_path**2)
    moving = length / (1 - (1 - p.cs) ** (2 * (generation + p.ahead))) < p.stall
    path = (1 - p.cc) * state.path + jnp.where(moving, sqrt(p.cc * (2 - p.cc) * p.mueff), 0.0) * shift
    change = p.cs / p.damps * (jnp.sqrt(length) / p.chi - 1)
    moved = state._replace(
        mean=state.mean + state.sigma * shift,
        sigma=state.sigma * jnp.exp(jnp.clip(change, -p.max_change, p.max_change)),
        path=path,
        sigma_path=sigma_path,
        generation=generation,
    )
    return moved, moving


def covariance_weights(weights: Array, e: Array, moving: Array, p: CMAParameters) -> tuple[Array, Array]:
    """Return the weights of the old covariance and of each e e' in the new one, docs/math.md (6).

    A negative weight acts on a draw as if its length were sqrt(d), which bounds the variance that it removes. While p_c waits,
    the weight of its rank-one term stays with the old covariance.
    """
    lengths = jnp.sum(e**2, -1)
    scaled = jnp.where(weights < 0, weights * e.shape[-1] / (lengths + p.guard), weights)
    c1 = p.c1 * jnp.where(moving, 1.0, 1 - p.cc * (2 - p.cc))
    return 1 - c1 - p.cmu * weights.sum(), scaled
