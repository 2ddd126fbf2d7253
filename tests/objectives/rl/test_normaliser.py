"""Moments of parts, merged, equal those of all observations, also where the mean is far from 0."""

import numpy as np
import pytest

from thalweg.objectives.rl import Normaliser
from thalweg.objectives.rl.normaliser import Moments


def test_merged_moments_are_those_of_all_observations():
    rng = np.random.default_rng(3)
    parts = [rng.normal(size=(n, 3)) * [1.0, 1e-3, 1e5] + [0.0, 1e6, -2.0] for n in (1, 7, 2, 500)]
    merged = Moments.empty(3)
    for part in parts:
        merged = merged.merged(Moments.of(part))
    whole = np.concatenate(parts)
    assert merged.count == 510
    np.testing.assert_allclose(merged.mean, whole.mean(0), rtol=1e-13)
    # 1e6 +- 1e-3: the mean of squares minus the square of the mean would keep no digit
    np.testing.assert_allclose(merged.normaliser.std, whole.std(0), rtol=1e-6)
    np.testing.assert_allclose(np.array(Normaliser.of(whole).std)[[0, 2]], np.array(merged.normaliser.std)[[0, 2]], rtol=1e-13)


def test_nothing_merged_changes_nothing():
    some = Moments.of(np.array([[0.1], [0.7]]))
    assert some.merged(Moments.empty(1)) is some
    assert Moments.empty(1).merged(some) is some


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_moments_that_are_not_finite(bad):
    assert not Moments.of(np.array([[1.0], [bad]])).finite
    assert not Moments.of(np.array([[1.0]])).merged(Moments.of(np.array([[bad], [bad]]))).finite


def test_constant_observations_are_not_scaled():
    assert Moments.of(np.full((5, 1), 0.1)).normaliser.std == (1.0,)
    with pytest.raises(ValueError, match="observations"):
        Normaliser.of(np.zeros((0, 2)))
