"""Penalised least squares against dense solves: coefficients, errors of prediction, and further columns."""

import numpy as np
import pytest

from thalweg.models.least_squares import System


def problem(m=30, p=7, seed=0, penalty=0.5):
    rng = np.random.default_rng(seed)
    rows, targets = rng.normal(size=(m, p)) * 10.0 ** rng.integers(-3, 4, p), rng.normal(size=m)
    return rows, targets, np.where(np.arange(p) < 2, 1e-11, penalty)


def dense(rows, targets, penalty):
    """Return coefficients and the matrix from targets to fitted values."""
    to_coefficients = np.linalg.solve(rows.T @ rows + np.diag(penalty), rows.T)
    return to_coefficients @ targets, rows @ to_coefficients


@pytest.mark.parametrize("penalty", [1e-11, 1e-2, 10.0])
def test_coefficients_and_residuals_are_those_of_the_penalised_problem(penalty):
    rows, targets, penalties = problem(penalty=penalty)
    solution = System(rows, targets).solve(penalties)
    expected, hat = dense(rows, targets, penalties)
    np.testing.assert_allclose(solution.coefficients, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(solution.residuals, targets - hat @ targets, rtol=1e-9, atol=1e-12)
    assert solution.squares == pytest.approx(np.mean((targets - hat @ targets) ** 2))


@pytest.mark.parametrize("penalty", [1e-11, 1e-2, 10.0])
def test_the_predicted_error_is_that_of_generalised_cross_validation(penalty):
    rows, targets, penalties = problem(penalty=penalty)
    solution = System(rows, targets).solve(penalties)
    _, hat = dense(rows, targets, penalties)
    assert solution.freedom == pytest.approx(np.trace(hat), rel=1e-7)
    expected = np.mean((targets - hat @ targets) ** 2) / (1 - np.trace(hat) / len(targets)) ** 2
    assert solution.predicted == pytest.approx(expected, rel=1e-7)


def test_as_many_coefficients_as_points_predict_nothing():
    rng = np.random.default_rng(0)
    assert System(rng.normal(size=(7, 7)), rng.normal(size=7)).solve(np.full(7, 1e-11)).predicted == np.inf


@pytest.mark.parametrize("penalty", [1e-11, 1e-2, 10.0])
def test_further_columns_get_the_coefficients_of_a_joint_fit(penalty):
    """Their covariance is that of the joint problem: its inverse matrix times the variance of what is left."""
    rows, targets, penalties = problem(penalty=penalty)
    further = np.random.default_rng(5).normal(size=(len(rows), 3)) + 0.3 * rows[:, :1]
    found, covariance = System(rows, targets).solve(penalties).extended(further)
    both, every = np.concatenate([rows, further], axis=1), np.concatenate([penalties, np.zeros(3)])
    expected, hat = dense(both, targets, every)
    np.testing.assert_allclose(found, expected[-3:], rtol=1e-8, atol=1e-12)
    left = np.sum((targets - hat @ targets) ** 2) + every @ expected**2
    inverse = np.linalg.inv(both.T @ both + np.diag(every))[-3:, -3:]
    np.testing.assert_allclose(covariance, left / (30 - 7 - 3) * inverse, rtol=1e-7)


def test_further_columns_that_say_nothing_get_0():
    rows, targets, penalty = problem()
    found, covariance = System(rows, targets).solve(penalty).extended(np.zeros((len(rows), 2)))
    assert not found.any()
    assert not covariance.any()


def test_columns_of_very_different_sizes_cost_no_digits():
    rng = np.random.default_rng(2)
    sizes = 10.0 ** np.arange(-60, 60, 20)
    rows, coefficients = rng.normal(size=(40, 6)) * sizes, rng.normal(size=6) / sizes
    found = System(rows, rows @ coefficients).solve(np.full(6, 1e-300)).coefficients
    np.testing.assert_allclose(found, coefficients, rtol=1e-12)


def test_equal_columns_and_too_few_rows_are_no_obstacle():
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.normal(size=(10, 3)), 2, axis=1)
    solution = System(rows, rng.normal(size=10)).solve(np.full(6, 1e-11))
    assert np.all(np.isfinite(solution.coefficients))
    few = System(rows[:2], np.array([1.0, 2.0])).solve(np.full(6, 1e-11))
    np.testing.assert_allclose(few.residuals, 0, atol=1e-6)


@pytest.mark.parametrize(("where", "value"), [("rows", np.inf), ("rows", 1e200), ("targets", np.nan), ("targets", np.inf)])
def test_numbers_that_are_too_large_have_no_solution(where, value):
    rows, targets, penalty = problem()
    (rows if where == "rows" else targets)[3] = value
    assert System(rows, targets).solve(penalty) is None
