"""The map between what the objective takes and the unbounded space in which the search runs."""

from thalweg.space.bounds import make_space
from thalweg.space.box import Box
from thalweg.space.space import Space

__all__ = ["Box", "Space", "make_space"]
