"""The functions of an experiment in one compiled program: which one a run sees is data, so all share a compilation."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from thalweg.objectives import OBJECTIVES, Transform, make_problems
from thalweg.strategies.strategy import Array


class Landscape(NamedTuple):
    """Which function, where it lies and how it is turned; stacked along a leading axis, one a run."""

    which: Any
    shift: Any
    rotation: Any


def draw(functions: tuple[str, ...], function: str, d: int, seeds: Sequence[int]) -> Landscape:
    """The landscapes of the seeds; they depend on seed, function and dimension alone, so all arms meet the same.

    >>> draw(("rosenbrock", "bent-cigar"), "bent-cigar", 2, [7, 8]).rotation.shape
    (2, 2, 2)
    """
    _, transform = make_problems(function, d, seeds)
    rotation = np.broadcast_to(np.eye(d), (len(seeds), d, d)) if transform.rotation is None else transform.rotation
    return Landscape(np.full(len(seeds), functions.index(function)), transform.shift, rotation)


@cache
def family(functions: tuple[str, ...]) -> Callable[[Array, Landscape], Array]:
    """The value of the function that the landscape names, at one point; all are computed, which is cheap.

    The same names give the same function object, for which compiled programs are kept.
    """

    def value(x: Array, landscape: Landscape) -> Array:
        plain, turned = Transform(landscape.shift), Transform(landscape.shift, landscape.rotation)
        values = [OBJECTIVES[name](x, turned if OBJECTIVES[name].takes_rotation else plain) for name in functions]
        return jnp.stack(values)[landscape.which]

    return value
