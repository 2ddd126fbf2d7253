"""The test functions by name; a new one is a function in a file beside this one and an entry here."""

from thalweg.objectives.base import Objective
from thalweg.objectives.multimodal import BEALE, GRIEWANK, RASTRIGIN, STYBLINSKI
from thalweg.objectives.quadratics import CIGAR, DISCUS, ELLIPSOID, SPHERE
from thalweg.objectives.valleys import BENT_CIGAR, ROSENBROCK

_ALL = (SPHERE, ELLIPSOID, DISCUS, CIGAR, ROSENBROCK, BENT_CIGAR, RASTRIGIN, GRIEWANK, BEALE, STYBLINSKI)

OBJECTIVES: dict[str, Objective] = {objective.name: objective for objective in _ALL}


def find_objective(objective: str | Objective) -> Objective:
    """Return the objective of that name; an `Objective` is returned as it is."""
    if isinstance(objective, Objective):
        return objective
    if objective not in OBJECTIVES:
        raise ValueError(f"objective {objective!r} is unknown; pass one of {', '.join(OBJECTIVES)}, or an Objective")
    return OBJECTIVES[objective]
