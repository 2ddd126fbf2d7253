"""Mean and spread of a start from known points, against direct computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.search.warm_start import LEAST, shrinkage, warm_start


def points(n, d, seed=0, scale=0.01):
    return scale * np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1) + np.arange(d)


def test_many_points_give_their_moments():
    """With smoothing, as Nomura et al. have it, up to the correction for few points."""
    y = points(40_000, 3)
    start = warm_start(y, 1.0, 0.5, 0.1)
    best = y[:20_000]
    np.testing.assert_allclose(start.mean, best.mean(0), rtol=1e-12)
    np.testing.assert_allclose(start.root @ start.root.T, np.cov(best.T) + 0.01 * np.eye(3), rtol=2e-3, atol=1e-6)
    np.testing.assert_allclose(start.std**2, np.diag(start.root @ start.root.T))
    assert start.size == pytest.approx(np.linalg.det(start.root) ** (1 / 3))


def test_the_covariance_is_that_of_the_formula():
    """Written out anew: docs/math.md (49), (50)."""
    y, d = points(80, 4), 4
    best, k, s = y[:8], 8, 1e-3
    S = np.cov(best.T)
    tau = np.trace(S) / d
    squared = np.trace(S @ S)
    rho = ((1 - 2 / d) * squared + np.trace(S) ** 2) / ((k + 1 - 2 / d) * (squared - np.trace(S) ** 2 / d))
    expected = 0.5 ** (2 / k) * tau ** (1 - 1 / k) * ((1 - min(rho, 1)) * S / tau + min(rho, 1) * np.eye(d))
    start = warm_start(y, 0.5, 0.1, s)
    np.testing.assert_allclose(start.root @ start.root, expected + (s * 0.5) ** 2 * np.eye(d), rtol=1e-9, atol=1e-15)


def test_a_single_point_leaves_the_spread():
    start = warm_start(np.array([[1.0, 2.0, 3.0]]), 0.7, 0.1, 0.001)
    np.testing.assert_allclose(start.root, 0.7 * np.eye(3), atol=1e-15)
    assert start.mean.tolist() == [1.0, 2.0, 3.0]


def test_equal_points_leave_the_smoothing():
    start = warm_start(np.ones((50, 2)), 2.0, 0.1, 0.25)
    np.testing.assert_allclose(start.root, 0.5 * np.eye(2), atol=1e-12)


@given(n=st.integers(1, 60), d=st.integers(1, 6), sigma0=st.floats(1e-6, 1e6), scale=st.floats(1e-12, 1e12))
def test_never_wider_than_without_and_never_flat(n, d, sigma0, scale):
    start = warm_start(points(n, d, n, scale), sigma0, 0.1, 0.01)
    values = np.linalg.eigvalsh(start.root)
    assert np.all(values <= sigma0 * (1 + 1e-9))
    assert np.all(values >= 0.01 * sigma0 * (1 - 1e-6))


@given(seed=st.integers(0, 20), n=st.integers(1, 50), factor=st.floats(0.01, 100.0))
def test_equivariant_under_rotation_translation_and_units(seed, n, factor):
    rng = np.random.default_rng(seed)
    y, Q = points(n, 3, seed), np.linalg.qr(rng.standard_normal((3, 3)))[0]
    shift = rng.standard_normal(3)
    one, two = warm_start(y, 0.5, 0.2, 0.01), warm_start(factor * y @ Q.T + shift, factor * 0.5, 0.2, 0.01)
    np.testing.assert_allclose(two.mean, factor * Q @ one.mean + shift, atol=1e-9 * factor)
    np.testing.assert_allclose(two.root, factor * Q @ one.root @ Q.T, atol=1e-6 * factor)


def test_few_points_of_an_elongated_cloud_are_shrunk_more_than_many():
    clouds = {n: points(n, 6, scale=1.0) for n in (5, 50, 5000)}
    weights = [shrinkage(np.cov(cloud.T), n) for n, cloud in clouds.items()]
    assert 1 >= weights[0] > weights[1] > weights[2] > 0
    assert shrinkage(np.eye(4), 100) == 1.0
    assert LEAST <= 5  # the smallest cloud above is one that occurs
