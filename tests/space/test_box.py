"""The map into the box: always feasible, its inverse, its shape; and what bounds may look like."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

from thalweg.space import make_space

reals = st.floats(-1e3, 1e3)
widths = st.floats(1e-6, 1e6)


@st.composite
def boxes(draw: st.DrawFn):
    """One coordinate with a lower bound, an upper bound, or both."""
    low, width = draw(reals), draw(widths)
    sides = draw(st.sampled_from([(True, True), (True, False), (False, True)]))
    return make_space([(low if sides[0] else None, low + width if sides[1] else None)], 1)


@given(boxes(), st.floats(-1e12, 1e12))
def test_every_point_becomes_feasible(box, y):
    x = box.to_objective(np.array([y]))
    assert np.all(np.isfinite(x))
    assert np.all(box.contains(x))


@given(boxes(), st.floats(0, 1))
def test_inverse(box, share):
    low = box.low if np.isfinite(box.low[0]) else box.high - 100.0
    high = box.high if np.isfinite(box.high[0]) else box.low + 100.0
    x = np.clip(low + share * (high - low), low, high)
    back = box.to_objective(box.to_search(x))
    np.testing.assert_allclose(back, x, rtol=1e-12, atol=1e-12 * (np.abs(low).max() + np.abs(high).max() + 1))


@given(boxes())
def test_identity_inside_monotone_and_continuous_within_the_period(box):
    low = np.where(np.isfinite(box.low), box.low - box.low_margin, box.high - 50.0)[0]
    high = np.where(np.isfinite(box.high), box.high + box.high_margin, box.low + 50.0)[0]
    y = np.linspace(low, high, 401)[:, None]
    x = box.to_objective(y)
    step = (high - low) / 400
    rounding = 1e-12 * (abs(low) + abs(high))
    assert np.all(np.diff(x[:, 0]) >= -rounding)
    assert np.all(np.diff(x[:, 0]) <= step * (1 + 1e-6) + rounding)  # the slope is at most 1, so it is continuous
    inside = (y >= box.low + box.low_margin) & (y <= box.high - box.high_margin)
    assert np.array_equal(x[inside], y[inside])


def test_slope_is_continuous_and_zero_at_the_bounds():
    box = make_space((-2.0, 3.0), 1)
    y = np.linspace(-4, 6, 200001)[:, None]
    slope = np.gradient(box.to_objective(y)[:, 0], y[:, 0])
    assert np.max(np.abs(np.diff(slope))) < 1e-3
    for bottom in (-2.0 - box.low_margin[0], 3.0 + box.high_margin[0]):
        h = 1e-6
        assert abs(box.to_objective(np.array([bottom + h])) - box.to_objective(np.array([bottom]))) < 1e-10


def test_mirrored_and_periodic():
    box = make_space((0.0, 1.0), 1)
    y = np.linspace(-0.05, 1.05, 57)
    period = 2 * (1 + 0.05 + 0.05)
    for shifted in (y + period, y - 3 * period, 2 * 1.05 - y):
        np.testing.assert_allclose(box.to_objective(shifted[:, None]), box.to_objective(y[:, None]), atol=1e-12)


@given(st.floats(1e-9, 1e9), st.floats(-0.5, 1.5))
def test_the_map_is_the_same_in_every_unit(unit, y):
    one, other = make_space([(-0.3, 0.7), (0.0, None)], 2), make_space([(-0.3 * unit, 0.7 * unit), (0.0, None)], 2)
    x = one.to_objective(np.array([y, y]))
    np.testing.assert_allclose(other.to_objective(np.array([y * unit, y])), x * [unit, 1], rtol=1e-9, atol=1e-12 * max(1, unit))


def test_the_spread_is_limited_to_a_quarter_of_closed_bounds():
    assert make_space([(0, 1), (-3, 5), (0, None)], 3).widest.tolist() == [0.25, 2.0, np.inf]
    assert make_space((0, 1e3), 2, np.array([300.0, 1.0])).widest.tolist() == [250 / 300, 250.0]


def test_same_in_numpy_and_jax():
    box = make_space([(-1, 1), (None, 2), (0, None), (None, None)], 4)
    y = np.random.default_rng(1).normal(0, 3, (200, 4))
    np.testing.assert_array_equal(np.asarray(box.to_objective(jnp.asarray(y), jnp)), box.to_objective(y))
    np.testing.assert_array_equal(box.to_objective(y)[:, 3], y[:, 3])


@pytest.mark.parametrize(
    "bounds", [[(-5, 5), (-5, 5)], (-5, 5), np.array([[-5, 5], [-5, 5]]), Bounds(-5, 5), Bounds([-5, -5], [5, 5])]
)
def test_ways_to_write_the_same_box(bounds):
    box = make_space(bounds, 2)
    assert box.low.tolist() == [-5, -5]
    assert box.high.tolist() == [5, 5]


def test_open_sides():
    assert not make_space(None, 2).bounded
    assert not make_space((None, None), 2).bounded
    box = make_space(Bounds([0, -np.inf], [np.inf, 1]), 2)
    assert box.low.tolist() == [0, -np.inf]
    assert box.high.tolist() == [np.inf, 1]


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([(0, 1), (2, 1)], "coordinate 1 are inverted: (2, 1)"),
        ([(0, 1), (1, 1)], "coordinate 1 are equal: (1, 1)"),
        ([(0, 1), (0, np.inf)], "use None for an open side"),
        ([(0, 1), (-np.inf, 1)], "use None for an open side"),
        ([(0, 1), (np.nan, 1)], "coordinate 1 (low) must be a number, got nan"),
        ([(0, 1)], "each of the 2 coordinates of x0, got 1"),
        ([(0, 1), (0, 1, 2)], "coordinate 1 must be a pair (low, high), got (0, 1, 2)"),
        ([(-1e308, 1e308), (0, 1)], "too far apart"),
        ([(1e9, 1e9 + 1e-6), (0, 1)], "closer together than floating-point numbers can resolve"),
    ],
)
def test_bad_bounds(bounds, words):
    with pytest.raises(ValueError, match="bounds") as error:
        make_space(bounds, 2)
    assert words in str(error.value)


@pytest.mark.parametrize("bounds", [3, "ab", [(0, 1), ("a", "b")], [(0, 1), None], [(0, 1), (True, 2)]])
def test_bounds_of_the_wrong_type(bounds):
    with pytest.raises(TypeError, match="bounds"):
        make_space(bounds, 2)
