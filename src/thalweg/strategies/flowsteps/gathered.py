"""The last generations: small populations are gathered, so that a step of the flow has enough points to learn from."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.strategies.ranking import sanitise
from thalweg.strategies.strategy import Array


class Schedule(NamedTuple):
    """The number of generations that a step of the flow learns from, and the distance of two steps."""

    window: int = 1
    """The number of generations, newest first."""
    every: int = 1
    """The number of generations from one step to the next."""


class Gathered(NamedTuple):
    """The last generations, newest first."""

    e: Array
    """The standard draws (generations, n, d)."""
    x: Array
    """The points (generations, n, d)."""
    f: Array
    """The values (generations, n); in a row of several, failures and infinities are the largest numbers."""
    log_q: Array
    """The log-densities (generations, n), each under the distribution that drew the point."""
    weight: Array
    """The weights (generations, n): 1 for a point, 0 for an empty place."""

    @classmethod
    def empty(cls, generations: int, n: int, d: int, dtype: Any) -> "Gathered":
        """Return room for so many generations."""
        points, numbers = jnp.zeros((generations, n, d), dtype), jnp.zeros((generations, n), dtype)
        return cls(points, points, numbers, numbers, numbers)

    @classmethod
    def one(cls, e: Array, x: Array, f: Array, log_q: Array) -> "Gathered":
        """Return a single generation, with its values as they are."""
        return cls(e[None], x[None], f[None], log_q[None], jnp.ones_like(f)[None])

    def add(self, e: Array, x: Array, f: Array, log_q: Array) -> "Gathered":
        """Return the generations with a new one in front, in place of the oldest."""
        largest = jnp.finfo(f.dtype).max
        new = Gathered.one(e, x, jnp.clip(sanitise(f), -largest, largest), log_q)
        return Gathered(*(jnp.concatenate([front, old[:-1]]) for front, old in zip(new, self, strict=True)))

    def filled(self) -> "Gathered":
        """Return the generations with the points of the newest one in empty places, whose weights stay 0."""
        there = self.weight > 0
        e, x = (jnp.where(there[..., None], part, part[:1]) for part in (self.e, self.x))
        f, log_q = (jnp.where(there, part, part[:1]) for part in (self.f, self.log_q))
        return Gathered(e, x, f, log_q, self.weight)
