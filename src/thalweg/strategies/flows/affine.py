"""A volume-preserving affine map: everything that a flow can learn without bending. The ablation for every gain by a bend."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular

from thalweg.strategies.flows.base import Flow
from thalweg.strategies.strategy import Array, Key


class AffineParams(NamedTuple):
    """The factors of y = shift + Low diag(exp(stretch - mean stretch)) Up e, as unconstrained numbers."""

    lower: Array
    """The entries of Low below its diagonal, which is 1; the others of this (d, d) matrix do not count."""
    upper: Array
    """The entries of Up above its diagonal, which is 1; the others of this (d, d) matrix do not count."""
    stretch: Array
    shift: Array


@dataclass(frozen=True)
class Affine(Flow):
    """An affine map of determinant 1 as a product of triangular factors: exact log-determinant, inverse by two solves.

    The mean of the stretch is subtracted, so that the map never concentrates the distribution: that is left to the latent.
    """

    volume_preserving: ClassVar[bool] = True
    affine: ClassVar[bool] = True

    def init(self, key: Key, d: int, dtype: Any = float) -> AffineParams:
        matrix, vector = jnp.zeros((d, d), dtype), jnp.zeros(d, dtype)
        return AffineParams(matrix, matrix, vector, vector)

    def forward(self, params: AffineParams, e: Array) -> Array:
        lower, upper, scale = factors(params)
        return params.shift + ((e @ upper.T) * scale) @ lower.T

    def inverse(self, params: AffineParams, y: Array) -> Array:
        lower, upper, scale = factors(params)
        flat = (y - params.shift).reshape(-1, y.shape[-1]).T
        flat = solve_triangular(lower, flat, lower=True, unit_diagonal=True)
        flat = solve_triangular(upper, flat / scale[:, None], lower=False, unit_diagonal=True)
        return flat.T.reshape(y.shape)

    def temper(self, params: AffineParams, factor: Array) -> AffineParams:
        return AffineParams(*(factor * part for part in params))


def factors(params: AffineParams) -> tuple[Array, Array, Array]:
    """Return Low and Up as (d, d) matrices, and the diagonal between them, whose product is 1."""
    eye = jnp.eye(params.stretch.shape[-1], dtype=params.stretch.dtype)
    return jnp.tril(params.lower, -1) + eye, jnp.triu(params.upper, 1) + eye, jnp.exp(params.stretch - params.stretch.mean())
