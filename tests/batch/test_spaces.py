"""Spaces in batches: each run is that of an optimiser in the same space, with logs, whole and fixed numbers, units and cap."""

import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.batch.run_many import run_many
from thalweg.batch.run_restarts import run_restarts
from thalweg.search.minimize import minimize
from thalweg.search.optimizer import Optimizer
from thalweg.space import Fixed, Integer, Real, Space, make_space

SPACE = Space(rate=Real(1e-5, 1e-1, log=True), width=Integer(8, 512, log=True), drop=Real(0, 1), g=Fixed(0.5))
GENERATIONS = 12


def loss(point):
    return (jnp.log10(point["rate"]) + 3) ** 2 + (jnp.log2(point["width"]) - 6.1) ** 2 + (point["drop"] - point["g"]) ** 2


def by_vector(x):
    return (np.log10(x[..., 0]) + 3) ** 2 + (np.log2(x[..., 1]) - 6.1) ** 2 + (x[..., 2] - x[..., 3]) ** 2


def squares(x):
    return (x**2).sum(-1)


def one_by_one(fun, seed, *arguments, **more):
    """Return best values, step-sizes and best point of an optimiser, and the largest standard deviation that it had."""
    es = Optimizer(*arguments, method="cma", seed=seed, max_iter=1000, **more)
    best, sigmas, largest = [], [], 0.0
    for _ in range(GENERATIONS):
        es.tell(X := es.ask(), fun(X))
        best.append(es.best.f)
        sigmas.append(es.run.info["sigma"] / es.run.unit)
        largest = max(largest, float(es.std.max()))
    return best, sigmas, es.best.x, largest


def test_many_runs_by_name():
    runs = run_many("cma", loss, SPACE, seeds=[3, 5], generations=GENERATIONS)
    for i, seed in enumerate((3, 5)):
        best, sigmas, x, _ = one_by_one(by_vector, seed, SPACE)
        np.testing.assert_allclose(runs.best[i], best, rtol=1e-6)
        np.testing.assert_allclose(runs.sigma[i], sigmas, rtol=1e-6)
        np.testing.assert_allclose(runs.x[i], x, rtol=1e-6)
    assert [SPACE.point(x)["g"] for x in runs.x] == [0.5, 0.5]


@pytest.mark.check
def test_many_runs_by_arrays():
    bounds = [(1e-5, 1e-1), (8, 512), (0, 1), (0.5, 0.5)]
    kinds = {"bounds": bounds, "log": [0, 1], "integers": [1]}
    named = run_many("cma", loss, SPACE, seeds=2, generations=3)
    arrays = run_many("cma", lambda x: loss(dict(zip(SPACE.names, x, strict=True))), None, seeds=2, generations=3, **kinds)
    np.testing.assert_allclose(arrays.best, named.best, rtol=1e-12)


def test_scale_and_a_first_step_for_each_run():
    scale = np.array([1e-3, 1e3])
    runs = run_many("cma", lambda x: squares(x / scale), scale, [0.5, 2.0], seeds=[3, 3], generations=GENERATIONS, scale=scale)
    for i, sigma0 in enumerate((0.5, 2.0)):
        best, *_ = one_by_one(lambda X: squares(X / scale), 3, scale, sigma0, scale=scale)
        np.testing.assert_allclose(runs.best[i], best, rtol=1e-6)


def test_the_cap_is_that_of_the_optimizer():
    """A first step of three times the box: the spread is capped in the first generations."""
    runs = run_many("cma", squares, np.ones(2), 3.0, seeds=[3, 4], generations=GENERATIONS, bounds=(0, 1))
    for i, seed in enumerate((3, 4)):
        best, sigmas, _, largest = one_by_one(squares, seed, [1.0, 1.0], 3.0, bounds=(0, 1))
        assert largest == pytest.approx(np.max(make_space((0, 1), 2).widest))
        assert runs.sigma[i][0] < 2.0
        np.testing.assert_allclose(runs.best[i], best, rtol=1e-6)
        np.testing.assert_allclose(runs.sigma[i], sigmas, rtol=1e-6)


@pytest.mark.check
def test_restarts_by_name():
    settings = {"max_evals": 500, "restarts": 2, "options": {"tolfun": 1e-2}}
    found = run_restarts("cma", loss, SPACE, seeds=[3], **settings)
    one = minimize(by_vector, SPACE.as_vector(), method="cma", seed=3, **settings)
    assert found.evaluations.tolist() == [one.nfev]
    assert found.restarts.tolist() == [one.restarts]
    np.testing.assert_allclose(found.x[0], one.x, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"sigma0": np.ones(3)}, ValueError, "one for each of the 2 runs, .*; pass scale"),
        ({"sigma0": [True, True]}, TypeError, r"sigma0 must be one number .*, got \[True, True\]"),
        ({"scale": [1.0]}, ValueError, "scale must be one number or one for each of the 3 coordinates"),
        ({"x0": SPACE}, ValueError, "sigma0 is part of the Space"),
        ({"x0": SPACE, "sigma0": None, "log": [0]}, ValueError, "log is part of the Space"),
        ({"x0": None}, ValueError, "x0 is None and there are no bounds"),
        ({"x0": {"a": Real(0, 1)}}, TypeError, "x0 describes variables, .*; make it a Space"),
    ],
)
def test_wrong_arguments_are_named(change, error, words):
    settings = {"fun": squares, "x0": np.ones(3), "sigma0": 1.0, "seeds": 2, "generations": 2}
    with pytest.raises(error, match=words):
        run_many("cma", **{**settings, **change})
