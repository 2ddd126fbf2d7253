"""PGES: plain gradient descent of the expected value, the paper's first baseline; docs/math.md (1), (2)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax.numpy as jnp

from thalweg.strategies import ranking
from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.frame import solve
from thalweg.strategies.strategy import Array, Key


class PGESState(NamedTuple):
    key: Key
    mean: Array
    sigma: Array
    root: Array
    rate: Array
    """alpha, the constant learning rate, in squared units of the search space."""


@dataclass(frozen=True)
class PGES(Latent):
    """Stochastic gradient descent over the mean m and the root A of the covariance, with the score-function estimator.

    The steps are -alpha times the mean of f A^-T e and of f A^-T (e e' - I), with the fixed learning rate
    alpha = `rate` sigma0^2 and f shaped: "standardised" to mean 0 and variance 1, or by "ranks" (-n times the utilities of
    xNES). This is a baseline: it cannot locate a minimum precisely. The score grows like 1/A, so once A is about
    sqrt(alpha) wide a step is as long as the distribution itself, and the search stays that wide.

    The only safeguard: no singular value of A falls below sqrt(alpha)/10, where a single step would move the distribution far
    away. Sign and direction of every step are those of the plain gradient.
    """

    rate: float = 0.01
    shaping: Literal["standardised", "ranks"] = "standardised"

    def __post_init__(self) -> None:
        if self.shaping not in ("standardised", "ranks"):
            raise ValueError(f"shaping must be 'standardised' or 'ranks', got {self.shaping!r}")

    def start(self, key: Key, x0: Array, sigma0: Array) -> PGESState:
        return PGESState(key, x0, sigma0, jnp.eye(x0.shape[-1], dtype=x0.dtype), self.rate * sigma0**2)

    def update(self, state: PGESState, e: Array, f: Array) -> PGESState:
        n, d = e.shape
        if self.shaping == "ranks":
            shaped = ranking.assign(f, -ranking.nes_utilities(n))
        else:
            shaped = ranking.standardise(f) / n
        old = state.sigma * state.root
        mean = state.mean - state.rate * solve(old.T, shaped @ e)
        score = (e * shaped[:, None]).T @ e - shaped.sum() * jnp.eye(d, dtype=e.dtype)
        new = old - state.rate * solve(old.T, score).T
        left, values, right = jnp.linalg.svd(new)
        values = jnp.maximum(values, jnp.sqrt(state.rate) / 10)
        sigma = jnp.exp(jnp.mean(jnp.log(values)))  # as in xNES, sigma carries the determinant
        return state._replace(mean=mean, sigma=sigma, root=(left * (values / sigma)) @ right)
