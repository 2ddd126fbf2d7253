"""All test functions by name; a new one is a function in its family's file and a word here."""

from thalweg.objectives.base import Objective
from thalweg.objectives.multimodal import BEALE, GRIEWANK, RASTRIGIN, STYBLINSKI
from thalweg.objectives.quadratics import CIGAR, DISCUS, ELLIPSOID, SPHERE
from thalweg.objectives.valleys import BENT_CIGAR, ROSENBROCK

_ALL = (SPHERE, ELLIPSOID, DISCUS, CIGAR, ROSENBROCK, BENT_CIGAR, RASTRIGIN, GRIEWANK, BEALE, STYBLINSKI)

OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _ALL}


def find(objective: str | Objective) -> Objective:
    """The objective of that name; an objective is returned as it is."""
    if isinstance(objective, Objective):
        return objective
    if objective not in OBJECTIVES:
        raise ValueError(f"unknown objective {objective!r}; choose one of {', '.join(OBJECTIVES)}, or pass an Objective")
    return OBJECTIVES[objective]
