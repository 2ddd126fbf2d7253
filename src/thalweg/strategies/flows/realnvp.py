"""Real-NVP: affine couplings (Dinh et al. 2016), for comparison: unlike NICE it can concentrate a distribution."""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp

from thalweg.strategies.flows.nice import NICE, Coupling, merge, shift, split
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True)
class RealNVP(NICE):
    """A stack of affine couplings v2 = u2 exp(s(u1)) + t(u1); s and t are the two halves of the output of one network.

    Only the couplings differ from `NICE`. A tanh keeps the log-scale in (-bound, bound): without it one coupling can overflow.
    """

    bound: float = 2.0

    volume_preserving: ClassVar[bool] = False

    def init(self, key: Key, d: int, dtype: Any = float) -> tuple[Coupling, ...]:
        layers = super().init(key, d, dtype)
        return tuple(layer._replace(out=jnp.tile(layer.out, (1, 2)), out_bias=jnp.tile(layer.out_bias, 2)) for layer in layers)

    def forward(self, params: tuple[Coupling, ...], e: Array) -> Array:
        return self._forward(params, e)[0]

    def inverse(self, params: tuple[Coupling, ...], y: Array) -> Array:
        parts = list(split(y, self.mask))
        for i, layer in reversed(list(enumerate(params))):
            log_scale, move = self._coefficients(layer, parts[i % 2])
            parts[(i + 1) % 2] = (parts[(i + 1) % 2] - move) * jnp.exp(-log_scale)
        return merge(parts[0], parts[1], self.mask)

    def log_det(self, params: tuple[Coupling, ...], e: Array) -> Array:
        return self._forward(params, e)[1]

    def _forward(self, params: tuple[Coupling, ...], e: Array) -> tuple[Array, Array]:
        parts = list(split(e, self.mask))
        log_det = jnp.zeros(e.shape[:-1], e.dtype)
        for i, layer in enumerate(params):
            log_scale, move = self._coefficients(layer, parts[i % 2])
            parts[(i + 1) % 2] = parts[(i + 1) % 2] * jnp.exp(log_scale) + move
            log_det = log_det + log_scale.sum(-1)
        return merge(parts[0], parts[1], self.mask), log_det

    def _coefficients(self, layer: Coupling, u: Array) -> tuple[Array, Array]:
        """Return the log-scale s(u) and the shift t(u) of one coupling."""
        raw, move = jnp.split(shift(layer, u), 2, axis=-1)
        return self.bound * jnp.tanh(raw / self.bound), move
