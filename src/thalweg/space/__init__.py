"""The map between what the objective takes and the unbounded space in which the search runs."""

from thalweg.space.bounds import make_space
from thalweg.space.box import Box
from thalweg.space.logarithmic import Logarithmic
from thalweg.space.rounded import Rounded
from thalweg.space.scaled import Scaled
from thalweg.space.space import Space
from thalweg.space.space_map import SpaceMap
from thalweg.space.start import Sigma0, make_scaled_space, middle
from thalweg.space.types import BoundsLike, Mask, Start
from thalweg.space.variables import CATEGORICAL, Fixed, Integer, Real
from thalweg.space.with_fixed import WithFixed

__all__ = [
    "CATEGORICAL",
    "BoundsLike",
    "Box",
    "Fixed",
    "Integer",
    "Logarithmic",
    "Mask",
    "Real",
    "Rounded",
    "Scaled",
    "Sigma0",
    "Space",
    "SpaceMap",
    "Start",
    "WithFixed",
    "make_scaled_space",
    "make_space",
    "middle",
]
