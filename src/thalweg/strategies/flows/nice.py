"""NICE: additive couplings (Dinh et al. 2014), the flow of the paper; docs/math.md (7)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import jax
import jax.numpy as jnp

from thalweg.strategies.flows.base import Flow
from thalweg.strategies.strategy import Array, Key


class Coupling(NamedTuple):
    """The network of a coupling, one hidden layer of tanh: t(u) = tanh(u W + b) W' + b'."""

    hidden: Array
    hidden_bias: Array
    out: Array
    out_bias: Array


@dataclass(frozen=True)
class NICE(Flow):
    """A stack of additive couplings. Its Jacobian determinant is 1: it bends a distribution and never concentrates it.

    The defaults are the paper's (section 5.2): three couplings, one hidden layer of 16 tanh units. Output weights start at
    zero, which makes the initial map exactly the identity; hidden weights start random, which breaks the symmetry.
    """

    couplings: int = 3
    width: int = 16
    mask: Literal["even-odd", "halves"] = "even-odd"

    volume_preserving: ClassVar[bool] = True

    def init(self, key: Key, d: int, dtype: Any = float) -> tuple[Coupling, ...]:
        parts = [part.shape[-1] for part in split(jnp.zeros(d), self.mask)]
        inputs = [parts[layer % 2] for layer in range(self.couplings)]
        # one draw for all layers: generators are slow to compile
        normals = jax.random.normal(key, ((sum(inputs) + self.couplings) * self.width,), dtype)
        layers: list[Coupling] = []
        for layer, n_in in enumerate(inputs):
            weights, biases, normals = jnp.split(normals, [n_in * self.width, (n_in + 1) * self.width])
            n_out = parts[(layer + 1) % 2]
            layers.append(
                Coupling(
                    weights.reshape(n_in, self.width) / jnp.sqrt(max(n_in, 1)).astype(dtype),
                    biases * 0.5,
                    jnp.zeros((self.width, n_out), dtype),
                    jnp.zeros((n_out,), dtype),
                )
            )
        return tuple(layers)

    def forward(self, params: tuple[Coupling, ...], e: Array) -> Array:
        parts = list(split(e, self.mask))
        for i, layer in enumerate(params):
            parts[(i + 1) % 2] = parts[(i + 1) % 2] + shift(layer, parts[i % 2])
        return merge(parts[0], parts[1], self.mask)

    def inverse(self, params: tuple[Coupling, ...], y: Array) -> Array:
        parts = list(split(y, self.mask))
        for i, layer in reversed(list(enumerate(params))):
            parts[(i + 1) % 2] = parts[(i + 1) % 2] - shift(layer, parts[i % 2])
        return merge(parts[0], parts[1], self.mask)

    def temper(self, params: tuple[Coupling, ...], factor: Array) -> tuple[Coupling, ...]:
        return tuple(layer._replace(out=factor * layer.out, out_bias=factor * layer.out_bias) for layer in params)


def shift(layer: Coupling, u: Array) -> Array:
    """Return t(u), the shift that a coupling adds to the other part."""
    return jnp.tanh(u @ layer.hidden + layer.hidden_bias) @ layer.out + layer.out_bias


def split(e: Array, mask: str) -> tuple[Array, Array]:
    """Return the two parts of the coordinates, which shift each other in turn."""
    if mask == "even-odd":
        return e[..., 0::2], e[..., 1::2]
    half = (e.shape[-1] + 1) // 2
    return e[..., :half], e[..., half:]


def merge(first: Array, second: Array, mask: str) -> Array:
    """Return the coordinates from the two parts that `split` gives."""
    if mask == "even-odd":  # interleave; the odd part is one short in odd dimension
        d = first.shape[-1] + second.shape[-1]
        padded = jnp.pad(second, [(0, 0)] * (second.ndim - 1) + [(0, first.shape[-1] - second.shape[-1])])
        return jnp.stack([first, padded], axis=-1).reshape(*first.shape[:-1], -1)[..., :d]
    return jnp.concatenate([first, second], axis=-1)
