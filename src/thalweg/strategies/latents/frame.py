"""Affine maps, full or diagonal, by which a latent places and scales its standard draws."""

from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp
from jax.scipy.linalg import lu_factor, lu_solve

from thalweg.strategies.strategy import Array


class FrameLike(Protocol):
    """Any map between standard coordinates and the search space whose determinant is the same everywhere."""

    def place(self, e: Array) -> Array:
        """Map standard coordinates to the search space, for points (..., d)."""
        ...

    def whiten(self, z: Array) -> Array:
        """Map points of the search space back to standard coordinates."""
        ...

    def log_det(self) -> Array:
        """Return log |det|."""
        ...


class Frame(NamedTuple):
    """An affine map e -> mean + scale e. `scale` is a (d, d) matrix, or a (d,) vector that stands for a diagonal one."""

    mean: Array
    scale: Array

    @classmethod
    def identity(cls, d: int, dtype: Any, *, diagonal: bool) -> "Frame":
        """Return the identity in dimension d."""
        return cls(jnp.zeros(d, dtype), jnp.ones(d, dtype) if diagonal else jnp.eye(d, dtype=dtype))

    def place(self, e: Array) -> Array:
        return self.mean + apply(self.scale, e)

    def whiten(self, z: Array) -> Array:
        return solve(self.scale, z - self.mean)

    def after(self, first: "Frame") -> "Frame":
        """Return the composition of `first` and then this map. Both are full, or both are diagonal."""
        scale = self.scale * first.scale if self.scale.ndim == 1 else self.scale @ first.scale
        return Frame(self.place(first.mean), scale)

    def inverse(self) -> "Frame":
        """Return the inverse map."""
        scale = 1 / self.scale if self.scale.ndim == 1 else jnp.linalg.inv(self.scale)
        return Frame(-apply(scale, self.mean), scale)

    def log_det(self) -> Array:
        if self.scale.ndim == 1:
            return jnp.sum(jnp.log(jnp.abs(self.scale)))
        return jnp.linalg.slogdet(self.scale)[1]

    def solved(self) -> "SolvedFrame":
        """Return the same map with its inverse and its determinant, from one factorisation."""
        if self.scale.ndim == 1:
            return SolvedFrame(self, 1 / self.scale, self.log_det())
        factors, pivots = lu_factor(self.scale)
        inverse_scale = lu_solve((factors, pivots), jnp.eye(len(self.mean), dtype=self.scale.dtype))
        return SolvedFrame(self, inverse_scale, jnp.sum(jnp.log(jnp.abs(jnp.diag(factors)))))

    def squeezed(self, factors: Array, centre: Array) -> "Frame":
        """Return this map followed by a multiplication of each coordinate by its factor, around a centre."""
        return Frame(centre + factors * (self.mean - centre), (factors * self.scale.T).T)

    def shifted(self, shift: Array) -> "Frame":
        """Return this map followed by a translation."""
        return Frame(self.mean + shift, self.scale)

    def std(self) -> Array:
        """Return the standard deviation per coordinate of mean + scale e for a standard normal e."""
        return jnp.abs(self.scale) if self.scale.ndim == 1 else jnp.linalg.norm(self.scale, axis=1)


class SolvedFrame(NamedTuple):
    """An affine map with its inverse and its determinant: whitening is a product instead of a solve."""

    frame: Frame
    inverse_scale: Array
    """The inverse of the frame's scale."""
    log_volume: Array
    """log |det scale|."""

    def place(self, e: Array) -> Array:
        return self.frame.place(e)

    def whiten(self, z: Array) -> Array:
        # the mean is subtracted first: a distribution much smaller than its distance to 0 would lose all its digits otherwise
        return apply(self.inverse_scale, z - self.frame.mean)

    def after(self, first: "SolvedFrame") -> "SolvedFrame":
        """Return the composition of `first` and then this map."""
        diagonal = self.inverse_scale.ndim == 1
        inverse_scale = first.inverse_scale * self.inverse_scale if diagonal else first.inverse_scale @ self.inverse_scale
        return SolvedFrame(self.frame.after(first.frame), inverse_scale, self.log_volume + first.log_volume)

    def inverse(self) -> "SolvedFrame":
        """Return the inverse map."""
        frame = Frame(-apply(self.inverse_scale, self.frame.mean), self.inverse_scale)
        return SolvedFrame(frame, self.frame.scale, -self.log_volume)

    def refreshed(self) -> "SolvedFrame":
        """Return the same map with an inverse that no rounding has moved."""
        return self.frame.solved()

    def squeezed(self, factors: Array, centre: Array) -> "SolvedFrame":
        """Return this map followed by a multiplication of each coordinate by its factor, around a centre."""
        log_volume = self.log_volume + jnp.sum(jnp.log(factors))
        return SolvedFrame(self.frame.squeezed(factors, centre), self.inverse_scale / factors, log_volume)

    def shifted(self, shift: Array) -> "SolvedFrame":
        """Return this map followed by a translation."""
        return self._replace(frame=self.frame.shifted(shift))

    def log_det(self) -> Array:
        return self.log_volume


class IdentityFrame(NamedTuple):
    """The frame that leaves every point where it is, at no cost."""

    def place(self, e: Array) -> Array:
        return e

    def whiten(self, z: Array) -> Array:
        return z

    def log_det(self) -> Array:
        return jnp.zeros(())


def apply(scale: Array, e: Array) -> Array:
    """Return scale e, for points (..., d)."""
    return scale * e if scale.ndim == 1 else e @ scale.T


def solve(scale: Array, y: Array) -> Array:
    """Return scale^-1 y, for points (..., d)."""
    if scale.ndim == 1:
        return y / scale
    flat = y.reshape(-1, y.shape[-1])
    return jnp.linalg.solve(scale, flat.T).T.reshape(y.shape)
