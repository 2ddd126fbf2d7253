"""CauchyNES: a heavy-tailed relative of xNES, with the exact natural gradient of the multivariate Cauchy; docs/math.md (30).

Its Fisher information follows from the moments of |e|^2 / (1 + |e|^2), which is Beta(d/2, 1/2) distributed and independent of
the direction of e.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

import jax.numpy as jnp

from thalweg.strategies import ranking
from thalweg.strategies.latents.bases import CAUCHY, Base
from thalweg.strategies.latents.frame import apply
from thalweg.strategies.latents.turn import turn_of, turned
from thalweg.strategies.latents.xnes import XNES, XNESState
from thalweg.strategies.strategy import Array


@dataclass(frozen=True)
class CauchyNES(XNES):
    """A natural evolution strategy with Cauchy draws: a few points lie far away and can find a better basin.

    The rate of scale and shape is a third of PyBrain's for xNES: the natural gradient of the size is d + 3 times as noisy as
    with normal draws, and at xNES's own rate populations of 4 + 3 ln d contract too early on the sphere (d = 2 to 10).
    """

    base: ClassVar[Base] = CAUCHY

    def update(self, state: XNESState, e: Array, f: Array) -> XNESState:
        n, d = e.shape
        rate = self.rate if self.rate is not None else 0.2 * (3 + log(d)) / (d * sqrt(d))
        u = ranking.assign(f, ranking.nes_utilities(n))
        uw = u * self.base.precision(e)
        fisher = (d + 1) / (d + 3)
        trace = jnp.sum(uw * jnp.sum(e**2, -1)) / d
        size = (trace - u.sum()) * (d + 3)
        turn = turn_of(e, uw, lambda values: 0.5 * rate * (values - trace) / fisher)
        mean = state.mean + state.sigma * apply(state.root, uw @ e) / fisher  # the mean moves with the old A
        return turned(state._replace(mean=mean, sigma=state.sigma * jnp.exp(0.5 * rate * size)), turn)
