"""The engine `jax`: an entrant on all problems of a dimension at once, in one compiled program, on any device.

Functions and starts are those of the engine `coco`, and a problem's runs are those that `minimize` makes from the same seed.
"""

from collections.abc import Sequence
from math import inf

import jax
import numpy as np

from thalweg.batch.run_restarts import run_restarts
from thalweg.objectives.bbob import BBOBProblem, make_problem, value
from thalweg.search.stopping import Tolerances
from thalweg.strategies.registry import make_strategy
from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.plan import Unit
from thalweg_studies.bbob.record import LADDER, SOLVED, Run
from thalweg_studies.bbob.starts import RESTARTS, SIGMA0, drawn, problem_seed
from thalweg_studies.bbob.store import Store
from thalweg_studies.bbob.work import Failure, Watch, in_words
from thalweg_studies.paper.work import Report, silent


def check(entrants: Sequence[Entrant]) -> None:
    """Refuse those that JAX cannot compile, before anything is run."""
    for entrant in entrants:
        if entrant.is_peer or not make_strategy(entrant.name, **Tolerances.pick(dict(entrant.options))[1]).traceable:
            raise ValueError(f"{entrant.label} is not a method that JAX can compile, as --engine jax needs; use --engine coco")


def execute(store: Store, units: Sequence[Unit], report: Report = silent) -> list[Failure]:
    """Run what the store does not hold yet, all problems of an entrant in one dimension together, in this process."""
    pending = store.pending(units)
    watch = Watch(len(units), pending, report)
    groups: dict[tuple[Entrant, int], list[Unit]] = {}
    for unit in pending:
        groups.setdefault((unit.entrant, unit.dimension), []).append(unit)
    for group in groups.values():
        for unit, error in zip(group, _attempt(store, group), strict=True):
            watch.finished(unit, error)
    return watch.failures


def _attempt(store: Store, units: Sequence[Unit]) -> list[str | None]:
    """Run and keep units that belong together; returns for each what went wrong, in words."""
    try:
        runs = run_batch(store, units)
    except Exception as error:  # whatever a method raises is its own failure
        return [in_words(error)] * len(units)
    for unit, run in zip(units, runs, strict=True):
        store.write(unit, run)
    return [None] * len(units)


def run_batch(store: Store, units: Sequence[Unit]) -> list[Run]:
    """The records of units that differ in function and instance only."""
    (entrant, _, d, _), settings = units[0], store.settings
    budget = settings.evaluations(d)
    problems: BBOBProblem = jax.tree.map(
        lambda *parts: np.stack(parts), *(make_problem(u.function, u.instance, d) for u in units)
    )
    found = run_restarts(
        entrant.name,
        value,
        drawn(d),
        SIGMA0,
        seeds=[problem_seed(settings.seed, unit.function, d, unit.instance) for unit in units],
        max_evals=budget,
        restarts=RESTARTS,
        bipop=settings.restarts == "bipop",
        popsize=entrant.population(d),
        args=(problems,),
        ftarget=problems.f_opt + SOLVED,
        targets=problems.f_opt[:, None] + np.array(LADDER),
        options=dict(entrant.options),
    )
    # a generation that exceeds the budget is made to its end, but counts as far as the budget goes: the best
    # value is above all targets that were not reached by then
    hits = np.where(found.hits <= budget, found.hits, inf)
    missed = np.where(np.isinf(hits), np.nextafter(LADDER, inf), -inf).max(1)
    ends, best = np.minimum(found.evaluations, budget), np.maximum(found.fun - problems.f_opt, missed)
    return [
        Run(int(end), float(least), int(restarts), tuple(row.tolist()))
        for end, least, restarts, row in zip(ends, best, found.restarts, hits, strict=True)
    ]
