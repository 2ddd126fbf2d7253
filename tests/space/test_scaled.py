"""Units of coordinates: the map and its inverse, what it leaves to the bounds, and which units and starts arguments give."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

from thalweg.space import Box, Scaled, SpaceMap, make_scaled_space, make_space, middle

units = st.lists(st.floats(1e-9, 1e9), min_size=3, max_size=3).map(np.array)
BOUNDS = [(0.0, 1e-3), (-2.0, None), (None, None)]


@given(units, st.integers(0, 99))
def test_inverse_and_bounds(unit, seed):
    space = make_space(BOUNDS, 3, unit)
    y = np.random.default_rng(seed).normal(0, 3, (20, 3))
    x = space.to_objective(y)
    assert np.all(space.contains(x))
    np.testing.assert_allclose(space.to_objective(space.to_search(x)), x, rtol=1e-9, atol=1e-12)
    assert space.pairs == make_space(BOUNDS, 3).pairs
    assert space.closed.tolist() == [True, False, False]


@given(st.integers(-40, 40))
def test_what_a_variable_is_measured_in_does_not_matter(power):
    """With units in proportion to the bounds the map is the same to the last bit, if the proportion is exact."""
    factor = 2.0**power
    y = np.random.default_rng(1).normal(0, 4, (50, 1))
    for low, high in ((0.0, 1.0), (-3.0, 5.0), (2.0, None), (None, -1.0)):
        plain = make_space([(low, high)], 1, np.array([0.3]))
        other = make_space([(low and low * factor, high and high * factor)], 1, np.array([0.3 * factor]))
        assert np.array_equal(other.to_objective(y), factor * plain.to_objective(y))


def test_same_in_numpy_and_jax():
    space = make_space(BOUNDS, 3, np.array([3e-4, 2.0, 50.0]))
    y = np.random.default_rng(1).normal(0, 3, (200, 3))
    np.testing.assert_array_equal(np.asarray(space.to_objective(jnp.asarray(y), jnp)), space.to_objective(y))


def test_one_number_adds_nothing_to_the_space():
    for bounds, kind in ((None, SpaceMap), ((-5, 5), Box)):
        space, sigma0 = make_scaled_space(bounds, 2, 0.7)
        assert type(space) is kind
        assert sigma0 == 0.7
        assert np.array_equal(space.to_objective(y := np.array([0.1, 7.0])), make_space(bounds, 2).to_objective(y))


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (None, 1.0),
        ((-5, 5), 3.0),
        ([(0, None), (None, None)], 1.0),
        ([(0, 1), (0, 10)], [0.3, 3.0]),
        ([(0, 10), (0, None)], [3.0, 1.0]),
        (Bounds([0, 0], [10, np.inf]), [3.0, 1.0]),
    ],
)
def test_default_sigma0(bounds, expected):
    space, sigma0 = make_scaled_space(bounds, 2, None)
    assert np.multiply(sigma0, space.scale).tolist() == expected
    assert isinstance(space, Scaled) == isinstance(expected, list)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.sampled_from("lhb")), min_size=1, max_size=4))
def test_the_middle_is_inside(sides):
    bounds = [(None if side == "h" else low, None if side == "l" else low + width) for low, width, side in sides]
    for sigma0 in (None, 0.5, np.full(len(bounds), 0.1)):
        x0 = middle(bounds, sigma0)
        space, step = make_scaled_space(bounds, len(bounds), sigma0)
        space.check(x0, "x0")
        for (low, high), x, one in zip(bounds, x0, np.broadcast_to(step * space.scale, x0.shape), strict=True):
            if low is not None and high is not None:
                assert x == pytest.approx((low + high) / 2)
            else:
                nearest = low if high is None else high
                assert x == 0 or abs(x - nearest) == pytest.approx(one)


def test_the_middle_of_scipys_bounds():
    assert middle(Bounds([0, 2], [1, np.inf]), None).tolist() == [0.5, 3.0]
