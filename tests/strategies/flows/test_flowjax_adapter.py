"""The adapter for flowjax: what it trains, what it leaves alone, and what it says when something is wrong."""

import importlib
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.flows import FlowjaxFlow
from thalweg.strategies.flows.flowjax_adapter import build


def coupling(key: jax.Array, d: int) -> Any:
    flows, distributions = importlib.import_module("flowjax.flows"), importlib.import_module("flowjax.distributions")
    base = distributions.StandardNormal((d,))
    return flows.coupling_flow(key, base_dist=base, flow_layers=2, nn_width=4).bijection


def test_coupling_flow_with_permutations_under_jit() -> None:
    """The first call comes from inside a trace, and the permutations of the bijection are integer arrays."""
    pytest.importorskip("flowjax")
    flow = FlowjaxFlow(coupling)

    @jax.jit
    def compute(key: jax.Array, e: jax.Array) -> tuple[Any, ...]:
        params = flow.init(key, 3)
        moved = jax.tree.map(lambda leaf: leaf + 0.2, params)
        y = flow.forward(moved, e)
        gradient = jax.grad(lambda p: jnp.sum(flow.forward(p, e) ** 2))(params)
        jacobian = jax.jacobian(lambda u: flow.forward(moved, u))(e[0])
        return flow.forward(params, e), y, flow.inverse(moved, y), flow.log_det(moved, e)[0], jacobian, gradient

    e = jax.random.normal(jax.random.key(1), (4, 3))
    start, y, back, log_det, jacobian, gradient = compute(jax.random.key(0), e)
    np.testing.assert_allclose(start, e, rtol=0, atol=1e-10)
    np.testing.assert_allclose(back, e, rtol=0, atol=1e-10)
    np.testing.assert_allclose(log_det, np.linalg.slogdet(jacobian)[1], rtol=0, atol=1e-10)
    assert np.abs(y - e).max() > 1e-2
    assert all(leaf.dtype == jnp.float64 for leaf in gradient)
    assert max(float(jnp.abs(leaf).max()) for leaf in gradient) > 1e-3


def test_what_flowjax_freezes_is_no_parameter() -> None:
    pytest.importorskip("flowjax")
    paramax, bijections = importlib.import_module("paramax"), importlib.import_module("flowjax.bijections")

    def factory(key: jax.Array, d: int) -> Any:
        return bijections.Chain([bijections.Loc(jnp.zeros(d)), paramax.non_trainable(bijections.Loc(jnp.ones(d)))])

    flow = FlowjaxFlow(factory)
    params = flow.init(jax.random.key(0), 2)
    assert [leaf.shape for leaf in params] == [(2,)]
    np.testing.assert_allclose(flow.forward(tuple(leaf + 3 for leaf in params), jnp.zeros(2)), 3.0)


def test_wrong_shape_is_named() -> None:
    pytest.importorskip("flowjax")
    identity = importlib.import_module("flowjax.bijections").Identity
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        FlowjaxFlow(lambda key, d: identity((d + 1,))).init(jax.random.key(0), 3)


def test_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "equinox", None)
    build.cache_clear()
    with pytest.raises(ImportError, match=r"\.\[flows\]"):
        FlowjaxFlow(coupling).init(jax.random.key(0), 2)
