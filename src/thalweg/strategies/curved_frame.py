"""Curved frames: an affine map after a quadratic shear. Closed under affine maps, as `Frame` is; docs/math.md (25), (26)."""

from math import sqrt
from typing import Any, NamedTuple

import jax.numpy as jnp

from thalweg.strategies.flows.shear import shear
from thalweg.strategies.latents.frame import Frame, Solved, apply
from thalweg.strategies.strategy import Array


class Curved(NamedTuple):
    """x = m + A (e + w ((v.e)^2 - 1) / sqrt(2)), with |v| = 1 and v.w = 0; its best affine fit is m + A e."""

    flat: Solved
    """m and A; full, as a diagonal matrix cannot turn with the curve."""
    axis: Array
    """v."""
    bow: Array
    """w, in standard coordinates: the root mean square by which it bends."""

    @classmethod
    def straight(cls, frame: Frame) -> "Curved":
        """A frame that is not bent yet."""
        d = len(frame.mean)
        axis: Any = jnp.full(d, 1 / sqrt(d), frame.mean.dtype)
        return cls(frame.solved(), axis, jnp.zeros_like(frame.mean))

    @property
    def frame(self) -> Frame:
        """The affine part."""
        return self.flat.frame

    def place(self, e: Array) -> Array:
        """Standard coordinates to the search space, for points (..., d)."""
        return self.flat.place(shear(self.axis, self.bow, e))

    def whiten(self, z: Array) -> Array:
        """Undo `place`."""
        return shear(self.axis, -self.bow, self.flat.whiten(z))

    def log_det(self) -> Array:
        """log |det|, the same everywhere."""
        return self.flat.log_det()

    def after(self, first: Solved) -> "Curved":
        """The composition: `first`, then this map. Exact: a parabola seen from elsewhere is a parabola, docs/math.md (26)."""
        (c, L), back = first.frame, first.back
        along = L.T @ self.axis
        length = jnp.linalg.norm(along)
        at = self.axis @ c
        turn = sqrt(2) * at * jnp.outer(self.bow, along)  # the tangent has turned where c lies on the curve
        bow = apply(back, self.bow)
        moved = Solved(
            Frame(c + self.bow * ((at**2 + length**2 - 1) / sqrt(2)), L + turn),
            back - sqrt(2) * at * jnp.outer(bow, self.axis),
            first.log_volume,
        )
        return Curved(self.flat.after(moved), along / length, bow * length**2)

    def moved_to(self, frame: Frame) -> "Curved":
        """The map once the latent, which knows the affine part alone, has moved to another frame: along the curve."""
        moved = Frame(self.flat.whiten(frame.mean), self.flat.back @ frame.scale)
        return self.after(moved.solved())
