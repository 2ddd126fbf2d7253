"""What a flow is: a bijection of R^d with parameters, the identity before it has learned anything."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from thalweg.types import Array, Key, Params


@dataclass(frozen=True)
class Flow(ABC):
    """A bijection of R^d with learnable parameters. All methods take points of shape (..., d)."""

    volume_preserving: ClassVar[bool] = False
    """Whether `log_det` is 0 everywhere."""

    learnable: ClassVar[bool] = True
    """Whether there is anything to learn; a flow without parameters is never trained."""

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
