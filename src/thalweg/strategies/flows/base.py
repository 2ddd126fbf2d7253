"""The interface of a flow: a bijection of R^d with parameters, initially the identity."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp

from thalweg.strategies.strategy import Array, Key, Params


@dataclass(frozen=True)
class Flow(ABC):
    """A bijection of R^d with learnable parameters. All methods take points of shape (..., d)."""

    volume_preserving: ClassVar[bool] = False
    """True if `log_det` is 0 everywhere."""
    learnable: ClassVar[bool] = True
    """True if the flow has parameters to learn; one without is never trained."""
    affine: ClassVar[bool] = False
    """True if the map is affine for all parameters; everything it learns can then be handed to the latent."""

    @abstractmethod
    def init(self, key: Key, d: int, dtype: Any = float) -> Params:
        """Return parameters in dimension d at which the flow is exactly the identity."""

    @abstractmethod
    def forward(self, params: Params, e: Array) -> Array:
        """Return the images y of the points e."""

    @abstractmethod
    def inverse(self, params: Params, y: Array) -> Array:
        """Return the points e whose images are y."""

    def log_det(self, params: Params, e: Array) -> Array:
        """Return log |det d forward / d e| at the points e, shape (...). By default 0, for flows that preserve volume."""
        if not self.volume_preserving:
            raise NotImplementedError(f"{type(self).__name__} must define log_det, or be volume_preserving")
        return jnp.zeros(e.shape[:-1], e.dtype)

    def temper(self, params: Params, factor: Array) -> Params:
        """Return parameters that bend less: factor 1 changes nothing, 0 gives the identity. By default nothing changes."""
        return params
