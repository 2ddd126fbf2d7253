"""A buffer of former generations, for steps that learn from more than the newest one ("using historic data")."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.strategies.strategy import Array


class Known(NamedTuple):
    """All points that a step learns from, the newest first."""

    x: Array
    """(m, d)"""
    utility: Array
    """(m,)"""
    log_q: Array
    """(m,): log-density under the distribution that drew the point"""
    weight: Array
    """(m,): 1 where there is a point, 0 where there is none yet and a copy of a new one stands in"""


class History(NamedTuple):
    """The generations before the newest one, last first; shapes are fixed, so that unfilled places carry the weight 0."""

    x: Array
    """(generations - 1, n, d)"""
    utility: Array
    """(generations - 1, n)"""
    log_q: Array
    weight: Array

    @classmethod
    def empty(cls, generations: int, n: int, d: int, dtype: Any) -> "History":
        """Nothing yet, of so many generations, the newest one included."""
        zero = jnp.zeros((generations - 1, n), dtype)
        return cls(jnp.zeros((generations - 1, n, d), dtype), zero, zero, zero)

    def join(self, x: Array, utility: Array, log_q: Array) -> tuple[Known, "History"]:
        """A new generation and the former ones together; and what to keep of them all."""
        new = History(x, utility, log_q, jnp.ones_like(log_q))
        stacks = [jnp.concatenate([fresh[None], old]) for fresh, old in zip(new, self, strict=True)]
        filled = stacks[3] > 0
        known = Known(
            jnp.where(filled[..., None], stacks[0], x).reshape(-1, x.shape[-1]),
            stacks[1].reshape(-1),
            jnp.where(filled, stacks[2], log_q).reshape(-1),
            stacks[3].reshape(-1),
        )
        return known, History(*(stack[:-1] for stack in stacks))
