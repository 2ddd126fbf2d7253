"""CauchyNES: a heavy-tailed relative of xNES, with the exact natural gradient of the multivariate Cauchy; docs/math.md (30).

With z = m + A e and p(e) proportional to (1 + |e|^2)^(-(d+1)/2), a step to the mean m + A b and the scale A exp(S), S
symmetric, changes the log-density at a fixed z, to first order, by

    b . w e + tr(S (w e e' - I)),    w = (d + 1) / (1 + |e|^2).

|e|^2 / (1 + |e|^2) is Beta(d/2, 1/2) distributed and independent of the direction of e, which is uniform. Its first two
moments and the fourth moments of the direction give the second moments of these scores, that is, the Fisher information:

    location    k |b|^2                                      k = (d + 1) / (d + 3)
    scale       2 k tr(S^2) - (1 - k) (tr S)^2
      of which  2 k |S|^2 if tr S = 0, and 2 / (d + 3) |S|^2 if S is a multiple of I.

The natural gradient divides the scores by it: by k for the mean, by 2 k for the shape, by 2 / (d + 3) for the size. For the
normal distribution (w = 1) the three are 1, 2 and 2, which is xNES.
"""

from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

import jax.numpy as jnp
from jax.scipy.linalg import expm

from thalweg.strategies import ranking
from thalweg.strategies.latents.bases import CAUCHY, Base
from thalweg.strategies.latents.frame import apply
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
        gradient = (e * uw[:, None]).T @ e - u.sum() * jnp.eye(d, dtype=e.dtype)
        trace = jnp.trace(gradient) / d
        shape = (gradient - trace * jnp.eye(d, dtype=e.dtype)) / fisher
        size = trace * (d + 3)
        return XNESState(
            state.key,
            state.mean + state.sigma * apply(state.root, uw @ e) / fisher,  # the mean moves with the old A
            state.sigma * jnp.exp(0.5 * rate * size),
            state.root @ expm(0.5 * rate * shape),
        )
