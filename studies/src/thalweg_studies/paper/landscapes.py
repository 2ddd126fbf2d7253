"""The functions of an experiment in one compiled program: the choice of the function is data, so all share a compilation."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from thalweg.objectives import OBJECTIVES, Transform, make_problems
from thalweg.strategies.strategy import Array


class Landscape(NamedTuple):
    """A function with its translation and rotation; stacked along a leading axis, one for each run."""

    which: Any
    """The index of the function."""
    shift: Any
    rotation: Any


def draw(functions: tuple[str, ...], function: str, d: int, seeds: Sequence[int]) -> Landscape:
    """Draw the landscapes of the seeds; they depend on seed, function and dimension alone, so all algorithms meet the same.

    >>> draw(("rosenbrock", "bent-cigar"), "bent-cigar", 2, [7, 8]).rotation.shape
    (2, 2, 2)
    """
    _, transform = make_problems(function, d, seeds)
    rotation = np.broadcast_to(np.eye(d), (len(seeds), d, d)) if transform.rotation is None else transform.rotation
    return Landscape(np.full(len(seeds), functions.index(function)), transform.shift, rotation)


@cache
def family(functions: tuple[str, ...]) -> Callable[[Array, Landscape], Array]:
    """Return a function that evaluates the function of a landscape at one point; it computes all, which is cheap.

    The same names give the same function object, for which compiled programs are kept.
    """

    def value(x: Array, landscape: Landscape) -> Array:
        plain, turned = Transform(landscape.shift), Transform(landscape.shift, landscape.rotation)
        values = [OBJECTIVES[name](x, turned if OBJECTIVES[name].takes_rotation else plain) for name in functions]
        return jnp.stack(values)[landscape.which]

    return value
