"""A buffer of the last generations, for steps that learn from more than the newest one ("using historic data")."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.types import Array


class History(NamedTuple):
    """The last generations, newest first; shapes are fixed, so that unfilled places carry the weight 0."""

    x: Array
    """(generations, n, d)"""
    utility: Array
    """(generations, n)"""
    log_q: Array
    """(generations, n): log-density under the distribution that drew the point"""
    weight: Array
    """(generations, n): 1 where there is a point, 0 where there is none yet"""

    @classmethod
    def empty(cls, generations: int, n: int, d: int, dtype: Any) -> "History":
        """A buffer that holds nothing yet."""
        zero = jnp.zeros((generations, n), dtype)
        return cls(jnp.zeros((generations, n, d), dtype), zero, zero, zero)

    def push(self, x: Array, utility: Array, log_q: Array) -> "History":
        """Take in a generation and forget the oldest."""
        new = History(x, utility, log_q, jnp.ones_like(log_q))
        return History(*(jnp.concatenate([fresh[None], old[:-1]]) for fresh, old in zip(new, self, strict=True)))

    def flat(self) -> tuple[Array, Array, Array, Array]:
        """All points: x (m, d), utility, log_q and weight (m,). Empty places hold copies of the newest generation."""
        filled = self.weight > 0
        x = jnp.where(filled[..., None], self.x, self.x[:1])
        log_q = jnp.where(filled, self.log_q, self.log_q[:1])
        return x.reshape(-1, x.shape[-1]), self.utility.reshape(-1), log_q.reshape(-1), self.weight.reshape(-1)
