"""Kendall's tau against scipy's."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from thalweg.models.rank_correlation import kendall_tau


@pytest.mark.parametrize("n", [2, 3, 15, 60])
@pytest.mark.parametrize("values", [3, 10, None])
def test_it_is_that_of_scipy_times_the_shares_of_pairs_without_ties(n, values):
    """scipy has tau-b: the same sum over the geometric mean of the numbers of pairs that are not tied."""
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n)) if values is None else rng.integers(values, size=(2, n)).astype(float)
    b = np.where(rng.uniform(size=n) < 0.5, a, b)
    untied = [np.mean([each[i] != each[j] for i in range(n) for j in range(i)]) for each in (a, b)]
    expected = kendalltau(a, b).statistic * np.sqrt(untied[0] * untied[1])
    assert kendall_tau(a, b) == pytest.approx(0.0 if np.isnan(expected) else expected, abs=1e-12)


def test_it_is_0_where_it_is_not_defined():
    assert kendall_tau(np.array([1.0]), np.array([2.0])) == 0.0
    assert kendall_tau(np.ones(4), np.arange(4.0)) == 0.0
    assert kendall_tau(np.arange(4.0), np.full(4, np.nan)) == 0.0
