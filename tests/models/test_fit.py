"""The least-squares fit: exact where the function is of its kind, weighted by rank where it is not."""

import numpy as np
import pytest

from thalweg.models.features import DIAGONAL, FULL, LINEAR, features, number_of_features
from thalweg.models.fit import fit, rank_weights


def sample(d, kind, *, seed=1, number=None, scale=1.0):
    """Return points, best first, and their values under a random function of this kind: c + b.e + e'Ae."""
    rng = np.random.default_rng(seed)
    c, b = rng.normal(), rng.normal(size=d)
    A = np.zeros((d, d))
    if kind == DIAGONAL:
        A = np.diag(rng.uniform(0.5, 2, d))
    if kind == FULL:
        A = (root := rng.normal(size=(d, d))) @ root.T + 0.1 * np.eye(d)
    e = scale * rng.normal(size=(number or number_of_features(d, kind) + 3, d))
    f = c + e @ b + np.einsum("ni,ij,nj->n", e, A, e)
    order = np.argsort(f)
    return e[order], f[order], b, A


@pytest.mark.parametrize("kind", [LINEAR, DIAGONAL, FULL])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_a_function_of_its_kind_is_found_exactly(d, kind, scale):
    e, f, b, A = sample(d, kind, scale=scale)
    fitted = fit(e, f, kind, 20.0)
    other = scale * np.random.default_rng(9).normal(size=(7, d))
    expected = f[0] - e[0] @ b - e[0] @ A @ e[0] + other @ b + np.einsum("ni,ij,nj->n", other, A, other)
    np.testing.assert_allclose(fitted(other), expected, rtol=1e-8, atol=1e-8 * np.abs(f).max())


@pytest.mark.parametrize("kind", [DIAGONAL, FULL])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_optimum_is_the_minimum_of_a_convex_quadratic(d, kind):
    """Also in dimension 2, where a rotated function needs the cross term."""
    e, f, b, A = sample(d, kind)
    np.testing.assert_allclose(fit(e, f, kind, 20.0).optimum(e[0]), np.linalg.solve(2 * A, -b), atol=1e-8)


def test_the_optimum_of_a_linear_model_is_a_step_down_its_slope():
    e, f, b, _ = sample(3, LINEAR)
    np.testing.assert_allclose(fit(e, f, LINEAR, 20.0).optimum(e[2]), e[2] - 2 * b, atol=1e-10)


def test_weights_fall_linearly_with_the_rank_and_multiply_the_residuals():
    assert rank_weights(5, 20.0).tolist() == [20.0, 15.25, 10.5, 5.75, 1.0]
    rng = np.random.default_rng(3)
    e = rng.normal(size=(12, 2))
    f = np.sort(rng.normal(size=12))
    w = np.linspace(20, 1, 12)
    expected = np.linalg.pinv(w[:, None] * features(e, DIAGONAL)) @ (w * f)
    fitted = fit(e, f, DIAGONAL, 20.0)
    found = [fitted.constant, *fitted.linear, *np.diag(fitted.matrix)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_too_few_points_are_interpolated():
    e, f, *_ = sample(5, FULL, number=4)
    np.testing.assert_allclose(fit(e, f, LINEAR, 20.0)(e), f, rtol=1e-8)


def test_a_large_constant_costs_no_digits():
    e, f, b, A = sample(3, FULL)
    far = f * 1e-6 + 1e6
    np.testing.assert_allclose(fit(e, far, FULL, 20.0).optimum(e[0]), np.linalg.solve(2 * A, -b), rtol=0, atol=1e-3)


def test_numbers_that_are_too_large_give_no_model():
    e, f, *_ = sample(2, FULL)
    f[-1], f[0] = 1.5e308, -1.5e308
    assert fit(e, f, FULL, 20.0) is None


def test_the_number_of_features():
    for d in (1, 2, 5, 10):
        e = np.ones((1, d))
        for kind in (LINEAR, DIAGONAL, FULL):
            assert features(e, kind).shape == (1, number_of_features(d, kind))
