"""What is particular to the coupling flows: which coordinates bend which, and how far a scale can go."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.flows import NICE, Flow, RealNVP
from thalweg.strategies.flows.nice import merge, split


@pytest.mark.parametrize("d", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("mask", ["even-odd", "halves"])
def test_merge_undoes_split(mask: str, d: int) -> None:
    e = jnp.asarray(np.arange(2.0 * d).reshape(2, d))
    first, second = split(e, mask)
    np.testing.assert_array_equal(merge(first, second, mask), e)
    assert first.shape[-1] - second.shape[-1] in (0, 1)


def jacobian_of(flow: Flow, d: int) -> np.ndarray:
    """The Jacobian of the flow at some point, with all parameters 0.3 above their start."""

    @jax.jit
    def compute(key: jax.Array) -> jax.Array:
        params = jax.tree.map(lambda leaf: leaf + 0.3, flow.init(key, d))
        return jax.jacobian(lambda e: flow.forward(params, e))(jnp.linspace(-1.0, 1.0, d))

    return np.asarray(compute(jax.random.key(0)))


@pytest.mark.parametrize(("mask", "kept"), [("even-odd", [0, 2, 4]), ("halves", [0, 1, 2])])
def test_masks_say_who_bends_whom(mask: Literal["even-odd", "halves"], kept: list[int]) -> None:
    """One coupling leaves the first part alone, and moves the second by a function of the first alone."""
    flow = NICE(couplings=1, width=4, mask=mask)
    jacobian = jacobian_of(flow, 5)
    bent = [i for i in range(5) if i not in kept]
    expected = np.eye(5)
    expected[np.ix_(bent, kept)] = jacobian[np.ix_(bent, kept)]
    np.testing.assert_array_equal(jacobian, expected)
    assert (np.abs(expected[np.ix_(bent, kept)]) > 1e-6).all()


@pytest.mark.parametrize("mask", ["even-odd", "halves"])
def test_three_couplings_let_every_coordinate_move_every_other(mask: Literal["even-odd", "halves"]) -> None:
    """Section 3.2 of the paper: three layers with complementary masks are enough."""
    flow = NICE(mask=mask)
    assert (np.abs(jacobian_of(flow, 4)) > 1e-6).all()


def test_hidden_weights_break_the_symmetry() -> None:
    """With zero output weights the gradient reaches the output weights, and not all units have the same."""
    flow = NICE()

    @jax.jit
    def compute(key: jax.Array) -> Any:
        return jax.grad(lambda p: jnp.sum(flow.forward(p, jnp.asarray([0.7, -0.4])) ** 2))(flow.init(key, 2))

    gradient = compute(jax.random.key(0))
    assert np.unique(np.asarray(gradient[0].out)).size == 16


def test_real_nvp_scale_is_bounded() -> None:
    flow = RealNVP(couplings=1, bound=1.5)
    points = np.linspace(0.5, 3.0, 10).reshape(5, 2)

    @jax.jit
    def compute(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        params = jax.tree.map(lambda leaf: leaf + 3.0, flow.init(key, 2))
        return flow.log_det(params, jnp.asarray(points)), flow.inverse(params, flow.forward(params, jnp.asarray(points)))

    log_det, back = compute(jax.random.key(0))
    np.testing.assert_allclose(np.abs(log_det), 1.5, rtol=1e-12)
    np.testing.assert_allclose(back, points, atol=1e-10)


def test_real_nvp_shares_its_hidden_weights_with_nice() -> None:
    key = jax.random.key(3)
    for ours, theirs in zip(*(jax.jit(flow.init, static_argnums=1)(key, 3) for flow in (RealNVP(), NICE())), strict=True):
        np.testing.assert_array_equal(ours.hidden, theirs.hidden)
