"""Points that come back rounded are told apart by the open point next to them, or refused."""

import numpy as np
import pytest

from thalweg.search.optimizer import Optimizer


def make(**more):
    return Optimizer([1.0, -2.0], 1.0, **{"method": "cma", "popsize": 6, "seed": 3, **more})


def sphere(X):
    return np.sum(np.asarray(X, float) ** 2, 1)


def same(one, other):
    assert np.array_equal(one.ask(), other.ask())
    assert np.array_equal(one.best.x, other.best.x)
    assert (one.nfev, one.nit) == (other.nfev, other.nit)


@pytest.mark.parametrize("rounded", [np.float32, lambda X: X.round(3), lambda X: X.astype(np.float32).tolist()])
@pytest.mark.parametrize("order", [slice(None), [3, 1, 5, 0, 2, 4]])
def test_rounded_and_reordered_points(rounded, order):
    es, exact = make(), make()
    for _ in range(5):
        X = es.ask()
        exact.tell(exact.ask(), sphere(X))
        es.tell(rounded(X[order]), sphere(X[order]))
    same(es, exact)


def test_rounded_points_in_portions_and_late():
    es, exact = make(), make()
    for each, convert in ((es, np.float32), (exact, np.asarray)):
        X = each.ask(9)
        f = sphere(X)
        each.tell(convert(X[2:8]), f[2:8])
        each.tell(convert(X[:2]), f[:2])
        each.tell(convert(X[8:]), f[8:])
    same(es, exact)


def test_float32_with_a_model():
    es, exact = make(model="quadratic"), make(model="quadratic")
    for _ in range(8):
        for each, convert in ((es, np.float32), (exact, np.asarray)):
            X = each.ask()
            each.tell(convert(X), sphere(X))
    same(es, exact)


def test_fixed_and_whole_coordinates():
    given = {"bounds": [(-3, 3), (-2, -2), (0, 9)], "integers": [2]}
    es = Optimizer([0.1, -2, 4], 1.0, method="cma", popsize=6, seed=1, **given)
    for _ in range(3):
        X = es.ask()
        es.tell(X.astype(np.float32), sphere(X))
    assert es.nit == 3


def test_points_that_cannot_be_told_apart_are_refused():
    es = make()
    X = es.ask()
    with pytest.raises(ValueError, match=r"X\[0\] = .* each once"):
        es.tell(np.zeros_like(X), sphere(X))  # near none
    with pytest.raises(ValueError, match=r"X\[3\] = .* each once"):
        es.tell(np.where(np.arange(6)[:, None] == 3, X + 0.1, X), sphere(X))
    with pytest.raises(ValueError, match=r"X\[1\] = .* each once"):  # one of them twice
        es.tell(X[[0, 0, 1, 2, 3, 4]].astype(np.float32), np.zeros(6))
    assert es.nfev == 0
    es.tell(X, sphere(X))
    assert es.nit == 1


def test_points_that_rounding_has_merged_are_refused():
    es = Optimizer([1.0, -2.0], 1e-9, method="cma", popsize=6, seed=3)
    X = es.ask()
    with pytest.raises(ValueError, match=r"rounded too much .* each once"):
        es.tell(X.astype(np.float32), np.zeros(6))


def test_foreign_points_stay_what_they_are():
    es = make()
    X = es.ask()
    es.tell(X[:1] + 1e-6, [-1.0], foreign=True)
    assert np.array_equal(es.best.x, X[0] + 1e-6)
    es.tell(X, sphere(X))


def test_the_best_point_is_the_one_that_was_asked():
    es = make(bounds=(-2.7, 2.7))
    X = es.ask()
    es.tell(X.astype(np.float32), sphere(X))
    assert any(np.array_equal(es.best.x, x) for x in X)
