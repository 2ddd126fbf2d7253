"""A test function in a box, with its minimum."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Place = Literal["inside", "face", "corner"]


@dataclass(frozen=True)
class BoundedFunction:
    """A function in a box. `fun` takes points (..., d) and returns values (...)."""

    name: str
    fun: Callable[[np.ndarray], np.ndarray]
    low: np.ndarray
    high: np.ndarray
    minimiser: np.ndarray
    """A point of the box with the lowest value."""
    minimum: float
    multimodal: bool
    everywhere: bool
    """True if the function has the same minimum without the box."""

    @classmethod
    def make(
        cls,
        name: str,
        d: int,
        fun: Callable[[np.ndarray], Any],
        low: Any,
        high: Any,
        minimiser: Any,
        minimum: float | None = 0.0,
        *,
        multimodal: bool = False,
        everywhere: bool = False,
    ) -> "BoundedFunction":
        """Make a function whose bounds and minimiser are one number for all coordinates or one for each.

        None for the minimum takes the value at the minimiser.
        """
        lows, highs, best = (np.broadcast_to(np.asarray(each, float), (d,)).copy() for each in (low, high, minimiser))
        value = float(fun(best)) if minimum is None else minimum
        return cls(f"{name}, d = {d}", fun, lows, highs, best, value, multimodal, everywhere)

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return len(self.low)

    @property
    def target(self) -> float:
        """The value at which the function counts as solved: the minimum + 1e-8, relative to its size where that is above 1."""
        return self.minimum + 1e-8 * max(1.0, abs(self.minimum))

    @property
    def place(self) -> Place:
        """The place of the minimiser: inside the box, at some of its bounds, or at one bound in each coordinate."""
        active = (self.minimiser == self.low) | (self.minimiser == self.high)
        return "corner" if active.all() else "face" if active.any() else "inside"
