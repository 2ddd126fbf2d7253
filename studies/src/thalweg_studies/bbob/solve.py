"""The run of one entrant on one problem, with restarts, until it is solved or the budget spent."""

from contextlib import suppress
from typing import Any

from thalweg import minimize
from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.observed import FinishedError, ObservedProblem
from thalweg_studies.bbob.peers import PEERS
from thalweg_studies.bbob.record import Run
from thalweg_studies.bbob.starts import RESTARTS, SIGMA0, Starts, drawn


def solve(entrant: Entrant, problem: ObservedProblem, seed: int, *, bipop: bool) -> Run:
    """Run an entrant, without bounds, as BBOB has none."""
    popsize = entrant.population(problem.d)
    if entrant.is_peer:
        starts = Starts(seed, problem.d)
        with suppress(FinishedError):
            PEERS[entrant.name](problem, starts, popsize, bipop)
        return problem.run(max(0, starts.count - 1))
    # a model is asked for single points, and decides after each value how many more it needs
    with_model: dict[str, Any] = {"model": entrant.model} if entrant.model else {"vectorized": True}
    result = minimize(
        problem.single if entrant.model else problem.generation,
        drawn(problem.d),
        SIGMA0,
        method=entrant.name,
        popsize=popsize,
        max_evals=problem.budget,
        ftarget=problem.target,
        restarts=RESTARTS,
        bipop=bipop,
        seed=seed,
        options=dict(entrant.options),
        **with_model,
    )
    return problem.run(result.restarts)
