"""Constraints: their description, their values as rows, and the augmented Lagrangian that a strategy learns from."""

from thalweg.search.constraints.description import Constraints, ConstraintsLike
from thalweg.search.constraints.kinds import Kinds
from thalweg.search.constraints.lagrangian import Lagrangian

__all__ = ["Constraints", "ConstraintsLike", "Kinds", "Lagrangian"]
