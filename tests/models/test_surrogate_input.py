"""Whatever values are told: the model never fails, learns finite values alone, and orders all candidates."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from thalweg.models import Quadratic, Surrogate
from thalweg.models.rank_correlation import kendall_tau

STRANGE = [np.nan, np.inf, -np.inf, 1e300, -1e300, 1.7e308, -1.7e308, 0.0, -0.0, 5e-324, 1.0, 1.0 + 2**-52, 2.0]
values = st.lists(st.sampled_from(STRANGE) | st.floats(), min_size=40, max_size=40)
d, popsize = 2, 5


def clouds(seed):
    """Return 40 points: spread out, in few places, in a line, nearly in a line, at one place, far away."""
    rng = np.random.default_rng(seed)
    e = rng.normal(size=(40, d))
    return {
        "spread": e,
        "few": np.round(e),
        "line": e[:, :1] * np.array([1.0, 2.0]),
        "nearly": e[:, :1] + 1e-9 * e,
        "one": np.tile(e[:1], (40, 1)),
        "far": 1e150 * e,
        "near": 1e-200 * e,
    }


@pytest.mark.parametrize("cloud", clouds(0))
@pytest.mark.parametrize("targets", ["auto", "ranks"])
@given(f=values, seed=st.integers(0, 3))
@example(f=[np.nan] * 40, seed=0)
@example(f=[1.0] * 40, seed=0)
@example(f=[1.7e308, -1.7e308] * 20, seed=0)
@example(f=[float(i % 3) for i in range(40)], seed=0)
@example(f=[1e300 if i % 4 == 0 else i * 0.1 for i in range(40)], seed=1)
@settings(max_examples=15)
def test_nothing_that_is_told_breaks_the_model(cloud, targets, f, seed):
    points = clouds(seed)[cloud]
    model = Surrogate(Quadratic(targets=targets), d, popsize)
    model.generation = 7  # the comparison of ranks and values comes soon
    axis, bow = np.array([0.6, 0.8]), np.array([-0.08, 0.06])
    for first, last in pairwise(range(0, 41, popsize)):
        moved = model.prepare(np.array, (axis, bow))
        if moved is not None:
            assert np.all(np.isfinite(moved.bow))
            assert np.linalg.norm(moved.bow - bow) < 1
            assert 0 < moved.precision <= 1e12
        offer = model.offer()
        assert offer is None or np.all(np.isfinite(offer[0]))
        model.begin(points[first:last], points[first:last])
        assert sorted(model.order().tolist()) == list(range(popsize))
        for i in range(first, last):
            model.add(points[i], points[i], f[i])
            assert sorted(model.order().tolist()) == list(range(popsize))
        assert model.enough(2) in (True, False)
        assert -1 <= model.info["model_tau"] <= 1
        known = np.arange(popsize) < 2
        told = model.values(np.where(known, f[first:last], np.nan), known)
        strange = known & ~np.isfinite(f[first:last])
        np.testing.assert_array_equal(told[strange], np.array(f[first:last])[strange])
        model.end()
    finite = [value for value in f if np.isfinite(value)]
    assert set(model.archive.f.tolist()) <= set(finite)
    assert np.all(np.isfinite(model.archive.e))
    assert len(np.unique(model.archive.y, axis=0)) == len(model.archive)
    other = Surrogate(Quadratic(targets=targets), d, popsize)
    other.unpack(model.pack())
    assert other.order().tolist() == model.order().tolist()


@given(values, values)
def test_the_rank_correlation_is_defined_for_all_numbers(a, b):
    tau = kendall_tau(np.array(a), np.array(b))
    assert -1 - 1e-12 <= tau <= 1 + 1e-12
    assert kendall_tau(np.array(b), np.array(a)) == pytest.approx(tau)
