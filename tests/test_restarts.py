"""Restarts: growing populations, fresh starts, one budget, the best of all."""

import itertools

import numpy as np
import pytest

from thalweg.bounds import parse_bounds
from thalweg.minimize import minimize
from thalweg.restarts import start_of


def rastrigin(x):
    return float(10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)))


def run(fun=rastrigin, **more):
    seen = []
    settings = {"method": "cma", "popsize": 4, "seed": 6, "callback": seen.append, "options": {"tolfun": 1e-6}}
    return minimize(fun, [3.0, 3.0], 0.3, **{**settings, **more}), seen


def test_population_doubles_and_everything_is_counted():
    result, seen = run(restarts=2)
    assert result.restarts == 2
    assert [step.popsize for step, later in itertools.pairwise(seen) if later.popsize != step.popsize] == [4, 8]
    assert result.popsize == 16
    evaluations = [step.nfev for step in seen]
    assert np.array_equal(np.diff([0, *evaluations]), [step.popsize for step in seen])
    assert result.nfev == evaluations[-1]
    assert result.nit == len(seen)
    assert result.fun == min(step.fun for step in seen)
    assert rastrigin(result.x) == result.fun
    assert "Best of 3 runs." in result.message
    assert result.seed == 6


def test_best_never_gets_worse_over_restarts():
    _, seen = run(restarts=3)
    assert np.all(np.diff([step.fun for step in seen]) <= 0)


def test_budget_is_shared():
    result, _ = run(restarts=50, max_evals=900)
    assert 900 <= result.nfev < 900 + result.popsize
    assert result.stop.keys() & {"max_evals"}
    assert "max_evals = 900" in result.message
    result, seen = run(restarts=50, max_iter=70)
    assert result.nit == len(seen) == 70


def test_the_target_ends_all():
    result, _ = run(restarts=9, bounds=(-5, 5), ftarget=1e-6, max_evals=50000)
    assert result.stop.keys() == {"ftarget"}
    assert result.success
    assert 0 < result.restarts < 9


def test_success_is_that_of_the_run_with_the_best_point():
    calls = []

    def fun(x):
        calls.append(0)
        return float(np.sum(x**2)) if len(calls) < 1000 else 7.0 + float(np.sum(x**2))

    result, _ = run(fun, restarts=9, max_evals=1100)
    assert "max_evals" in result.stop
    assert result.restarts >= 1
    assert result.success  # the best point is that of a run that converged


def test_callback_ends_all():
    def callback(result):
        if result.restarts == 1:
            raise StopIteration

    result, _ = run(restarts=5, callback=callback)
    assert result.restarts == 1
    assert "callback" in result.stop


def test_fresh_starts_where_the_box_is_closed():
    box = parse_bounds([(-5, 5), (None, 5), (0, None)], 3)
    x0 = np.array([1.0, 2.0, 3.0])
    starts = [start_of(run, x0, box, 4, seed=1) for run in (1, 2, 3)]
    assert [start.popsize for start in starts] == [8, 16, 32]
    assert len({start.seed for start in starts}) == 3
    assert len({start.x0[0] for start in starts}) == 3
    for start in starts:
        assert -5 <= start.x0[0] <= 5
        assert start.x0[1:].tolist() == [2.0, 3.0]
    assert start_of(1, x0, None, 4, seed=1).x0.tolist() == x0.tolist()
    assert start_of(1, x0, box, 4, seed=1).seed == starts[0].seed
    assert start_of(1, x0, box, 4, seed=2).seed != starts[0].seed


def test_deterministic():
    one, other = run(restarts=2, bounds=(-5, 5))[0], run(restarts=2, bounds=(-5, 5))[0]
    assert np.array_equal(one.x, other.x)
    assert one.nfev == other.nfev


def test_an_objective_that_always_fails_raises_in_the_first_run():
    with pytest.raises(RuntimeError, match="all 4 evaluations"):
        run(lambda x: 1 / 0, restarts=3)
