"""The fit of a quadratic: exact where the function is one, pulled towards isotropy where the points say little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.models.features import number_of_features, quadratic_features
from thalweg.models.fit import NONE, OUTLYING, TOWARDS_ISOTROPY, Data, Form, choose, choose_targets, fit

FULL, SEPARABLE = Form(False, NONE), Form(True, NONE)


def quadratic(d, seed=1, *, separable=False):
    """Return a convex quadratic function of one point or many, and its minimum."""
    rng = np.random.default_rng(seed)
    root = np.diag(rng.uniform(0.5, 2, d)) if separable else rng.normal(size=(d, d)) + np.eye(d)
    minimum, A = rng.normal(size=d), root @ root.T
    return (lambda e: 3.0 + np.einsum("...i,ij,...j->...", e - minimum, A, e - minimum)), minimum


def data_of(fun, e, y=None, best=20.0):
    f = fun(e)
    order = np.argsort(f)
    return Data.weighted(e[order], (e if y is None else y)[order], f[order], best)


def points(d, number=None, seed=0):
    return np.random.default_rng(seed).normal(size=(number or number_of_features(d) + 4, d))


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("scale", [0.1, 1.0, 1e4])
def test_a_quadratic_is_found_exactly(d, scale):
    fun, minimum = quadratic(d)
    data = data_of(lambda e: fun(e / scale), scale * points(d))
    fitted = fit(data, FULL)
    other = points(d, 7, seed=9)
    np.testing.assert_allclose(fitted(scale * other, scale * other), fun(other), rtol=1e-6)
    np.testing.assert_allclose(fitted.stationary(), scale * minimum, atol=1e-5 * scale)
    np.testing.assert_allclose(choose(data, ranks=False)(scale * other, scale * other), fun(other), rtol=1e-6)


@pytest.mark.parametrize("d", [2, 5])
def test_a_separable_function_of_the_users_coordinates_is_found_from_few_points(d):
    """In standard coordinates, which are turned and bent, it is none; the coordinates of R^d count."""
    fun, minimum = quadratic(d, separable=True)
    y = points(d, 2 * d + 4)
    e = y @ np.linalg.qr(points(d, d))[0] + 0.3 * y[:, :1] ** 2
    data = data_of(lambda _: fun(y), e, y)
    fitted = fit(data, SEPARABLE)
    np.testing.assert_allclose(fitted(points(d, 5), points(d, 5)), fun(points(d, 5)), rtol=1e-7)
    np.testing.assert_allclose(fitted.stationary(), minimum, atol=1e-6)
    assert choose(data, ranks=False).form == SEPARABLE


def test_few_points_have_the_model_of_the_penalised_problem():
    """The closed form of the penalised least squares, from a dense solve; without data it curves alike in all directions."""
    d, (fun, _) = 4, quadratic(4)
    data = data_of(fun, points(d, 9))
    for penalty in (TOWARDS_ISOTROPY, 1.0, 1e8):
        fitted = fit(data, Form(False, penalty))
        rows = data.weights[:, None] * quadratic_features(data.e)
        penalties = np.where(np.arange(rows.shape[1]) < d + 2, NONE, penalty)
        expected = np.linalg.solve(rows.T @ rows + np.diag(penalties), rows.T @ data.targets(ranks=False))
        np.testing.assert_allclose(fitted.solution.coefficients, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(fitted.matrix, np.mean(np.diag(fitted.matrix)) * np.eye(d), atol=1e-6)


def test_the_minimum_of_an_isotropic_function_needs_few_points():
    d = 6
    data = data_of(lambda e: np.sum((e - 0.5) ** 2, -1), points(d, d + 3))
    np.testing.assert_allclose(fit(data, Form()).stationary(), 0.5, atol=1e-6)


@pytest.mark.parametrize("form", [Form(), FULL, SEPARABLE, Form(ranks=True)])
def test_left_out_values_are_those_of_fits_without_each_point(form):
    d, rng = 2, np.random.default_rng(4)
    data = data_of(lambda e: np.sum(e**2, -1) + 0.3 * rng.normal(size=len(e)), points(d, 14))
    fitted = fit(data, form)
    rows, targets = fitted.solution.rows, data.targets(ranks=form.ranks)
    expected = []
    for i in range(len(targets)):
        X, t = np.delete(rows, i, 0), np.delete(targets, i)
        coefficients = np.linalg.solve(X.T @ X + np.diag(fitted.solution.penalty), X.T @ t)
        expected.append(rows[i] @ coefficients / data.weights[i])
    if form.ranks:  # values of f at these ranks
        ranks = np.arange(len(targets)) * (2 / len(targets))
        beyond = np.minimum(expected, 0.0) + np.maximum(np.array(expected) - ranks[-1], 0.0)
        expected = np.interp(expected, ranks, data.f) + data.unit * beyond
    else:
        expected = data.f[0] + data.unit * np.array(expected)
    np.testing.assert_allclose(fitted.left_out(np.arange(14)), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(fitted.left_out(np.array([7, 2])), expected[[7, 2]], rtol=1e-6, atol=1e-9)


def test_weights_fall_linearly_with_the_rank_and_have_the_mean_square_1():
    data = data_of(quadratic(2)[0], points(2, 5))
    np.testing.assert_allclose(data.weights / data.weights[-1], [20.0, 15.25, 10.5, 5.75, 1.0])
    assert np.mean(data.weights**2) == pytest.approx(1)


@given(st.floats(1e-12, 1e12), st.floats(-1e6, 1e6))
def test_targets_do_not_change_under_affine_maps_of_the_values(factor, constant):
    f = np.array([0.0, 0.5, 1.0, 4.0, 64.0]) * max(1.0, abs(constant) / factor)
    e = points(2, 5)
    one, other = (Data.weighted(e, e, each, 20.0).targets(ranks=False) for each in (f, constant + factor * f))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_large_constant_costs_no_digits():
    fun, minimum = quadratic(3)
    data = data_of(lambda e: 1e6 + 1e-6 * fun(e), points(3))
    np.testing.assert_allclose(fit(data, FULL).stationary(), minimum, atol=1e-2)


def test_an_outlier_counts_as_large_and_breaks_nothing():
    e = points(2, 30)
    f = np.sum((e - 0.5) ** 2, -1)
    f[np.argmax(f)] = 1e300
    order = np.argsort(f)
    data = Data.weighted(e[order], e[order], f[order], 20.0)
    assert data.targets(ranks=False)[-1] == OUTLYING * data.weights[-1]
    assert np.all(np.isfinite(fit(data, FULL)(e, e)))
    ranks = fit(data, Form(False, NONE, ranks=True))
    assert np.linalg.norm(ranks.stationary() - 0.5) < 0.3  # ranks do not see how large it is
    assert choose_targets(data, present=False)[0]


def test_equal_values_and_numbers_beyond_all_bounds_give_no_model():
    e = points(2, 8)
    assert fit(Data.weighted(e, e, np.ones(8), 20.0), FULL) is None
    assert choose(Data.weighted(e, e, np.ones(8), 20.0), ranks=True) is None
    with np.errstate(all="ignore"):
        assert fit(Data.weighted(1e200 * e, e, np.arange(8.0), 20.0), FULL) is None


def test_half_of_the_values_equal_to_the_best_one_leave_a_unit():
    e = points(2, 8)
    data = Data.weighted(e, e, np.array([0, 0, 0, 0, 0, 0, 0, 5.0]), 20.0)
    assert data.unit == 5
    assert fit(data, FULL) is not None


@given(st.lists(st.floats(1e-3, 1e3), min_size=13, max_size=13), st.floats(-1e3, 1e3))
def test_a_model_of_ranks_is_the_same_under_increasing_maps_of_the_values(steps, first):
    """Coefficients to the same bits, and the same order of further points."""
    d, other = 2, points(2, 20, seed=3)
    plain = data_of(quadratic(d)[0], points(d, 14))
    mapped = Data.weighted(plain.e, plain.y, np.cumsum([first, *steps]), 20.0)
    one, two = (choose(data, ranks=True) for data in (plain, mapped))
    assert one.form == two.form
    assert np.array_equal(one.solution.coefficients, two.solution.coefficients)
    assert np.array_equal(np.argsort(one(other, other)), np.argsort(two(other, other)))


def test_values_of_a_model_of_ranks_are_values():
    data = data_of(lambda e: np.exp(3 * np.sum(e**2, -1)), points(2, 20))
    fitted = fit(data, Form(False, NONE, ranks=True))
    values, raw = fitted(data.e, data.y), quadratic_features(data.e) @ fitted.solution.coefficients
    assert np.array_equal(np.argsort(values), np.argsort(raw))
    inside = (raw > 0) & (raw < 2 * 19 / 20)
    assert inside.sum() > 10
    assert np.all((values[inside] >= data.f[0]) & (values[inside] <= data.f[-1]))


def test_ranks_are_chosen_where_they_predict_better_and_stay_while_both_do():
    e = points(3, 40)
    curved = data_of(lambda e: np.sum((e - 0.2) ** 2, -1), e)
    steep = data_of(lambda e: np.exp(12 * np.sum((e - 0.2) ** 2, -1)), e)
    assert choose_targets(steep, present=False)[0]
    assert choose_targets(steep, present=True)[0]
    assert not choose_targets(curved, present=False)[0]


def test_in_many_dimensions_few_coefficients_are_fitted():
    """A function that curves alike in all directions; or one of squares of the user's coordinates, once points determine it."""
    rng, d = np.random.default_rng(3), 51
    y = rng.normal(size=(3 * d, d))
    minimum, R = rng.normal(size=d), np.linalg.qr(rng.normal(size=(d, d)))[0]
    e = (y * 10.0 ** np.linspace(0, 1, d)) @ R
    found = []
    for f in (np.sum((e - minimum) ** 2, axis=1), np.sum((y - minimum) ** 2, axis=1)):
        order = np.argsort(f)
        fitted = choose(Data.weighted(e[order], y[order], f[order], 20.0), ranks=False)
        np.testing.assert_allclose(fitted.stationary(), minimum, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(fitted(e, y), f, rtol=1e-6)
        found.append(fitted.form.isotropic)
    assert found == [True, False]
    assert choose(Data.weighted(e[: d + 3], y[: d + 3], np.arange(d + 3.0), 20.0), ranks=False) is None
