"""Curved frames: an affine map after a quadratic shear. Closed under affine maps, as `Frame` is; docs/math.md (25), (26)."""

from math import sqrt
from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.strategies.flows.shear import shear
from thalweg.strategies.latents.frame import Frame, SolvedFrame, apply
from thalweg.strategies.strategy import Array


class CurvedFrame(NamedTuple):
    """x = m + A (e + w ((v.e)^2 - 1) / sqrt(2)), with |v| = 1 and v.w = 0; its best affine fit is m + A e."""

    affine: SolvedFrame
    """m and A; full, as a diagonal matrix cannot turn with the curve."""
    axis: Array
    """v."""
    bow: Array
    """w, in standard coordinates: its length is the root mean square by which the frame bends."""

    @classmethod
    def straight(cls, frame: Frame) -> "CurvedFrame":
        """Return a curved frame that does not bend yet."""
        d = len(frame.mean)
        axis: Any = jnp.full(d, 1 / sqrt(d), frame.mean.dtype)
        return cls(frame.solved(), axis, jnp.zeros_like(frame.mean))

    @property
    def frame(self) -> Frame:
        """The affine part, m and A, without its inverse."""
        return self.affine.frame

    def place(self, e: Array) -> Array:
        return self.affine.place(shear(self.axis, self.bow, e))

    def whiten(self, z: Array) -> Array:
        return shear(self.axis, -self.bow, self.affine.whiten(z))

    def log_det(self) -> Array:
        return self.affine.log_det()

    def after(self, first: SolvedFrame) -> "CurvedFrame":
        """Return the composition of `first` and then this map: again a curved frame, exactly, docs/math.md (26)."""
        (c, L), inverse_scale = first.frame, first.inverse_scale
        along = L.T @ self.axis
        length = jnp.linalg.norm(along)
        at = self.axis @ c
        turn = sqrt(2) * at * jnp.outer(self.bow, along)  # the tangent has turned where c lies on the curve
        bow = apply(inverse_scale, self.bow)
        moved = SolvedFrame(
            Frame(c + self.bow * ((at**2 + length**2 - 1) / sqrt(2)), L + turn),
            inverse_scale - sqrt(2) * at * jnp.outer(bow, self.axis),
            first.log_volume,
        )
        return CurvedFrame(self.affine.after(moved), along / length, bow * length**2)

    def squeezed(self, factors: Array, centre: Array) -> "CurvedFrame":
        """Return this map followed by a multiplication of each coordinate by its factor, around a centre."""
        return self._replace(affine=self.affine.squeezed(factors, centre))

    def shifted(self, shift: Array) -> "CurvedFrame":
        """Return this map followed by a translation."""
        return self._replace(affine=self.affine.shifted(shift))

    def moved_to(self, frame: SolvedFrame) -> "CurvedFrame":
        """Return this frame moved along its curve, after the latent, which knows the affine part alone, moved to `frame`.

        It is `after(first)` for the affine map `first` that takes this frame's affine part to the new one, without a product
        of matrices.
        """
        (mean, scale), inverse = frame.frame, frame.inverse_scale
        at = self.axis @ self.affine.whiten(mean)
        across = self.axis @ self.affine.inverse_scale
        along = across @ scale
        length = jnp.linalg.norm(along)
        shift = self.frame.scale @ self.bow
        bow = inverse @ shift
        turn = sqrt(2) * at
        moved = Frame(mean + shift * ((at**2 + length**2 - 1) / sqrt(2)), scale + turn * jnp.outer(shift, along))
        solved = SolvedFrame(moved, inverse - turn * jnp.outer(bow, across), frame.log_volume)
        return CurvedFrame(solved, along / length, bow * length**2)

    def refreshed(self) -> "CurvedFrame":
        """Return the same frame with an inverse that no rounding has moved."""
        return self._replace(affine=self.frame.solved())
