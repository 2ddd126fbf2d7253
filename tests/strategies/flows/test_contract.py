"""The contract of every flow: an exact inverse, the log-determinant of its Jacobian, the identity at the start."""

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.flows import FLOWS, NICE, Flow, FlowjaxFlow, RealNVP


def flowjax_triangular(key: jax.Array, d: int) -> Any:
    bijections = pytest.importorskip("flowjax.bijections")
    start = jax.random.normal(key, (d, d))
    return bijections.Chain(
        [bijections.TriangularAffine(jnp.ones(d), start @ start.T + jnp.eye(d)), bijections.LeakyTanh(3.0, (d,))]
    )


CASES: dict[str, Flow] = {name: make() for name, make in FLOWS.items()} | {
    "nice-halves": NICE(mask="halves"),
    "realnvp-halves": RealNVP(couplings=2, mask="halves"),
    "flowjax": FlowjaxFlow(flowjax_triangular),
}
VARIANTS = ("nice-halves", "realnvp-halves", "flowjax", "shear-affine", "shear-nice")
"""Flows that are tested in dimension 3 alone, or made of others; all the rest in 1, 2, 3 and 10."""


class Measured(NamedTuple):
    """The quantities that the tests compare, from one compilation: at the start and at random parameters of moderate size."""

    name: str
    flow: Flow
    d: int
    values: dict[str, np.ndarray]

    def __getitem__(self, key: str) -> np.ndarray:
        return self.values[key]


@pytest.fixture(
    scope="module",  # which also makes pytest run the tests of one case together
    params=[(name, d) for name in CASES for d in ((3,) if name in VARIANTS else (1, 2, 3, 10))],
    ids=lambda case: f"{case[0]}-{case[1]}",
)
def m(request: pytest.FixtureRequest) -> Measured:
    name, d = request.param
    flow = CASES[name]
    rng = np.random.default_rng(d)
    e, direction = jnp.asarray(2 * rng.normal(size=(5, d))), jnp.asarray(rng.normal(size=d))
    shapes = jax.eval_shape(lambda key: flow.init(key, d), jax.random.key(d))
    noise = jax.tree.map(lambda leaf: 0.5 * rng.normal(size=leaf.shape), shapes)

    def single(params: Any, u: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
        """The map at one point of shape (d,), for the Jacobian."""
        y = flow.forward(params, u)
        return y, (y, flow.inverse(params, y), flow.log_det(params, u))

    def slope(params: Any, point: jax.Array) -> jax.Array:
        return jax.jvp(lambda u: flow.forward(params, u), (point,), (direction,))[1]

    @jax.jit
    def compute(key: jax.Array, noise: Any) -> dict[str, jax.Array]:
        start = flow.init(key, d)
        params = jax.tree.map(jnp.add, start, noise)
        y = flow.forward(params, e)
        jacobian, ones = jax.vmap(jax.jacfwd(lambda u: single(params, u), has_aux=True))(e)
        return {
            "e": e,
            "start": flow.forward(start, e),
            "start back": flow.inverse(start, e),
            "start log_det": flow.log_det(start, e),
            "y": y,
            "back": flow.inverse(params, y),
            "tempered": flow.forward(flow.temper(params, jnp.asarray(0.0)), e),
            "untempered": flow.forward(flow.temper(params, jnp.asarray(1.0)), e),
            "log_det": flow.log_det(params, e),
            "one": ones[0],
            "one back": ones[1],
            "log_det of one": ones[2],
            "jacobian": jacobian,
            "curvature": jax.jvp(lambda u: slope(params, u), (e[0],), (direction,))[1],
        }

    values = compute(jax.random.key(d, impl="unsafe_rbg"), noise)  # such a key compiles quicker than the default
    return Measured(name, flow, d, {key: np.asarray(value) for key, value in values.items()})


def test_inverse(m: Measured) -> None:
    np.testing.assert_allclose(m["back"], m["e"], rtol=0, atol=1e-10)


def test_log_det_is_that_of_the_jacobian(m: Measured) -> None:
    assert m["log_det"].shape == (5,)
    np.testing.assert_allclose(m["log_det"], np.linalg.slogdet(m["jacobian"])[1], rtol=0, atol=1e-10)
    if m.flow.volume_preserving:
        np.testing.assert_array_equal(m["log_det"], 0.0)
    elif m.d > 1:
        assert np.abs(m["log_det"]).max() > 1e-3


def test_identity_at_start(m: Measured) -> None:
    tolerance = 1e-10 if m.name == "flowjax" else 0.0  # ours to the last bit
    for value in (m["start"], m["start back"]):
        np.testing.assert_allclose(value, m["e"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(m["start log_det"], 0.0, rtol=0, atol=tolerance)


def test_learned_parameters_move_points(m: Measured) -> None:
    moved = np.abs(m["y"] - m["e"]).max()
    still = m.name == "shear" and m.d == 1  # there is nothing across the axis, and nothing inside this one
    assert moved > 1e-2 if m.flow.learnable and not still else moved == 0


def test_temper_goes_from_the_identity_to_no_change(m: Measured) -> None:
    np.testing.assert_array_equal(m["untempered"], m["y"])
    np.testing.assert_array_equal(m["tempered"], m["y"] if m.name == "flowjax" else m["e"])  # foreign flows stay as they are


def test_affine_means_no_curvature(m: Measured) -> None:
    curvature = np.abs(m["curvature"]).max()
    if m.flow.affine:
        assert curvature == 0
    elif m.d > 1:  # in one dimension a coupling has nothing to couple with
        assert curvature > 1e-3


def test_single_point_is_a_row_of_the_batch(m: Measured) -> None:
    np.testing.assert_allclose(m["one"], m["y"], rtol=1e-12)
    np.testing.assert_allclose(m["one back"], m["e"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(m["log_det of one"], m["log_det"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_follows_the_dtype_and_hashes(name: str) -> None:
    flow, points = CASES[name], jnp.ones((4, 2), jnp.float32)
    params = jax.eval_shape(lambda key: flow.init(key, 2, jnp.float32), jax.random.key(0))
    for method in (flow.forward, flow.inverse, flow.log_det):
        assert jax.eval_shape(method, params, points).dtype == jnp.float32
    assert hash(flow) == hash(replace(flow))
    assert flow == replace(flow)
