"""The engine `jax`: an entrant on all problems of a dimension at once, in one compiled program, on any device.

Functions and starts are those of the engine `coco`, and a problem's runs are those that `minimize` makes from the same seed.
"""

from collections.abc import Sequence
from math import inf

import jax
import numpy as np

from thalweg import Tolerances, make_strategy, run_restarts
from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.functions import BBOBProblem, make_problem, value
from thalweg_studies.bbob.plan import Settings, Trial
from thalweg_studies.bbob.record import LADDER, SOLVED, Run
from thalweg_studies.bbob.starts import RESTARTS, SIGMA0, drawn, problem_seed


def check(entrants: Sequence[Entrant]) -> None:
    """Raise a ValueError if JAX cannot compile one of the entrants."""
    for entrant in entrants:
        if entrant.model:
            raise ValueError(f"{entrant.label} has a model, which --engine jax cannot run; use --engine coco")
        if entrant.is_peer or not make_strategy(entrant.name, **Tolerances.pick(dict(entrant.options))[1]).traceable:
            raise ValueError(f"{entrant.label} is not a method that JAX can compile, as --engine jax needs; use --engine coco")


def run_together(settings: Settings, trials: Sequence[Trial]) -> list[Run]:
    """Return the records of trials that differ in function and instance only."""
    entrant, _, d, _ = trials[0]
    budget = settings.evaluations(d)
    problems: BBOBProblem = jax.tree.map(
        lambda *parts: np.stack(parts), *(make_problem(t.function, t.instance, d) for t in trials)
    )
    found = run_restarts(
        entrant.name,
        value,
        drawn(d),
        SIGMA0,
        seeds=[problem_seed(settings.seed, trial.function, d, trial.instance) for trial in trials],
        max_evals=budget,
        restarts=RESTARTS,
        bipop=settings.restarts == "bipop",
        popsize=entrant.population(d),
        args=(problems,),
        ftarget=problems.f_opt + SOLVED,
        targets=problems.f_opt[:, None] + np.array(LADDER),
        options=dict(entrant.options),
    )
    # the last generation may exceed the budget: targets reached beyond it do not count, and the best value is above them
    hits = np.where(found.hits <= budget, found.hits, inf)
    missed = np.where(np.isinf(hits), np.nextafter(LADDER, inf), -inf).max(1)
    ends, best = np.minimum(found.evaluations, budget), np.maximum(found.fun - problems.f_opt, missed)
    return [
        Run(int(end), float(least), int(restarts), tuple(row.tolist()))
        for end, least, restarts, row in zip(ends, best, found.restarts, hits, strict=True)
    ]
