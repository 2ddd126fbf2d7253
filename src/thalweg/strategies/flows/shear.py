"""A quadratic shear along one axis, with another flow inside: the bend of a curved valley; docs/math.md (25)."""

from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp

from thalweg.strategies.flows.base import Flow
from thalweg.strategies.flows.identity import Identity
from thalweg.strategies.strategy import Array, Key, Params


class ShearParams(NamedTuple):
    axis: Array
    """v, the direction in which a point is measured; its length does not matter."""
    bow: Array
    """w, the displacement; its part along v does not matter."""
    inner: Params


@dataclass(frozen=True)
class Shear(Flow):
    """T(e) = y + w ((v.y)^2 - 1) / sqrt(2) with y = inner(e), |v| = 1 and v.w = 0: straight lines along v become parabolas.

    It has d parameters besides the axis, is inverted in one pass, and remains a shear after an affine map. In the latent's own
    coordinates it is not trained by a gradient but fitted to the best points of recent generations
    (`thalweg.strategies.flowsteps.Valley`).

    >>> import jax
    >>> flow, e = Shear(), jax.numpy.asarray([2.0, 0.0])
    >>> params = flow.init(jax.random.key(0), 2)._replace(axis=jax.numpy.asarray([1.0, 0.0]), bow=jax.numpy.asarray([0.0, 1.0]))
    >>> flow.forward(params, e).round(4).tolist()
    [2.0, 2.1213]
    """

    inner: Flow = field(default_factory=Identity)

    volume_preserving: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.inner.volume_preserving:
            raise ValueError(f"inner must preserve volume, got {self.inner!r}; use NICE, Affine or Identity")

    def init(self, key: Key, d: int, dtype: Any = float) -> ShearParams:
        return ShearParams(jnp.full(d, 1 / sqrt(d), dtype), jnp.zeros(d, dtype), self.inner.init(key, d, dtype))

    def forward(self, params: ShearParams, e: Array) -> Array:
        return shear(*normal(params), self.inner.forward(params.inner, e))

    def inverse(self, params: ShearParams, y: Array) -> Array:
        axis, bow = normal(params)
        return self.inner.inverse(params.inner, shear(axis, -bow, y))

    def temper(self, params: ShearParams, factor: Array) -> ShearParams:
        return params._replace(bow=factor * params.bow, inner=self.inner.temper(params.inner, factor))


def shear(axis: Array, bow: Array, e: Array) -> Array:
    """Return e + bow ((axis.e)^2 - 1) / sqrt(2) for the points e; -bow gives the inverse."""
    return e + ((e @ axis) ** 2 - 1)[..., None] * (bow / sqrt(2))


def normal(params: ShearParams) -> tuple[Array, Array]:
    """Return the axis with length 1, and the part of the bow orthogonal to it."""
    axis = params.axis / jnp.linalg.norm(params.axis)
    return axis, params.bow - axis * (axis @ params.bow)
