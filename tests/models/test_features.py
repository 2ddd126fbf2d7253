"""Features of the quadratic: the function with given coefficients, and its matrix."""

import numpy as np
import pytest

from thalweg.models.features import hessian, number_of_features, quadratic_features, separable_features


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_the_matrix_belongs_to_the_features(d):
    """c + b.e + e'Me with M from the coefficients is the same function as the features times the coefficients."""
    rng = np.random.default_rng(d)
    e, coefficients = rng.normal(size=(20, d)), rng.normal(size=number_of_features(d))
    M = hessian(coefficients, d)
    expected = coefficients[0] + e @ coefficients[1 : d + 1] + np.einsum("ni,ij,nj->n", e, M, e)
    np.testing.assert_allclose(quadratic_features(e) @ coefficients, expected, rtol=1e-12, atol=1e-12)
    assert np.array_equal(M, M.T)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_features_are_independent_and_as_many_as_a_quadratic_has(d):
    e = np.random.default_rng(0).normal(size=(3 * number_of_features(d), d))
    assert np.linalg.matrix_rank(quadratic_features(e)) == number_of_features(d)
    assert np.linalg.matrix_rank(separable_features(e)) == 2 * d + 1


def test_what_is_not_penalised_is_a_function_that_curves_alike_in_all_directions():
    d = 4
    coefficients = np.zeros(number_of_features(d))
    coefficients[: d + 2] = np.arange(1.0, d + 3)
    assert np.array_equal(hessian(coefficients, d), (d + 2) * np.eye(d))
