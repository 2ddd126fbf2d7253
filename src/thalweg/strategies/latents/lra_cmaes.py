"""LRA-CMA-ES: CMA-ES that slows down while its steps are mostly noise (Nomura, Akimoto & Ono 2023); docs/math.md (33) to (36).

A generation of CMA-ES proposes a change. The signal-to-noise ratio of the last proposals, separately for the mean and for the
covariance, gives the share of it that is applied. All averages are in standard coordinates, where the distribution is N(0, I).
"""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import jax.numpy as jnp

from thalweg.strategies.latents.base import Latent
from thalweg.strategies.latents.cma_parameters import Defaults
from thalweg.strategies.latents.cmaes import CMAES, squeeze_path
from thalweg.strategies.latents.frame import apply, solve
from thalweg.strategies.strategy import Array, Key


class Changes(NamedTuple):
    """Moving averages of the proposed changes of one part of the search distribution, and its learning rate."""

    drift: Array
    """Average of the changes, in standard coordinates: (d,) for the mean, (d, d) for the covariance."""
    power: Array
    """Average of their squared lengths."""
    rate: Array
    """The learning rate: the share of a proposed change that is applied."""


class LRACMAState(NamedTuple):
    key: Key
    mean: Array
    sigma: Array
    root: Array
    """A root of the covariance, root root' = C; its determinant is constant, as sigma holds the size."""
    path: Array
    """p_c, in the search space and units of sigma."""
    sigma_path: Array
    """p_sigma, in standard coordinates."""
    generation: Array
    of_mean: Changes
    of_covariance: Changes


@dataclass(frozen=True)
class LRACMAES(Latent):
    """CMA-ES with adapted learning rates, for noisy and for multimodal objectives with default populations.

    `defaults` and `active` are those of CMA-ES; the other constants are the authors'.
    """

    defaults: Defaults = "pycma"
    active: bool = True
    ratio: float = 1.4
    """The target of the signal-to-noise ratio, in units of the rate: a larger one is slower and safer."""
    mean_memory: float = 0.1
    """The weight of a generation in the moving averages of the mean's changes."""
    covariance_memory: float = 0.03
    """The weight of a generation in the moving averages of the covariance's changes."""
    damping: float = 0.1
    """The largest change of the logarithm of a rate in a generation, in units of the rate."""

    def start(self, key: Key, x0: Array, sigma0: Array) -> LRACMAState:
        begun = CMAES().start(key, x0, sigma0)
        zero, one = jnp.zeros((), x0.dtype), jnp.ones((), x0.dtype)
        paths = begun.path, begun.sigma_path, begun.generation
        return LRACMAState(
            key, x0, sigma0, begun.root, *paths, *(Changes(jnp.zeros_like(part), zero, one) for part in (x0, begun.root))
        )

    def update(self, state: LRACMAState, e: Array, f: Array) -> LRACMAState:
        d = e.shape[-1]
        eye = jnp.eye(d, dtype=e.dtype)
        # the change that CMA-ES proposes, where the search distribution is N(0, I)
        path = solve(state.root, state.path)
        plain = CMAES(defaults=self.defaults, active=self.active)
        here = plain.start(state.key, jnp.zeros_like(path), jnp.ones_like(state.sigma))
        proposed = plain.update(here._replace(path=path, sigma_path=state.sigma_path, generation=state.generation), e, f)
        change = proposed.sigma**2 * proposed.root @ proposed.root.T - eye
        # the share of it to apply
        mean = self.learn(state.of_mean, proposed.mean, self.mean_memory)
        covariance = self.learn(state.of_covariance, change / sqrt(2), self.covariance_memory)
        # apply it; the size belongs to sigma, so the root keeps its determinant
        values, vectors = jnp.linalg.eigh(eye + covariance.rate * change)
        logs = jnp.log(jnp.maximum(values, 1e-12)) / 2
        growth = (vectors * jnp.exp(logs - logs.mean())) @ vectors.T
        return LRACMAState(
            key=state.key,
            mean=state.mean + mean.rate * state.sigma * apply(state.root, proposed.mean),
            # the best step size of a smaller rate is larger, docs/math.md (36)
            sigma=state.sigma * jnp.exp(logs.mean()) * state.of_mean.rate / mean.rate,
            root=state.root @ growth,
            path=apply(state.root, proposed.path),
            sigma_path=proposed.sigma_path,
            generation=proposed.generation,
            of_mean=mean,
            of_covariance=covariance,
        )

    def squeezed(self, state: LRACMAState, factors: Array) -> LRACMAState:
        return squeeze_path(super().squeezed(state, factors), factors)

    def learn(self, before: Changes, change: Array, memory: float) -> Changes:
        """Average in a proposed change and adapt the rate to the signal-to-noise ratio, docs/math.md (34), (35)."""
        drift = (1 - memory) * before.drift + memory * change
        power = (1 - memory) * before.power + memory * jnp.sum(change**2)
        length = jnp.sum(drift**2)
        noise = jnp.maximum(power - length, jnp.finfo(power.dtype).tiny)  # 0 where nothing ever moved
        signal = (length - memory / (2 - memory) * power) / noise
        excess = jnp.clip(signal / (self.ratio * before.rate) - 1, -1, 1)
        rate = before.rate * jnp.exp(jnp.minimum(self.damping * before.rate, memory) * excess)
        return Changes(drift, power, jnp.minimum(rate, 1.0))
