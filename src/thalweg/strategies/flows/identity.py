"""The identity flow. With it, `GNNES` equals its latent to the last bit."""

from dataclasses import dataclass
from typing import Any, ClassVar

from thalweg.strategies.flows.base import Flow
from thalweg.strategies.strategy import Array, Key


@dataclass(frozen=True)
class Identity(Flow):
    """The map e -> e. It has no parameters and learns nothing."""

    volume_preserving: ClassVar[bool] = True
    learnable: ClassVar[bool] = False
    affine: ClassVar[bool] = True

    def init(self, key: Key, d: int, dtype: Any = float) -> tuple[()]:
        return ()

    def forward(self, params: tuple[()], e: Array) -> Array:
        return e

    def inverse(self, params: tuple[()], y: Array) -> Array:
        return y
