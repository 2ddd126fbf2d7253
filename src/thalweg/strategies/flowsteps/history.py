"""A buffer of former generations, for steps that learn from more than the newest one (the paper's "historic data")."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.strategies.strategy import Array


class History(NamedTuple):
    """Points of several generations, newest first. Shapes are fixed: empty places have the weight 0.

    A step keeps the generations before the newest one, arrays of shape (generations - 1, n), and learns from all points in one
    row, arrays of shape (m,).
    """

    x: Array
    """The points (..., d)."""
    utility: Array
    """The utilities (...) of the points."""
    log_q: Array
    """The log-densities (...), each under the distribution that drew the point."""
    weight: Array
    """The weights (...): 1 for a point, 0 for an empty place."""

    @classmethod
    def empty(cls, generations: int, n: int, d: int, dtype: Any) -> "History":
        """Return an empty history of that many generations, the newest one included."""
        zero = jnp.zeros((generations - 1, n), dtype)
        return cls(jnp.zeros((generations - 1, n, d), dtype), zero, zero, zero)

    def join(self, x: Array, utility: Array, log_q: Array) -> tuple["History", "History"]:
        """Return all points to learn from, the new ones in empty places too, and the history for the next generation."""
        new = History(x, utility, log_q, jnp.ones_like(log_q))
        stacks = [jnp.concatenate([fresh[None], old]) for fresh, old in zip(new, self, strict=True)]
        filled = stacks[3] > 0
        samples = History(
            jnp.where(filled[..., None], stacks[0], x).reshape(-1, x.shape[-1]),
            stacks[1].reshape(-1),
            jnp.where(filled, stacks[2], log_q).reshape(-1),
            stacks[3].reshape(-1),
        )
        return samples, History(*(stack[:-1] for stack in stacks))
