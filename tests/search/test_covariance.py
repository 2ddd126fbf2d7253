"""The covariance of the search distribution: the curvature of a quadratic, and the Jacobian of the whole map."""

import copy
import pickle

import numpy as np
import pytest

import thalweg
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.flows.nice import NICE
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents.cmaes import CMAES

D = 4


def searched(fun, generations, x0=None, **settings):
    es = Optimizer(np.ones(D) if x0 is None else x0, **{"sigma0": 0.5, "seed": 1, "popsize": 12, **settings})
    for _ in range(generations):
        X = es.ask()
        es.tell(X, [fun(x) for x in X])
    return es


def quadratic(*, diagonal):
    rng = np.random.default_rng(3)
    turn = np.eye(D) if diagonal else np.linalg.qr(rng.normal(size=(D, D)))[0]
    return turn @ np.diag(10.0 ** np.linspace(0, 3, D)) @ turn.T


@pytest.mark.parametrize("method", ["cma", "gnn-cma", "lra-cma", "xnes", "sep-cma", "snes"])
def test_on_a_quadratic_it_is_the_inverse_hessian_but_for_a_factor(method):
    """H cov has equal eigenvalues, but for what a population of 12 can tell, where H alone has 1000 between them.

    The median of 20 distributions, 10 generations apart, was within 1.8 and 5.8 for the seeds 0 to 4 of all methods.
    """
    hessian = quadratic(diagonal=method in ("sep-cma", "snes"))
    es, spreads = searched(lambda x: x @ hessian @ x, 300, method=method), []
    for _ in range(20):
        for _ in range(10):
            es.tell(X := es.ask(), np.einsum("ni,ij,nj->n", X, hessian, X))
        values = np.linalg.eigvals(hessian @ es.result.cov).real
        spreads.append(values.max() / values.min())
    assert np.median(spreads) < 8


def whole_map(es, e):
    return es.space.to_objective(np.asarray(es.run.steps.place(es.run.packed, np.asarray(e)[None]))[0])


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


METHODS = {
    "cma": "cma",
    "sep-cma": "sep-cma",
    "gnn-cma": "gnn-cma",
    "nice": GNNES(latent=CMAES(popsize=12), flow=NICE()),
    "nice in raw coordinates": GNNES(latent=CMAES(popsize=12), flow=NICE(), frame="raw"),
}


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_jacobian_of_the_map_with_its_bend(method):
    es = searched(rosenbrock, 60, np.zeros(D), method=METHODS[method], popsize=None if "nice" in method else 12)
    root, step = es.result.cov_root, 1e-5
    differences = [(whole_map(es, step * e) - whole_map(es, -step * e)) / (2 * step) for e in np.eye(D)]
    assert np.allclose(root, np.transpose(differences), rtol=1e-6, atol=1e-7 * np.abs(root).max())
    assert np.array_equal(es.result.cov, root @ root.T)
    if "nice" not in method:  # there the root is that of the affine part
        assert np.allclose(np.sqrt(np.diag(es.result.cov)), es.std)


@pytest.mark.parametrize(
    "space",
    [
        {"scale": [1e-3, 1.0, 1e3, 1.0]},
        {"log": [0, 2]},
        {"bounds": [(0.99, 1.02), (None, 1.01), (0.9, None), (-5, 5)]},
        {"bounds": [(0.5, 3), (1, 1), (1, 1), (0, 4)], "log": [0]},
    ],
    ids=["scaled", "logarithmic", "bounded", "fixed"],
)
def test_it_is_in_the_coordinates_of_the_objective(space):
    es = searched(lambda x: np.sum((x - 1.2) ** 2), 12, method="cma", **space)
    root, d, step = es.result.cov_root, es.run.d, 1e-6
    assert root.shape == (D, d)
    along = np.linalg.solve(np.asarray(es.state.root) * es.state.sigma, np.eye(d))
    differences = [
        (es.space.to_objective(es.run.mean + step * e) - es.space.to_objective(es.run.mean - step * e)) / (2 * step)
        for e in np.eye(d)
    ]
    assert np.allclose(root @ along, np.transpose(differences), rtol=1e-5, atol=1e-8)
    fixed = [low == high for low, high in space.get("bounds", [(0, 1)] * D)]
    assert np.all((es.result.cov == 0).all(1) == fixed)


def test_of_a_whole_number_it_is_that_before_rounding():
    es = searched(lambda x: np.sum((x - 1.2) ** 2), 3, method="cma", integers=[1])
    assert np.allclose(np.sqrt(np.diag(es.result.cov)), es.std)
    assert es.std[1] > 0


def test_results_keep_it():
    es = searched(rosenbrock, 5, method="gnn-cma", restarts=1)
    result = es.result
    first = result.cov
    es.tell(X := es.ask(), [rosenbrock(x) for x in X])
    assert not np.array_equal(es.result.cov, first)
    for each in (result, copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert np.array_equal(each.cov, first)
    assert {"cov", "cov_root"} <= set(dir(result))
    seen = []
    found = thalweg.minimize(rosenbrock, np.ones(2), method="cma", seed=1, max_evals=30, callback=lambda r: seen.append(r.cov))
    assert np.array_equal(seen[-1], found.cov)
