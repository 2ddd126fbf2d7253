"""Affine maps, full or diagonal: where a latent places and scales its standard draws."""

from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jax.scipy.linalg import lu_factor, lu_solve

from thalweg.strategies.strategy import Array


class Frame(NamedTuple):
    """An affine map e -> mean + scale e. `scale` is a (d, d) matrix, or a (d,) vector that stands for a diagonal one."""

    mean: Array
    scale: Array

    def place(self, e: Array) -> Array:
        """Standard coordinates to the search space, for points (..., d)."""
        return self.mean + apply(self.scale, e)

    def whiten(self, z: Array) -> Array:
        """Undo `place`."""
        return solve(self.scale, z - self.mean)

    def after(self, first: "Frame") -> "Frame":
        """The composition: `first`, then this map. Both full, or both diagonal."""
        scale = self.scale * first.scale if self.scale.ndim == 1 else self.scale @ first.scale
        return Frame(self.place(first.mean), scale)

    def inverse(self) -> "Frame":
        """The inverse map."""
        scale = 1 / self.scale if self.scale.ndim == 1 else jnp.linalg.inv(self.scale)
        return Frame(-apply(scale, self.mean), scale)

    def log_det(self) -> Array:
        """log |det scale|."""
        if self.scale.ndim == 1:
            return jnp.sum(jnp.log(jnp.abs(self.scale)))
        return jnp.linalg.slogdet(self.scale)[1]

    def solved(self) -> "Solved":
        """The same map together with its inverse and its determinant, of one factorisation."""
        if self.scale.ndim == 1:
            return Solved(self, 1 / self.scale, self.log_det())
        factors, pivots = lu_factor(self.scale)
        back = lu_solve((factors, pivots), jnp.eye(len(self.mean), dtype=self.scale.dtype))
        return Solved(self, back, jnp.sum(jnp.log(jnp.abs(jnp.diag(factors)))))

    def std(self) -> Array:
        """Standard deviation per coordinate of mean + scale e for a standard normal e."""
        return jnp.abs(self.scale) if self.scale.ndim == 1 else jnp.linalg.norm(self.scale, axis=1)


class Solved(NamedTuple):
    """An affine map of which everything is known, so that whitening is a product and no solve."""

    frame: Frame
    back: Array
    """The inverse of the frame's scale."""
    log_volume: Array

    def place(self, e: Array) -> Array:
        """Standard coordinates to the search space, for points (..., d)."""
        return self.frame.place(e)

    def whiten(self, z: Array) -> Array:
        """Undo `place`; the mean goes first, or nothing would be left of a distribution much smaller than its distance to 0."""
        return apply(self.back, z - self.frame.mean)

    def after(self, first: "Solved") -> "Solved":
        """The composition: `first`, then this map."""
        back = first.back * self.back if self.back.ndim == 1 else first.back @ self.back
        return Solved(self.frame.after(first.frame), back, self.log_volume + first.log_volume)

    def inverse(self) -> "Solved":
        """The inverse map."""
        return Solved(Frame(-apply(self.back, self.frame.mean), self.back), self.frame.scale, -self.log_volume)

    def log_det(self) -> Array:
        """log |det|."""
        return self.log_volume


def both_solved(one: Frame, two: Frame) -> tuple[Solved, Solved]:
    """Two maps solved in one go, which is half as many calls of LAPACK."""
    together = jax.vmap(Frame.solved)(jax.tree.map(lambda a, b: jnp.stack([a, b]), one, two))
    first, second = (jax.tree.map(lambda leaf, i=i: leaf[i], together) for i in range(2))
    return first, second


class Identity(NamedTuple):
    """The map that leaves everything where it is, at no cost."""

    def place(self, e: Array) -> Array:
        """e itself."""
        return e

    def whiten(self, z: Array) -> Array:
        """z itself."""
        return z

    def log_det(self) -> Array:
        """0."""
        return jnp.zeros(())


class Place(Protocol):
    """Any map between standard coordinates and the search space whose determinant is the same everywhere."""

    def place(self, e: Array) -> Array:
        """Standard coordinates to the search space, for points (..., d)."""
        ...

    def whiten(self, z: Array) -> Array:
        """Undo `place`."""
        ...

    def log_det(self) -> Array:
        """log |det|."""
        ...


def apply(scale: Array, e: Array) -> Array:
    """scale e, for points (..., d)."""
    return scale * e if scale.ndim == 1 else e @ scale.T


def solve(scale: Array, y: Array) -> Array:
    """scale^-1 y, for points (..., d)."""
    if scale.ndim == 1:
        return y / scale
    flat = y.reshape(-1, y.shape[-1])
    return jnp.linalg.solve(scale, flat.T).T.reshape(y.shape)
