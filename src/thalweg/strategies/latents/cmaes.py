"""CMA-ES with active covariance update and cumulative step-size adaptation (Hansen 2016); docs/math.md (4) to (6).

The covariance is stored as a root: C = root root'. The update is computed in standard coordinates, where the old covariance
is the identity and the new one, M, is well conditioned; then root <- root M^(1/2). The eigendecomposition is therefore
independent of the condition number of C, and the flow's coordinates turn as little as possible between generations. M is the
identity but for the span of the draws, so that few draws in a large dimension make for little work.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.scipy.special import gammaln

from thalweg.strategies import ranking
from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.cma_parameters import CMAParameters, Defaults, cma_parameters
from thalweg.strategies.latents.frame import apply
from thalweg.strategies.latents.turn import solve_refined, turn_of, turned
from thalweg.strategies.strategy import Array, Key


class CMAState(NamedTuple):
    key: Key
    mean: Array
    sigma: Array
    root: Array
    """A root of the covariance: root root' = C."""
    inverse: Array | None
    """The inverse of the root; None for a diagonal one."""
    log_volume: Array | None
    """log |det root|; None for a diagonal one."""
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
        zero, eye = jnp.zeros_like(x0), jnp.eye(x0.shape[-1], dtype=x0.dtype)
        return CMAState(key, x0, sigma0, eye, eye, jnp.zeros_like(sigma0), zero, zero, jnp.asarray(0))

    def update(self, state: CMAState, e: Array, f: Array) -> CMAState:
        n, d = e.shape
        p = cma_parameters(d, n, self.defaults, active=self.active)
        weights = ranking.assign(f, p.weights)
        moved, moving = walk(state, jnp.maximum(weights, 0.0) @ e, p)
        # the covariance in standard coordinates, docs/math.md (6)
        decay, scaled = covariance_weights(weights, e, moving, p)
        q = solve_refined(state, moved.path)
        rows, shares = jnp.vstack([q, e]), jnp.concatenate([jnp.asarray([p.c1], e.dtype), p.cmu * scaled])
        return turned(moved, turn_of(rows, shares, lambda values: 0.5 * jnp.log(jnp.maximum(decay + values, 1e-12))))

    def squeezed(self, state: CMAState, factors: Array) -> CMAState:
        return squeeze_path(super().squeezed(state, factors), factors)

    def resized(self, before: CMAState, state: CMAState, free: Array) -> CMAState:
        """Return the state with the step size of the path's part in the coordinates `free`, docs/math.md (56)."""
        p = cma_parameters(len(free), self.population(len(free)), self.defaults, active=self.active)
        count = jnp.sum(free)
        chi = sqrt(2) * jnp.exp(gammaln((count + 1) / 2) - gammaln(jnp.maximum(count, 1) / 2))
        sigma = before.sigma * growth(free_length(before.root, state.sigma_path, free) / chi, p)
        return state._replace(sigma=jnp.where((count > 0) & (count < len(free)), sigma, state.sigma))


def free_length(root: Array, path: Array, free: Array) -> Array:
    """Return the length of a path of standard coordinates in the coordinates `free`, in units of their own covariance."""
    if root.ndim == 1:
        return jnp.linalg.norm(jnp.where(free, path, 0.0))
    rows: Array = free[:, None] * (root / jnp.linalg.norm(root, axis=1, keepdims=True))
    seen = rows @ path
    correlations = rows @ rows.T + jnp.diag(jnp.where(free, 0.0, 1.0))
    return jnp.sqrt(jnp.maximum(seen @ jnp.linalg.solve(correlations, seen), 0.0))


def growth(length: Array, p: CMAParameters) -> Array:
    """Return the factor of the step size after a path of this length, in units of its expected one, docs/math.md (5)."""
    return jnp.exp(jnp.clip(p.cs / p.damps * (length - 1), -p.max_change, p.max_change))


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
    moved = state._replace(
        mean=state.mean + state.sigma * shift,
        sigma=state.sigma * growth(jnp.sqrt(length) / p.chi, p),
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
