"""Objectives: test functions with known minima for numpy and JAX, external programs, and policy search.

>>> from thalweg.objectives import OBJECTIVES, translated
>>> sorted(OBJECTIVES)[:4]
['beale', 'bent-cigar', 'cigar', 'discus']
>>> translated("rosenbrock", 10, seed=1).x_opt.shape
(10,)
"""

from thalweg.objectives.base import Objective, Transform
from thalweg.objectives.command import Command
from thalweg.objectives.functions import OBJECTIVES, banana
from thalweg.objectives.problems import make_problems, rotated, translated

__all__ = ["OBJECTIVES", "Command", "Objective", "Transform", "banana", "make_problems", "rotated", "translated"]
