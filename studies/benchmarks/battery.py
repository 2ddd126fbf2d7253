"""The landscapes on which sample efficiency is measured, all five in one compiled program.

Rosenbrock and the sphere are moved at random, the ellipsoid (1e6), the discus and the bent cigar are moved and rotated; all as
in the paper: x0 = 0, sigma0 = 1. Development seeds are below 1,000, report seeds from 1,000 on.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from thalweg.objectives import OBJECTIVES, Transform, make_problems

FUNCTIONS = ("rosenbrock", "sphere", "ellipsoid", "discus", "bent-cigar")
ROTATED = ("ellipsoid", "discus", "bent-cigar")
DEVELOPMENT = range(64)
REPORT = range(1000, 1100)
TARGET = 1e-8


class Landscape(NamedTuple):
    """Which function, where it lies and how it is turned."""

    which: Any
    shift: Any
    rotation: Any


def landscapes(d: int, seeds: Sequence[int], functions: Sequence[str] = FUNCTIONS) -> Landscape:
    """Every function on every seed's landscape, function by function, stacked along a leading axis."""
    parts: list[Landscape] = []
    for name in functions:
        _, transform = make_problems(name, d, seeds, rotate=name in ROTATED)
        rotation = np.broadcast_to(np.eye(d), (len(seeds), d, d)) if transform.rotation is None else transform.rotation
        parts.append(Landscape(np.full(len(seeds), FUNCTIONS.index(name)), transform.shift, rotation))
    return Landscape(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def value(x: Any, landscape: Landscape) -> Any:
    """The value of the function that the landscape names, at one point; all are computed, which is cheap."""
    plain, turned = Transform(landscape.shift, None), Transform(landscape.shift, landscape.rotation)
    values = [OBJECTIVES[name](x, turned if name in ROTATED else plain) for name in FUNCTIONS]
    return jnp.stack(values)[landscape.which]
