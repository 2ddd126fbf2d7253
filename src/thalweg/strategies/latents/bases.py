"""Base distributions: the fixed distributions of the standard draws, which latents place and scale."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import lgamma, log, pi
from typing import Any

import jax
import jax.numpy as jnp

from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True)
class Base(ABC):
    """A rotationally symmetric distribution on R^d."""

    @abstractmethod
    def sample(self, key: Key, shape: tuple[int, int], dtype: Any) -> Array:
        """Draw shape[0] points in dimension shape[1]."""

    @abstractmethod
    def log_prob(self, e: Array) -> Array:
        """Return the log-density at the points e (..., d)."""

    @abstractmethod
    def precision(self, e: Array) -> Array:
        """Return the weight of |de|^2 in the curvature of -log_prob at e: the cost of a small displacement there."""


@dataclass(frozen=True)
class Gaussian(Base):
    """The standard normal distribution."""

    def sample(self, key: Key, shape: tuple[int, int], dtype: Any) -> Array:
        return jax.random.normal(key, shape, dtype)

    def log_prob(self, e: Array) -> Array:
        return -0.5 * jnp.sum(e**2, -1) - 0.5 * e.shape[-1] * log(2 * pi)

    def precision(self, e: Array) -> Array:
        return jnp.ones(e.shape[:-1], e.dtype)


@dataclass(frozen=True)
class Cauchy(Base):
    """The multivariate Cauchy distribution (Student's t with one degree of freedom): no mean, heavy tails."""

    def sample(self, key: Key, shape: tuple[int, int], dtype: Any) -> Array:
        direction, radius = jax.random.split(key)
        chi = jax.random.normal(radius, (shape[0], 1), dtype)
        return jax.random.normal(direction, shape, dtype) / jnp.abs(chi)

    def log_prob(self, e: Array) -> Array:
        d = e.shape[-1]
        constant = lgamma((d + 1) / 2) - (d + 1) / 2 * log(pi)
        return constant - (d + 1) / 2 * jnp.log1p(jnp.sum(e**2, -1))

    def precision(self, e: Array) -> Array:
        return (e.shape[-1] + 1) / (1 + jnp.sum(e**2, -1))


GAUSSIAN = Gaussian()
CAUCHY = Cauchy()
