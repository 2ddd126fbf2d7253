"""A buffer of former generations, for steps that learn from more than the newest one (the paper's "historic data")."""

from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.strategies.strategy import Array


class Samples(NamedTuple):
    """All points that a step learns from, newest first."""

    x: Array
    """The points (m, d)."""
    utility: Array
    """The utilities (m,) of the points."""
    log_q: Array
    """The log-densities (m,), each under the distribution that drew the point."""
    weight: Array
    """The weights (m,): 1 for a point, 0 for an empty place, which holds a copy of a new point."""


class History(NamedTuple):
    """The generations before the newest one, latest first. Shapes are fixed: empty places have the weight 0."""

    x: Array
    """The points (generations - 1, n, d)."""
    utility: Array
    """The utilities (generations - 1, n)."""
    log_q: Array
    weight: Array

    @classmethod
    def empty(cls, generations: int, n: int, d: int, dtype: Any) -> "History":
        """Return an empty history of that many generations, the newest one included."""
        zero = jnp.zeros((generations - 1, n), dtype)
        return cls(jnp.zeros((generations - 1, n, d), dtype), zero, zero, zero)

    def join(self, x: Array, utility: Array, log_q: Array) -> tuple[Samples, "History"]:
        """Return the new generation together with the former ones, and the history for the next generation."""
        new = History(x, utility, log_q, jnp.ones_like(log_q))
        stacks = [jnp.concatenate([fresh[None], old]) for fresh, old in zip(new, self, strict=True)]
        filled = stacks[3] > 0
        samples = Samples(
            jnp.where(filled[..., None], stacks[0], x).reshape(-1, x.shape[-1]),
            stacks[1].reshape(-1),
            jnp.where(filled, stacks[2], log_q).reshape(-1),
            stacks[3].reshape(-1),
        )
        return samples, History(*(stack[:-1] for stack in stacks))
