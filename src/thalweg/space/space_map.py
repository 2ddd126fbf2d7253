"""The space of a search: the map between the points that the objective takes and R^d, where the strategy searches."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.space.cells import Cells

Points = Any
"""An array (..., d) of numpy or JAX."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True, eq=False)
class SpaceMap:
    """The identity: the objective takes the points as they are drawn. Spaces are pytrees of arrays.

    `Box` has bounds, `Scaled` a unit for each coordinate, `Logarithmic` coordinates that are searched by their logarithms, and
    `WithFixed` fixed values.

    >>> SpaceMap().to_objective(np.array([3.0])), SpaceMap().contains(np.array([3.0])).tolist()
    (array([3.]), [True])
    """

    def to_objective(self, y: Points, xp: Any = np) -> Points:
        """Map points of R^d to what the objective takes; `xp` is numpy or jax.numpy."""
        return y

    def to_search(self, x: Points, xp: Any = np) -> Points:
        """Map feasible points to points of R^d that `to_objective` maps back to them."""
        return x

    def contains(self, x: Points) -> np.ndarray:
        """Tell for each coordinate whether it is feasible."""
        return np.ones(np.shape(x), bool)

    def check(self, x: Points, name: str) -> None:
        """Raise a ValueError if a point (or one of several) lies outside; `name` is the argument it came from."""
        inside = self.contains(x)
        if not np.all(inside):
            i = tuple(int(place) for place in np.argwhere(~inside)[0])
            low, high = (np.broadcast_to(side, np.shape(x))[i] for side in self.sides)
            value, where = np.asarray(x)[i], f"{name}[{', '.join(map(str, i))}]"
            if low <= value <= high and value != np.round(value) and np.broadcast_to(self.whole_numbers, np.shape(x))[i]:
                raise ValueError(f"{where} = {value:g} must be a whole number, as the coordinate is among integers")
            if low <= value <= high:
                raise ValueError(f"{where} = {value:g} must be above 0, as the coordinate is logarithmic")
            raise ValueError(f"{where} = {value:g} lies outside its bounds ({low:g}, {high:g}); move it inside")

    def restart_point(self, x0: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the point at which a restart begins: x0, or a random coordinate where both sides are bounded."""
        return x0

    def spread(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return standard deviations in units of the objective's argument, given those in R^d around y."""
        return std * self.scale

    def linearised(self, y: np.ndarray, root: np.ndarray) -> np.ndarray:
        """Return the image of the columns of `root`, steps in R^d, under the map's derivative at y; rounding is left out."""
        with jax.enable_x64(True):
            slopes = jax.jvp(lambda y: self.to_objective(y, jnp), (jnp.asarray(y),), (jnp.ones_like(y),))[1]
        return np.asarray(slopes)[:, None] * root

    def cells(self, y: Points, xp: Any = np) -> Cells | None:
        """Return the cells of whole numbers in which points of R^d lie; None where no coordinate is a whole number."""
        return None

    @property
    def scale(self) -> Any:
        """The unit of each coordinate, one number or one for each: a length in R^d times this is one in the coordinate.

        Of a logarithmic coordinate it is the unit of the logarithm.
        """
        return 1.0

    @property
    def unit(self) -> float:
        """The geometric mean of the units."""
        return float(np.exp(np.mean(np.log(self.scale))))

    @property
    def widest(self) -> Any:
        """The largest standard deviation that the search distribution may have in each coordinate of R^d.

        It is a quarter of the width of closed bounds, docs/math.md (23). A wider distribution puts most points on mirrored
        images, so that values can hardly tell a search to become narrower again.
        """
        return np.asarray(np.inf)

    @property
    def logarithmic(self) -> Any:
        """True for each coordinate that is searched by its logarithm, or for all or none."""
        return np.asarray(False)

    @property
    def whole_numbers(self) -> Any:
        """True for each coordinate that takes whole numbers alone, or for all or none."""
        return np.asarray(False)

    @property
    def bounded(self) -> bool:
        """True if some side of some coordinate has a bound."""
        return False

    @property
    def closed(self) -> np.ndarray:
        """True for each coordinate with bounds on both sides."""
        return np.zeros((), bool)

    @property
    def sides(self) -> tuple[Any, Any]:
        """Lower and upper bounds, infinite where a side is open."""
        return np.asarray(-np.inf), np.asarray(np.inf)

    @property
    def pairs(self) -> list[list[float | None]] | None:
        """The bounds as plain pairs (low, high) that `make_space` reads; None is an open side."""
        if not self.bounded:
            return None
        sides = [[value if np.isfinite(value) else None for value in side.tolist()] for side in self.sides]
        return [list(pair) for pair in zip(*sides, strict=True)]
