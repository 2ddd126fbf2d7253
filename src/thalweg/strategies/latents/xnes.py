"""xNES: exponential natural evolution strategies (Glasmachers et al. 2010), by PyBrain's rule, which the paper used."""

from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import jax.numpy as jnp

from thalweg.strategies import ranking
from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.frame import apply
from thalweg.strategies.latents.turn import turn_of, turned
from thalweg.strategies.strategy import Array, Key


class XNESState(NamedTuple):
    key: Key
    mean: Array
    sigma: Array
    root: Array
    inverse: Array | None
    """The inverse of the root; None for a diagonal one."""
    log_volume: Array | None
    """log |det root|; None for a diagonal one."""


@dataclass(frozen=True)
class XNES(Latent):
    """xNES with PyBrain's rates: 1 for the mean, 0.6 (3 + ln d) / (d sqrt d) for scale and shape alike.

    With one rate for both, scale and shape need no separate update: A <- A expm(rate/2 (sum u e e' - sum u I)). The scale is
    still stored separately (sigma holds the determinant), so that every latent has a step size.
    """

    rate: float | None = None

    def start(self, key: Key, x0: Array, sigma0: Array) -> XNESState:
        eye = jnp.eye(x0.shape[-1], dtype=x0.dtype)
        return XNESState(key, x0, sigma0, eye, eye, jnp.zeros_like(sigma0))

    def update(self, state: XNESState, e: Array, f: Array) -> XNESState:
        n, d = e.shape
        rate = self.rate if self.rate is not None else 0.6 * (3 + log(d)) / (d * sqrt(d))
        u = ranking.assign(f, ranking.nes_utilities(n))
        mean = state.mean + state.sigma * apply(state.root, u @ e)  # the mean moves with the old A
        trace = jnp.sum(u * jnp.sum(e**2, -1)) / d
        sigma = state.sigma * jnp.exp(0.5 * rate * (trace - u.sum()))
        turn = turn_of(e, u, lambda values: 0.5 * rate * (values - trace))
        return turned(state._replace(mean=mean, sigma=sigma), turn)
