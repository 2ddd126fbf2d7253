"""Sizes that a checkpoint claims, held against the arrays that it has before anything of such a size is made.

A file of 5 kB may come from a stranger and name a dimension or a population of 1e8. The state and the constraints are in the
file, so they can be counted. The points of a generation are not: a file may ask for so many of them as go with its own size,
and `padding` makes the file of a large population long enough.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from thalweg._common.checks import shortened
from thalweg.compiled.keys import make_keys
from thalweg.strategies.strategy import Strategy

CONSTRAINTS = "constraints."
"""Prefix of the names of the augmented Lagrangian's arrays."""
PADDING = "padding"
"""Name of an array of zeros, which only files of large populations have."""
FREE = 2**22
"""Number of coordinates of all points of a generation that any file may ask for: 32 MiB."""
SHARE = 64
"""Number of coordinates for each byte of arrays that a file may ask for beyond that."""


def padding(coordinates: int, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return what a file with these arrays needs besides, so that it may ask for generations of so many coordinates.

    >>> padding(100, {}), padding(2**23, {})["padding"].size
    ({}, 131072)
    """
    missing = -(-coordinates // SHARE) - _bytes(arrays)
    return {PADDING: np.zeros(missing, np.uint8)} if coordinates > FREE and missing > 0 else {}


def coordinates(popsize: int, large_runs: int, d: int) -> int:
    """Return the number of coordinates in a generation of the next run with a doubled population."""
    return popsize * 2 ** min(99, large_runs + 1) * d


def check_generation(popsize: int, large_runs: int, d: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError if generations are larger than such a file may ask for."""
    if coordinates(popsize, large_runs, d) > max(FREE, SHARE * _bytes(arrays)):
        raise ValueError(f"a generation of {shortened(popsize)} points, doubled {large_runs + 1} times, in a file of this size")


def check_state(strategy: Strategy, d: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError if the strategy's state in dimension d has more numbers than the file has for it."""
    if not strategy.traceable:
        return
    held = sum(array.size for array in arrays.values())
    if d > held or _state_size(strategy, d) > held:
        raise ValueError(f"{d} coordinates, whose state has more numbers than the {held} in the file")


def check_constraints(number: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError if the file has not the multipliers of so many constraints."""
    multipliers = arrays.get(f"{CONSTRAINTS}multipliers")
    if multipliers is None or multipliers.shape != (number,):
        raise ValueError(f"{number} constraints, whose multipliers are not in the file")


@lru_cache(maxsize=64)
def _state_size(strategy: Strategy, d: int) -> int:
    """Return the number of numbers in the strategy's state; nothing is computed for that."""
    with jax.enable_x64(True):
        point = jax.ShapeDtypeStruct((d,), float)
        leaves: list[Any] = jax.tree.leaves(jax.eval_shape(strategy.init, make_keys([0])[0], point, 1.0))
    return sum(math.prod(leaf.shape) for leaf in leaves)


def _bytes(arrays: Mapping[str, np.ndarray]) -> int:
    return sum(array.nbytes for array in arrays.values())
