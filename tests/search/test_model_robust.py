"""A model where it cannot help: the search neither fails nor stays behind, and the bounds hold."""

import numpy as np
import pytest

from thalweg import minimize

AXES = np.array([1.0, 30.0, 1000.0])


def sphere(x):
    return float(x @ x)


def ellipsoid(x):
    return float(AXES @ x**2)


def spoiled(fun, value, seed):
    """Return the function with this value in a tenth of the evaluations."""
    rng = np.random.default_rng(seed)
    return lambda x: value if rng.uniform() < 0.1 else fun(x)


def noisy(fun, seed, relative=0.0, absolute=0.0):
    rng = np.random.default_rng(seed)
    return lambda x: fun(x) * (1 + relative * rng.normal()) + absolute * rng.normal()


def search(fun, seed, method, **more):
    return minimize(fun, np.ones(3), 0.5, method=method, model="quadratic", seed=seed, **{"max_evals": 400, **more})


CASES = {
    "additive noise": (lambda seed: noisy(sphere, seed, absolute=0.1), sphere, 0.5),
    "steps": (lambda seed: lambda x: float(np.floor(10 * sphere(x))), sphere, 0.5),
    "a flat region around": (lambda seed: lambda x: min(sphere(x), 4.0), sphere, 1e-8),
    "outliers": (lambda seed: spoiled(ellipsoid, 1e300, seed), ellipsoid, 1e-6),
    "failures": (lambda seed: spoiled(ellipsoid, np.nan, seed), ellipsoid, 1e-6),
    "points nearly in a plane": (lambda seed: lambda x: 1e12 * x[0] ** 2 + sphere(x[1:]), sphere, 1e-5),
    "a cusp": (lambda seed: lambda x: float(np.sum(np.abs(x) ** 0.5)), sphere, 1e-8),
    "values without a scale": (lambda seed: lambda x: -1 / (1e-6 + sphere(x)), sphere, 1e-8),
}


def test_half_of_the_runs_profit_under_noise_that_falls_with_the_value():
    """The plain method comes to 1e-7. Some runs with a model contract along an axis that noise hides: docs/model.md says so."""
    found = [ellipsoid(search(noisy(ellipsoid, seed, relative=0.1), seed, "cma").mean) for seed in range(8)]
    assert np.median(found) < 1e-10


@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_it_comes_to_where_the_plain_method_comes(case, method, seed):
    make, true, tolerance = CASES[case]
    assert true(search(make(seed), seed, method).mean) < tolerance


@pytest.mark.check
@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
def test_steps_stop_it_no_more_often_than_the_plain_method(method):
    """Steps of a factor 1.8: a search that contracts faster than its values say gets stuck on one of them.

    16 seeds each; of two methods that are equally good, 7 or more fewer solved by one of them have a chance below 1%.
    """

    def steps(x):
        return float(np.floor(4 * np.log10(1e-12 + ellipsoid(x))))

    def solved(model):
        runs = (minimize(steps, np.ones(3), 0.5, method=method, model=model, seed=s, max_evals=900) for s in range(16))
        return sum(ellipsoid(run.mean) < 1e-6 for run in runs)

    assert solved("quadratic") > solved(None) - 7


@pytest.mark.parametrize("value", [0.0, 1e300, -1e300])
def test_a_constant_ends_the_search_without_harm(value):
    result = search(lambda x: value, 1, "gnn-cma", max_evals=100)
    assert result.fun == value
    assert np.all(np.isfinite(result.mean))


def test_a_flat_bottom_is_found():
    assert search(lambda x: max(sphere(x), 0.5), 0, "gnn-cma").fun == 0.5


@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
def test_many_minima_and_bounds(method):
    seen = []

    def rastrigin(x):
        seen.append(x.copy())
        return float(10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)))

    # a single run ends in one of many minima, whichever the seed leads to
    assert min(search(rastrigin, seed, method, bounds=[(-0.5, 2.0)] * 3).fun for seed in range(3)) < 5
    assert np.all((np.array(seen) >= -0.5) & (np.array(seen) <= 2.0))
