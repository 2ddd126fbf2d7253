"""Symmetric factors by which a root is updated, of no more work than the draws that they come from; docs/math.md (6).

An update in standard coordinates is a function of S = sum w_i e_i e_i', which has the rank of the few draws at most. Outside of
their span the function is a multiple of the identity, so that the eigenvectors of a matrix as small as the population suffice:
a generation costs O(d^2 n), and no eigendecomposition, factorisation or product of d by d matrices.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from thalweg.strategies.latents.frame import Frame, SolvedFrame
from thalweg.strategies.strategy import Array


class Turn(NamedTuple):
    """A symmetric positive definite matrix, basis diag(exp(logs)) basis' + exp(rest) (I - basis basis')."""

    basis: Array
    """Orthonormal columns (d, r); r = d where the draws span all of the space."""
    logs: Array
    """Logarithms (r,) of the eigenvalues along these."""
    rest: Array
    """The logarithm of the others."""

    def after(self, root: Array) -> Array:
        """Return root T."""
        return _between(root @ self.basis, self.basis.T, self.logs, self.rest, root)

    def undone_before(self, inverse: Array) -> Array:
        """Return T^-1 inverse, the inverse of `after`."""
        return _between(self.basis, self.basis.T @ inverse, -self.logs, -self.rest, inverse)

    def log_det(self) -> Array:
        """Return log det T."""
        d, r = self.basis.shape
        return jnp.sum(self.logs) + (d - r) * self.rest


def turn_of(e: Array, weights: Array, logs: Callable[[Array], Array]) -> Turn:
    """Return the matrix with the eigenvectors of S = sum w_i e_i e_i', e (m, d), and exp(logs(s)) for each eigenvalue s of S.

    >>> e, w = jnp.asarray([[1.0, 0.0, 0.0]]), jnp.asarray([3.0])
    >>> turn_of(e, w, lambda s: jnp.log(1 + s)).after(jnp.eye(3)).round(6).tolist()
    [[4.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    m, d = e.shape
    rest: Any = logs(jnp.zeros((), e.dtype))
    if 2 * m > d:
        vectors, values = jax.lax.linalg.eigh((e * weights[:, None]).T @ e, symmetrize_input=False)
        return Turn(vectors, logs(values), rest)
    span, small = jnp.linalg.qr(e.T)
    vectors, values = jax.lax.linalg.eigh((small * weights) @ small.T, symmetrize_input=False)
    return Turn(span @ vectors, logs(values), rest)


def turned(state: Any, turn: Turn) -> Any:
    """Return the state of a latent with root T in place of its root, and the inverse and the volume of that."""
    return state._replace(
        root=turn.after(state.root),
        inverse=turn.undone_before(state.inverse),
        log_volume=state.log_volume + turn.log_det(),
    )


def solve_refined(state: Any, y: Array) -> Array:
    """Return root^-1 y by an inverse that rounding has moved a little; one correction makes up for that."""
    x = state.inverse @ y
    return x + state.inverse @ (y - state.root @ x)


def with_root(state: Any, frame: SolvedFrame) -> Any:
    """Return the state with this frame's scale as its root, in units of sigma; with its inverse, if the state has one."""
    state = state._replace(root=frame.frame.scale / state.sigma)
    if getattr(state, "inverse", None) is None:
        return state
    size = frame.frame.mean.shape[-1] * jnp.log(state.sigma)
    return state._replace(inverse=frame.inverse_scale * state.sigma, log_volume=frame.log_volume - size)


def solved_root(state: Any, frame: Frame) -> SolvedFrame:
    """Return the frame with its inverse, which some states hold and others must compute."""
    if getattr(state, "inverse", None) is None:
        return frame.solved()
    size = frame.mean.shape[-1] * jnp.log(state.sigma)
    return SolvedFrame(frame, state.inverse / state.sigma, state.log_volume + size)


def _between(left: Array, right: Array, logs: Array, rest: Array, other: Array) -> Array:
    r = logs.shape[0]
    if r == other.shape[0]:  # the whole space
        return (left * jnp.exp(logs)) @ right
    return (left * (jnp.exp(logs) - jnp.exp(rest))) @ right + jnp.exp(rest) * other
