"""The peers: other libraries, called as their users do. They run until the problem raises `FinishedError`.

Those that take a start begin uniformly in [-4, 4]^d with sigma0 = 2, and restart until the budget is spent.
Only pycma has BIPOP; the others ignore that option.
"""

from collections.abc import Callable
from functools import lru_cache
from math import floor, inf, log
from typing import Any

import numpy as np

from thalweg.search.stopping import Tolerances, default_max_iter
from thalweg.search.stopping.stop_tests import Generation, StopTests
from thalweg_studies.bbob.observed import ObservedProblem
from thalweg_studies.bbob.starts import RESTARTS, SIGMA0, Starts
from thalweg_studies.common.extras import require

Peer = Callable[[ObservedProblem, Starts, int | None, bool], object]
"""Minimises an observed problem, given starts, the population of the first run (None: the default), and a flag for BIPOP."""


def pycma(problem: ObservedProblem, starts: Starts, popsize: int | None, bipop: bool) -> None:
    """Run pycma's `fmin2` with its own restarts, IPOP or BIPOP."""
    cma: Any = require("cma")
    options: dict[str, Any] = {"verbose": -9, "verb_log": 0, "maxfevals": inf, "seed": starts.seed(1, 2**31)}
    if popsize is not None:
        options["popsize"] = popsize
    cma.fmin2(problem, starts, SIGMA0, options, restarts=RESTARTS, bipop=bipop)


def pycma_lq(problem: ObservedProblem, starts: Starts, popsize: int | None, bipop: bool) -> None:
    """Run pycma's lq-CMA-ES, `fmin_lq_surr2`, with its own restarts, IPOP."""
    cma: Any = require("cma")
    options: dict[str, Any] = {"verbose": -9, "verb_log": 0, "maxfevals": inf, "seed": starts.seed(1, 2**31)}
    if popsize is not None:
        options["popsize"] = popsize
    cma.fmin_lq_surr2(problem, starts, SIGMA0, options, restarts=RESTARTS)


def cmaes(problem: ObservedProblem, starts: Starts, popsize: int | None, bipop: bool) -> None:
    """Run the `CMA` class of the package cmaes with its own stop tests, and IPOP as in its examples."""
    module: Any = require("cmaes")
    while True:
        es = module.CMA(mean=starts(), sigma=SIGMA0, population_size=popsize, seed=starts.seed(0, 2**31))
        while not es.should_stop():
            points = [es.ask() for _ in range(es.population_size)]
            es.tell([(x, problem(x)) for x in points])
        popsize = 2 * es.population_size


def evosax(problem: ObservedProblem, starts: Starts, popsize: int | None, bipop: bool) -> None:
    """Run evosax' `CMA_ES` in double precision, with our stop tests and IPOP, as it has none of its own."""
    jax: Any = require("jax")
    d, n = problem.d, popsize or 4 + floor(3 * log(problem.d))
    with jax.enable_x64(True):
        while True:
            es, params = _evosax(n, d)
            key = jax.random.key(starts.seed(0, 2**31))
            state = es.init(key, starts(), params)
            tests, previous, best, when = StopTests(d, n, SIGMA0, Tolerances()), np.asarray(state.mean), inf, 0
            while not tests.reasons and tests.nit < default_max_iter(d, n):
                key, ask, tell = jax.random.split(key, 3)
                points, state = es.ask(ask, state, params)
                values = np.array([problem(x) for x in np.asarray(points)])
                state, _ = es.tell(tell, points, values, state, params)
                nfev = (tests.nit + 1) * n
                best, when = (float(values.min()), nfev) if values.min() < best else (best, when)
                mean, C, std = (np.asarray(part) for part in (state.mean, state.C, state.std))
                spread, finite = std * np.sqrt(np.abs(np.diag(C))), bool(np.isfinite(C).all() and np.isfinite(mean).all())
                tests.observe(
                    Generation(np.sort(values), mean, spread, _condition(C, finite), finite, nfev, best, when), previous
                )
                previous = mean
            n *= 2


def _condition(C: np.ndarray, finite: bool) -> float:
    return float(np.linalg.cond(C)) if finite else np.nan


@lru_cache
def _evosax(n: int, d: int) -> tuple[Any, Any]:
    """Make one object for each shape, as JAX compiles its methods for each object anew."""
    es = require("evosax.algorithms").CMA_ES(population_size=n, solution=np.zeros(d))
    return es, es.default_params.replace(std_init=np.float64(SIGMA0))


def nevergrad(problem: ObservedProblem, starts: Starts, popsize: int | None, bipop: bool) -> None:
    """Run nevergrad's `CMA`, one point at a time; it restarts by itself, at the same start with the same population."""
    module: Any = require("nevergrad")
    where = module.p.Array(init=starts()).set_mutation(sigma=SIGMA0)
    where.random_state.seed(starts.seed(0, 2**31))
    optimizer = module.optimizers.ParametrizedCMA(popsize=popsize)(where, budget=problem.budget)
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, problem(candidate.value))


def scipy_de(problem: ObservedProblem, starts: Starts, popsize: int | None, bipop: bool) -> None:
    """Run scipy's differential evolution with its defaults, 15 d points, in the box [-5, 5]^d that it needs.

    Its default tolerance is relative to f, whose minimum BBOB shifts, so an absolute one replaces it, the `tolfun` of the
    others. There is no polishing, which is another algorithm. It restarts when the population has converged.
    """
    optimize: Any = require("scipy.optimize")
    factor = 15 if popsize is None else max(1, round(popsize / problem.d))
    while True:
        starts()  # counts the restart; the population is scipy's own Latin hypercube
        seed = starts.seed(0, 2**31)
        box = [(-5.0, 5.0)] * problem.d
        optimize.differential_evolution(
            problem, box, popsize=factor, maxiter=10**9, tol=0.0, atol=1e-11, polish=False, seed=seed
        )


PEERS: dict[str, Peer] = {
    "pycma": pycma,
    "pycma-lq": pycma_lq,
    "cmaes": cmaes,
    "evosax-cma": evosax,
    "nevergrad-cma": nevergrad,
    "scipy-de": scipy_de,
}
"""The peers by the name on the command line."""
