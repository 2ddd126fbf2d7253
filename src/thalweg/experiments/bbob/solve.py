"""One entrant on one problem, with restarts, until it is solved or the budget spent."""

from contextlib import suppress

from thalweg.experiments.bbob.entrant import Entrant
from thalweg.experiments.bbob.peers import PEERS
from thalweg.experiments.bbob.problem import OverError, Watched
from thalweg.experiments.bbob.record import Run
from thalweg.experiments.bbob.starts import RESTARTS, SIGMA0, Starts
from thalweg.minimize import minimize


def solve(entrant: Entrant, problem: Watched, starts: Starts, *, bipop: bool) -> Run:
    """Run an entrant; bounds are never given, as BBOB has none."""
    if entrant.is_peer:
        with suppress(OverError):
            PEERS[entrant.name](problem, starts, entrant.population(problem.d), bipop)
    else:
        _ours(entrant, problem, starts, bipop=bipop)
    return problem.run(max(0, starts.count - 1))


def _ours(entrant: Entrant, problem: Watched, starts: Starts, *, bipop: bool) -> None:
    """A registered method through the front door, as users call it."""
    minimize(
        problem.generation,
        starts(),
        SIGMA0,
        method=entrant.name,
        popsize=entrant.population(problem.d),
        max_evals=problem.budget,
        ftarget=problem.target,
        restarts=RESTARTS,
        seed=starts.seed(0, 2**63),
        vectorized=True,
        options=dict(entrant.options),
    )
