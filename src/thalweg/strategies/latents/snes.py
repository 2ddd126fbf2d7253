"""SNES: separable natural evolution strategies (Schaul, Glasmachers & Schmidhuber 2011); docs/math.md (24)."""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

import jax.numpy as jnp

from thalweg.strategies import ranking
from thalweg.strategies.latents.xnes import XNES, XNESState
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True)
class SNES(XNES):
    """xNES with a diagonal root: O(d) per point, rates 1 for the mean and (3 + ln d) / (5 sqrt d) for the scales.

    As in xNES, sigma carries the overall scale (here the geometric mean of the standard deviations) and the root the rest.
    """

    diagonal: ClassVar[bool] = True

    def start(self, key: Key, x0: Array, sigma0: Array) -> XNESState:
        return XNESState(key, x0, sigma0, jnp.ones_like(x0), None, None)

    def update(self, state: XNESState, e: Array, f: Array) -> XNESState:
        n, d = e.shape
        rate = self.rate if self.rate is not None else (3 + log(d)) / (5 * sqrt(d))
        u = ranking.assign(f, ranking.nes_utilities(n))
        gradient = u @ (e**2 - 1)
        scale = jnp.mean(gradient)
        return state._replace(
            mean=state.mean + state.sigma * state.root * (u @ e),  # the mean moves with the old scales
            sigma=state.sigma * jnp.exp(0.5 * rate * scale),
            root=state.root * jnp.exp(0.5 * rate * (gradient - scale)),
        )
