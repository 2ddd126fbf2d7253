"""Types of the arguments that describe variables."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from thalweg._common.types import ArrayLike
from thalweg.space.space import Space


class Sided(Protocol):
    """Bounds as scipy has them, in `scipy.optimize.Bounds`."""

    @property
    def lb(self) -> Any: ...

    @property
    def ub(self) -> Any: ...


Start: TypeAlias = ArrayLike | Callable[[np.random.Generator], ArrayLike] | Space | None
"""Type of the argument `x0`."""

BoundsLike: TypeAlias = Sequence[float | None] | Sequence[Sequence[float | None]] | np.ndarray | Sided | None
"""Type of the argument `bounds`: one pair (low, high), a pair for each coordinate, or scipy's object; None is an open side."""

Mask: TypeAlias = Sequence[int] | np.ndarray | None
"""Type of the arguments `integers` and `log`: indices of coordinates, or True and False for each."""
