"""The bend by values: it finds the bow of a bent quadratic, and leaves a straight one straight."""

from math import sqrt

import numpy as np
import pytest

from thalweg.models.bend import LONGEST_STEP, PRIOR, Bend, shrunk, square_along
from thalweg.models.features import number_of_features
from thalweg.models.fit import NONE, Data, Form, choose, fit


def bent_problem(d, bow, noise=0.0, number=None, seed=0):
    """Return points and values of a quadratic function of e = y - bow ((axis.y)^2 - 1) / sqrt(2), and the axis."""
    rng = np.random.default_rng(seed)
    axis = np.eye(d)[0]
    y = rng.normal(size=(number or 2 * number_of_features(d) + d, d))
    e = y - square_along(y, axis)[:, None] * bow
    f = np.sum(np.arange(1.0, d + 1) * (e - 0.3) ** 2, axis=1) + noise * rng.normal(size=len(y))
    order = np.argsort(f)
    return y[order], f[order], axis


def moves(y, f, axis, bow, number, form=None, bend=None):
    """Move the bow this often, each time with the data in the coordinates of the present one."""
    bend = bend or Bend()
    path = [bow]
    for _ in range(number):
        data = Data.weighted(y - square_along(y, axis)[:, None] * path[-1], y, f, 20.0)
        fitted = choose(data, ranks=False) if form is None else fit(data, form)
        moved = bend.move(fitted, axis, path[-1])
        path.append(path[-1] if moved is None else moved.bow)  # None: no estimate this time
    return path, moved, bend


def bow_of(d, length):
    bow = np.zeros(d)
    bow[1:] = length / sqrt(d - 1)
    return bow


def test_the_square_along_the_axis_has_mean_0_and_variance_1():
    e = np.random.default_rng(0).normal(size=(200_000, 3))
    square = square_along(e, np.array([0.6, 0.0, 0.8]))
    assert abs(square.mean()) < 0.01
    assert abs(square.std() - 1) < 0.02


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("length", [0.1, 0.3, 0.5])
def test_the_bow_of_a_bent_quadratic_is_found_from_exact_values(d, length):
    true = bow_of(d, length)
    path, moved, bend = moves(*bent_problem(d, true), np.zeros(d), 25)
    assert np.linalg.norm(path[-1] - true) < 1e-4
    assert moved.precision > 1e4
    assert bend.evidence < -3
    assert moved.fitted.solution.squares < 1e-6


@pytest.mark.parametrize("d", [3, 5])
def test_a_long_bow_is_found_by_whoever_believes_in_it(d):
    """From no evidence the first bounded step explains too little of a long bow."""
    path, *_ = moves(*bent_problem(d, bow_of(d, 1.0)), np.zeros(d), 20, bend=Bend(-5.0))
    assert np.linalg.norm(path[-1] - bow_of(d, 1.0)) < 1e-4


@pytest.mark.parametrize("d", [2, 5])
def test_a_bow_of_the_right_size_is_kept_and_the_model_is_exact_in_its_coordinates(d):
    true = bow_of(d, 0.5)
    path, moved, _ = moves(*bent_problem(d, true), true, 1, Form(False, NONE), Bend(-5.0))
    np.testing.assert_allclose(path[-1], true, atol=1e-6)
    np.testing.assert_allclose(moved.fitted.stationary(), 0.3, atol=1e-6)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_a_straight_quadratic_stays_straight(d):
    path, *_ = moves(*bent_problem(d, np.zeros(d)), np.zeros(d), 10)
    assert np.linalg.norm(path[-1]) < 1e-6


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_bow_that_explains_no_more_than_chance_shrinks(seed):
    path, _, bend = moves(*bent_problem(3, np.zeros(3), noise=3.0, seed=seed), bow_of(3, 0.5), 15)
    assert bend.evidence > np.log(0.3)
    assert np.linalg.norm(path[-1]) < 0.1


@pytest.mark.parametrize("length", [0.5, 3.0])
def test_no_step_is_longer_than_the_limit(length):
    path, *_ = moves(*bent_problem(3, bow_of(3, length)), np.zeros(3), 6, bend=Bend(-5.0))
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert np.all(steps <= LONGEST_STEP * (1 + 1e-12))
    assert steps.max() > 0.1


def test_the_bow_stays_orthogonal_to_the_axis():
    rng = np.random.default_rng(2)
    y, f, _ = bent_problem(4, bow_of(4, 0.5))
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    path, *_ = moves(y @ Q.T, f, Q[:, 0], np.zeros(4), 20)
    assert abs(path[-1] @ Q[:, 0]) < 1e-12
    np.testing.assert_allclose(Q.T @ path[-1], bow_of(4, 0.5), atol=1e-4)


def test_too_few_points_give_no_estimate():
    d = 3
    y, f, axis = bent_problem(d, bow_of(d, 0.5), number=number_of_features(d) + d)
    fitted = fit(Data.weighted(y, y, f, 20.0), Form())
    assert Bend().move(fitted, axis, np.zeros(d)) is None


def test_a_separable_model_does_not_hide_the_bow():
    d, axis = 2, np.eye(2)[0]
    y, f, _ = bent_problem(d, bow_of(d, 0.5))
    fitted = fit(Data.weighted(y, y, f, 20.0), Form(True, NONE))
    assert Bend(-5.0).move(fitted, axis, np.zeros(d)).bow[1] > 0.1


def test_a_change_is_shrunk_by_its_error_against_the_prior():
    change, error = shrunk(np.array([0.1, 0.1]), np.diag([0.0, PRIOR**2]))
    np.testing.assert_allclose(change, [0.1, 0.05])
    assert error == pytest.approx(PRIOR**2 / 2)
    # a direction without any data stays as it is
    change, error = shrunk(np.array([5.0]), np.array([[1e12]]))
    assert abs(change[0]) < 1e-12
    assert error == pytest.approx(PRIOR**2)
    # exact values are believed, up to the longest step
    change, error = shrunk(np.array([3.0, 4.0]), np.zeros((2, 2)))
    np.testing.assert_allclose(change, [0.6 * LONGEST_STEP, 0.8 * LONGEST_STEP])
    assert error == 0
