"""The runs of `model.py`: one algorithm on one landscape until 1e-8, the end of the budget, or its own stop; no restarts."""

import time
import warnings
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

import cma
import numpy as np
from battery import TARGET
from model_landscapes import landscape

import thalweg
from thalweg_studies.bbob.entrant import entrants
from thalweg_studies.bbob.observed import FinishedError, ObservedProblem
from thalweg_studies.bbob.record import SOLVED

LQ = "pycma-lq"
"""pycma's lq-CMA-ES, with which the others are compared."""

OURS = ("cma+quadratic", "gnn-cma+quadratic")
ALGORITHMS = ("cma", *OURS, LQ)
FURTHER = ("gnn-cma", "pycma")
"""Algorithms that can be chosen beside those of the table."""


class Task(NamedTuple):
    """A run to make."""

    algorithm: str
    function: str
    d: int
    seed: int
    budget: int
    batch: int = 0
    """Points at a time, by `Optimizer.ask`; 0 for `minimize`, which takes one at a time with a model."""


class Outcome(NamedTuple):
    """The end of a run."""

    evaluations: float
    """Evaluations until the first value at or below the target; inf if there was none."""
    best: float
    seconds: float
    """Wall time of the run, with that of compilation in the first of its kind in a process."""


def run(task: Task) -> Outcome:
    """Make a run from x0 = 0 with sigma0 = 1 and the default population."""
    problem = ObservedProblem(landscape(task.function, task.d, task.seed), 0.0, task.d, task.budget)
    began = time.perf_counter()
    with suppress(FinishedError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pycma warns of points that its archive has already
        if task.algorithm in ("pycma", LQ):
            by_pycma(task, problem)
        elif task.batch:
            by_batches(task, problem)
        else:
            by_minimize(task, problem)
    return Outcome(problem.hits[-1], problem.best, time.perf_counter() - began)


def by_pycma(task: Task, problem: ObservedProblem) -> None:
    """Run pycma's CMA-ES or its lq-CMA-ES; the problem ends them at the target or the end of the budget."""
    options = {"verbose": -9, "verb_log": 0, "maxfevals": task.budget, "ftarget": TARGET, "seed": task.seed + 1}
    if task.algorithm == LQ:
        cma.fmin_lq_surr2(problem, np.zeros(task.d), 1.0, options)
    else:
        cma.fmin2(problem, np.zeros(task.d), 1.0, options)


def by_minimize(task: Task, problem: ObservedProblem) -> None:
    """Run a method of ours in one call; without a model it takes whole generations, which is the same and faster."""
    method, model = arguments(task.algorithm)
    how: dict[str, Any] = {"seed": task.seed, "max_evals": task.budget, "ftarget": SOLVED, **model}
    if model:
        thalweg.minimize(problem.single, np.zeros(task.d), 1.0, method=method, **how)
    else:
        thalweg.minimize(problem.generation, np.zeros(task.d), 1.0, method=method, vectorized=True, **how)


def by_batches(task: Task, problem: ObservedProblem) -> None:
    """Run a method of ours with so many points at a time, as that number of workers would evaluate them."""
    method, model = arguments(task.algorithm)
    es = thalweg.Optimizer(np.zeros(task.d), 1.0, method=method, seed=task.seed, max_evals=task.budget, ftarget=SOLVED, **model)
    while not es.stop():
        X = es.ask(task.batch)
        es.tell(X, problem.generation(X))
        if problem.evaluations >= task.budget or problem.hits[-1] < inf:
            break


def arguments(algorithm: str) -> tuple[str, dict[str, Any]]:
    """Return method and model of an algorithm, as arguments of `minimize` and `Optimizer`.

    >>> arguments("gnn-cma+quadratic")
    ('gnn-cma', {'model': 'quadratic'})
    """
    (entrant,) = entrants(algorithm)
    return entrant.name, {"model": entrant.model} if entrant.model else {}
