"""The map between what the objective takes and the unbounded space in which the search runs."""

from thalweg.space.bounds import make_space
from thalweg.space.box import Box
from thalweg.space.scaled import Scaled
from thalweg.space.space_map import SpaceMap
from thalweg.space.start import Sigma0, make_scaled_space, middle

__all__ = ["Box", "Scaled", "Sigma0", "SpaceMap", "make_scaled_space", "make_space", "middle"]
