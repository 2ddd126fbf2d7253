"""What is particular to the shear: the parabola it makes of a line, whatever the length of its axis and the lean of its bow."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.flows import NICE, Affine, RealNVP, Shear
from thalweg.strategies.flows.shear import ShearParams, normal

AXIS, BOW = np.asarray([3.0, 0.0, 4.0]) / 5, np.asarray([-0.8, 1.5, 0.6])  # of length 1, and at a right angle to it


def params(axis: np.ndarray = AXIS, bow: np.ndarray = BOW) -> ShearParams:
    return ShearParams(jnp.asarray(axis), jnp.asarray(bow), ())


def draws(n: int = 7) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 3))


def test_forward_is_the_formula() -> None:
    e = draws()
    expected = [point + BOW * ((AXIS @ point) ** 2 - 1) / np.sqrt(2) for point in e]  # docs/math.md (25)
    np.testing.assert_allclose(Shear().forward(params(), jnp.asarray(e)), expected, rtol=0, atol=1e-14)


def test_lines_along_the_axis_become_parabolas() -> None:
    """Over equal steps along v the second difference is constant and points along w; lines across stay as they are."""
    flow, s = Shear(), np.linspace(-2, 3, 6)[:, None]
    start, across = draws(2)
    curve = np.asarray(flow.forward(params(), jnp.asarray(start + s * AXIS)))
    np.testing.assert_allclose(np.diff(curve, 2, axis=0), np.tile(np.sqrt(2) * BOW, (4, 1)), atol=1e-12)
    np.testing.assert_allclose(curve @ AXIS, (start + s * AXIS) @ AXIS, atol=1e-12)  # nothing moves along v
    line = np.asarray(flow.forward(params(), jnp.asarray(start + s * (across - AXIS * (AXIS @ across)))))
    np.testing.assert_allclose(np.diff(line, 2, axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(("length", "lean"), [(7.0, 0.0), (1e-3, 2.0), (-1.0, -0.5)])
def test_only_the_direction_of_the_axis_and_what_of_the_bow_lies_across_it_count(length: float, lean: float) -> None:
    other, e = params(length * AXIS, BOW + lean * AXIS), jnp.asarray(draws())
    np.testing.assert_allclose(Shear().forward(other, e), Shear().forward(params(), e), rtol=1e-12, atol=1e-12)
    axis, bow = normal(other)
    np.testing.assert_allclose([axis @ axis, axis @ bow], [1.0, 0.0], atol=1e-14)


def test_its_mean_displacement_is_nothing_and_its_root_mean_square_is_the_bow() -> None:
    """(s^2 - 1) / sqrt(2) has mean 0 and variance 1 for a standard normal s: Gauss-Hermite quadrature is exact for it."""
    s, weight = np.polynomial.hermite_e.hermegauss(5)
    weight = weight / weight.sum()
    moved = np.asarray(Shear().forward(params(), jnp.asarray(s[:, None] * AXIS))) - s[:, None] * AXIS
    np.testing.assert_allclose(weight @ moved, 0.0, atol=1e-12)
    np.testing.assert_allclose((weight * s) @ moved, 0.0, atol=1e-12)
    np.testing.assert_allclose(weight @ np.sum(moved**2, 1), BOW @ BOW)


def test_the_flow_inside_comes_first() -> None:
    flow, rng, e = Shear(NICE()), np.random.default_rng(1), jnp.asarray(draws())
    shapes = jax.eval_shape(lambda key: NICE().init(key, 3), jax.random.key(0))
    inside = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), shapes)
    expected = jax.jit(lambda inside: Shear().forward(params(), NICE().forward(inside, e)))(inside)
    np.testing.assert_allclose(jax.jit(flow.forward)(params()._replace(inner=inside), e), expected, rtol=1e-12)


def test_temper_shrinks_the_bend_in_proportion() -> None:
    """Of a plain shear; of the flow inside it shrinks what that flow shrinks itself."""
    e = jnp.asarray(draws())
    half = Shear().forward(Shear().temper(params(), jnp.asarray(0.5)), e)
    np.testing.assert_allclose(half, (e + Shear().forward(params(), e)) / 2, rtol=1e-12)
    flow = Shear(Affine())
    start = flow.init(jax.random.key(0), 3)
    tempered = flow.temper(start._replace(inner=start.inner._replace(shift=jnp.ones(3))), jnp.asarray(0.25))
    np.testing.assert_array_equal(tempered.inner.shift, 0.25)


def test_the_flow_inside_must_preserve_volume() -> None:
    with pytest.raises(ValueError, match="inner"):
        Shear(RealNVP())
