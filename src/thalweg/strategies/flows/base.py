"""What a flow is: a bijection of R^d with parameters, the identity before it has learned anything."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from thalweg.strategies.strategy import Array, Key, Params


@dataclass(frozen=True)
class Flow(ABC):
    """A bijection of R^d with learnable parameters. All methods take points of shape (..., d)."""

    volume_preserving: ClassVar[bool] = False
    """Whether `log_det` is 0 everywhere."""

    learnable: ClassVar[bool] = True
    """Whether there is anything to learn; a flow without parameters is never trained."""

    affine: ClassVar[bool] = False
    """Whether the map is affine for all parameters; everything it learns can then be handed to the latent."""

    @abstractmethod
    def init(self, key: Key, d: int, dtype: Any = float) -> Params:
        """Parameters in dimension d at which the flow is exactly the identity."""

    @abstractmethod
    def forward(self, params: Params, e: Array) -> Array:
        """Bend the points e."""

    @abstractmethod
    def inverse(self, params: Params, y: Array) -> Array:
        """Undo `forward`."""

    @abstractmethod
    def log_det(self, params: Params, e: Array) -> Array:
        """log |det d forward / d e| at the points e, shape (...)."""

    def temper(self, params: Params, factor: Array) -> Params:
        """Parameters that bend less: 1 changes nothing, 0 gives the identity. A flow that cannot is left as it is."""
        return params
