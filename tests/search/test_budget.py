"""A budget of evaluations is never exceeded, and a run that is continued past it is the run that had no such end."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from thalweg.batch.run_restarts import run_restarts
from thalweg.search.minimize import minimize, resume
from thalweg.search.optimizer import Optimizer

SETTINGS = {
    "plain": {},
    "large": {"popsize": 64},
    "model": {"model": "quadratic"},
    "restarts": {"restarts": 5, "bipop": True, "options": {"tolfun": 1e-1, "tolfunhist": 1e-1}},
    "constraints": {"constraints": NonlinearConstraint(lambda x: x[0] + x[1], 1.0, np.inf)},
    "bounds": {"bounds": (-3.0, 3.0)},
}


class Counted:
    """A function with many minima that counts its evaluations."""

    def __init__(self):
        self.points = []

    def __call__(self, x):
        self.points.append(x.tolist())
        return float(np.sum(x**2 + 0.3 * np.cos(7 * x)))


def same(one, other):
    assert one.x.tolist() == other.x.tolist()
    for name in ("fun", "nfev", "nit", "stop", "message", "sigma", "restarts", "failures"):
        assert one[name] == other[name], name
    assert one.mean.tolist() == other.mean.tolist()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_continued_budget_is_a_larger_one(tmp_path, name):
    whole, parts, path = Counted(), Counted(), tmp_path / "run.ckpt"
    settings = {"method": "cma", "seed": 3, **SETTINGS[name]}
    expected = minimize(whole, [2.0, -1.0], 0.5, max_evals=90, **settings)
    first = minimize(parts, [2.0, -1.0], 0.5, max_evals=40, checkpoint=path, **settings)
    assert len(parts.points) == first.nfev == 40
    assert first.message.startswith("The budget of max_evals = 40 evaluations is used up.")
    for budget in (41, 45, 90):
        last = resume(path, parts, max_evals=budget, constraints=settings.get("constraints"))
        assert len(parts.points) == last.nfev == budget
    assert parts.points == whole.points
    same(last, expected)


@pytest.mark.parametrize("budget", [1, 5, 6, 7, 64])
def test_the_last_generation_counts_for_the_best_point(budget):
    es, told = Optimizer([1.0, 2.0], method="cma", seed=1, max_evals=budget), []
    while not es.stop():
        X = es.ask()
        told += [float(x @ x) for x in X]
        es.tell(X, told[-len(X) :])
    assert len(told) == es.nfev == budget
    assert es.nit == budget // 6
    assert (es.best.f, es.best.nfev) == (min(told), int(np.argmin(told)) + 1)
    assert es.stop() == {"max_evals": budget}


@pytest.mark.parametrize("model", [None, "quadratic"])
def test_no_more_points_are_asked_at_once_than_are_kept_open(model):
    es = Optimizer([1.0, 2.0], popsize=4, method="cma", seed=1, max_evals=float("inf"), model=model)
    for number in (10_001, 1e18):
        with pytest.raises(ValueError, match=r"^number must be at most 10000, .* got .*; ask more often$"):
            es.ask(number)
    assert len(es.ask(9)) == 9
    assert len(Optimizer([1.0], popsize=4, method="cma", seed=1, max_evals=5).ask(1e18)) == 5


def test_ask_near_the_end_of_the_budget():
    es = Optimizer([1.0, 2.0], method="cma", seed=1, max_evals=8)
    es.tell(X := es.ask(7)[:6], [float(x @ x) for x in X])
    assert len(es.ask(5)) == 2
    es = Optimizer([1.0, 2.0], method="cma", seed=1, max_evals=8)
    es.tell(X := es.ask(), [float(x @ x) for x in X])
    first, rest = es.ask(), es.ask()
    assert (len(first), len(rest)) == (2, 2)
    es.tell(first, [1.0, 1.0])
    assert es.stop() == {"max_evals": 8}
    assert len(es.ask()) == 2  # what is left of the generation: who asks on has his reasons
    assert len(es.ask()) == 6


@pytest.mark.parametrize("settings", [{"workers": 2}, {"workers": 3, "asynchronous": True}, {"vectorized": True}])
def test_workers(settings):
    def fun(x):
        return np.sum(np.atleast_2d(x) ** 2, 1) if "vectorized" in settings else float(np.sum(x**2))

    result = minimize(fun, [1.0, 2.0], method="cma", seed=1, max_evals=20, **settings)
    assert (result.nfev, result.nit) == (20, 3)


def test_an_interrupt_in_the_last_generation_loses_nothing(tmp_path):
    path, seen = tmp_path / "run.ckpt", []

    def fun(x, stop=np.inf):
        if len(seen) >= stop:
            raise KeyboardInterrupt
        seen.append(x.tolist())
        return float(x @ x)

    settings = {"method": "cma", "seed": 3, "checkpoint": path}
    assert minimize(fun, [2.0, -1.0], max_evals=10, args=(8,), **settings).nfev == 8
    last = resume(path, fun, max_evals=20, trust=True)
    assert last.nfev == len(seen) == 20
    same(last, minimize(fun, [2.0, -1.0], method="cma", seed=3, max_evals=20))


@pytest.mark.parametrize("bipop", [False, True])
def test_many_runs_side_by_side(bipop):
    def fun(x):
        return jnp.sum(x**2 + 0.3 * jnp.cos(7 * x), -1)

    compiled = jax.jit(fun)

    def values(X):
        with jax.enable_x64(True):
            return np.asarray(compiled(jnp.asarray(X)))

    settings = {"restarts": 5, "bipop": bipop, "max_evals": 500, "options": {"tolfun": 1e-1, "tolfunhist": 1e-1}}
    found = run_restarts("cma", fun, [2.0, -1.0], 0.5, seeds=4, targets=[1.0, 0.61], **settings)
    assert found.evaluations.tolist() == [500] * 4
    for i in range(4):
        one = minimize(values, [2.0, -1.0], 0.5, method="cma", seed=i, vectorized=True, **settings)
        assert (one.nfev, one.stop, one.restarts) == (500, found.stop[i], found.restarts[i])
        assert sum(run.nit for run in found.runs[i]) == one.nit
        np.testing.assert_allclose(found.fun[i], one.fun, rtol=1e-6)
