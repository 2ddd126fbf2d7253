"""The landscapes on which sample efficiency is measured, all five in one compiled program.

Rosenbrock and the sphere are translated at random; the ellipsoid (1e6), the discus and the bent cigar are translated and
rotated. As in the paper, x0 = 0 and sigma0 = 1. Development seeds are below 1,000, report seeds from 1,000 on.
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
    """A translated and rotated function."""

    which: Any
    """Index in `FUNCTIONS`."""
    shift: Any
    rotation: Any


def landscapes(d: int, seeds: Sequence[int], functions: Sequence[str] = FUNCTIONS) -> Landscape:
    """Return every function on every seed's landscape, function by function, stacked along a leading axis."""
    parts: list[Landscape] = []
    for name in functions:
        _, transform = make_problems(name, d, seeds, rotate=name in ROTATED)
        rotation = np.broadcast_to(np.eye(d), (len(seeds), d, d)) if transform.rotation is None else transform.rotation
        parts.append(Landscape(np.full(len(seeds), FUNCTIONS.index(name)), transform.shift, rotation))
    return Landscape(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def value(x: Any, landscape: Landscape) -> Any:
    """Return the value of the landscape at one point; all functions are computed, which is cheap, and one is selected."""
    plain, turned = Transform(landscape.shift, None), Transform(landscape.shift, landscape.rotation)
    values = [OBJECTIVES[name](x, turned if name in ROTATED else plain) for name in FUNCTIONS]
    return jnp.stack(values)[landscape.which]
