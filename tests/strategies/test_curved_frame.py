"""CurvedFrame frames: the map and its inverse, and that composing with an affine map is exact."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.affine_part import design_points, fit_affine_part
from thalweg.strategies.curved_frame import CurvedFrame
from thalweg.strategies.latents.frame import Frame

DIMENSIONS = (1, 2, 5)


def affine(rng: np.random.Generator, d: int) -> Frame:
    """A random affine map, of a condition of some ten and far enough from the identity."""
    q, r = np.linalg.qr(rng.normal(size=(d, d))), np.linalg.qr(rng.normal(size=(d, d)))
    scale = (q[0] * np.exp(rng.uniform(-1.5, 1.5, d))) @ r[0]
    return Frame(jnp.asarray(2 * rng.normal(size=d)), jnp.asarray(scale))


def bent_frame(rng: np.random.Generator, d: int) -> CurvedFrame:
    axis = rng.normal(size=d)
    axis /= np.linalg.norm(axis)
    bow = rng.normal(size=d)
    return CurvedFrame(affine(rng, d).solved(), jnp.asarray(axis), jnp.asarray(bow - axis * (axis @ bow)))


class Measured(NamedTuple):
    """The quantities that the tests compare, from one compilation per dimension; three random cases along the first axis."""

    e: np.ndarray
    back: np.ndarray
    log_det: np.ndarray
    jacobian: np.ndarray
    stepwise: np.ndarray
    """The images by `first` and then by the curved frame."""
    together: np.ndarray
    """The images by their composition."""
    together_back: np.ndarray
    composed: CurvedFrame


@pytest.fixture(scope="module", params=DIMENSIONS)
def m(request: pytest.FixtureRequest) -> Measured:
    d = request.param
    rng = np.random.default_rng(d)

    @jax.jit
    @jax.vmap
    def compute(curved: CurvedFrame, first: Frame, e: Any) -> Any:
        x = curved.place(e)
        jacobian = jax.vmap(jax.jacobian(curved.place))(e)
        composed, stepwise = curved.after(first.solved()), curved.place(first.place(e))
        back = composed.whiten(stepwise)
        return Measured(e, curved.whiten(x), curved.log_det(), jacobian, stepwise, composed.place(e), back, composed)

    cases = [(bent_frame(rng, d), affine(rng, d), jnp.asarray(rng.normal(size=(6, d)))) for _ in range(3)]
    return jax.tree.map(np.asarray, compute(*jax.tree.map(lambda *parts: jnp.stack(parts), *cases)))


def test_whiten_undoes_place(m: Measured) -> None:
    np.testing.assert_allclose(m.back, m.e, rtol=0, atol=1e-10)


def test_the_determinant_is_that_of_the_jacobian_everywhere(m: Measured) -> None:
    np.testing.assert_allclose(np.linalg.slogdet(m.jacobian)[1], np.tile(m.log_det[:, None], 6), rtol=0, atol=1e-10)


def test_after_an_affine_map_it_is_the_composition_point_by_point(m: Measured) -> None:
    np.testing.assert_allclose(m.together, m.stepwise, rtol=0, atol=1e-10 * np.abs(m.stepwise).max())
    np.testing.assert_allclose(m.together_back, m.e, rtol=0, atol=1e-9)


def test_the_composition_has_the_form_that_the_next_one_relies_on(m: Measured) -> None:
    affine_part, axis, bow = m.composed
    np.testing.assert_allclose(np.linalg.norm(axis, axis=-1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.sum(axis * bow, -1), 0.0, atol=1e-12 * (1 + np.linalg.norm(bow, axis=-1).max()))
    eye = np.eye(axis.shape[-1])
    np.testing.assert_allclose(
        affine_part.inverse_scale @ affine_part.frame.scale,
        np.broadcast_to(eye, affine_part.inverse_scale.shape),
        rtol=0,
        atol=1e-10,
    )
    np.testing.assert_allclose(affine_part.log_volume, np.linalg.slogdet(affine_part.frame.scale)[1], rtol=0, atol=1e-10)


def test_an_affine_map_and_its_inverse_lead_back() -> None:
    rng = np.random.default_rng(0)
    curved, first = bent_frame(rng, 4), affine(rng, 4).solved()
    again = jax.jit(lambda curved, first: curved.after(first).after(first.inverse()))(curved, first)
    for part, expected in zip(jax.tree.leaves(again), jax.tree.leaves(curved), strict=True):
        np.testing.assert_allclose(part, expected, rtol=0, atol=1e-11)


def test_its_best_affine_fit_is_its_frame() -> None:
    """So that the latent, which is told the affine part, holds all of it: over a design of exact moments, to rounding."""
    rng = np.random.default_rng(1)
    curved = bent_frame(rng, 4)

    @jax.jit
    def fits(curved: CurvedFrame, one: Frame, two: Frame) -> Any:
        design = design_points(jax.random.key(0), 4, 40, jnp.float64)
        frames = curved, curved.moved_to(one.solved()), curved.after(two.solved())
        return [(each, fit_affine_part(design, each.place(design), diagonal=False)) for each in frames]

    for each, fit in fits(curved, affine(rng, 4), affine(rng, 4)):
        np.testing.assert_allclose(fit.mean, each.frame.mean, rtol=0, atol=1e-10)
        np.testing.assert_allclose(fit.scale, each.frame.scale, rtol=0, atol=1e-10)


def test_a_straight_frame_moves_to_where_the_latent_has_gone() -> None:
    rng = np.random.default_rng(2)
    start, frame = affine(rng, 3), affine(rng, 3)
    moved = jax.jit(lambda start, frame: CurvedFrame.straight(start).moved_to(frame.solved()))(start, frame)
    np.testing.assert_allclose(moved.frame.mean, frame.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moved.frame.scale, frame.scale, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(moved.bow, 0.0)
    np.testing.assert_allclose(CurvedFrame.straight(start).place(jnp.eye(3)), start.place(jnp.eye(3)), rtol=0, atol=1e-14)


def test_a_latent_that_moves_along_the_axis_stays_on_the_curve() -> None:
    """Both parabolas are the same set of points, though mean, tangent and length of the axis are others."""
    rng = np.random.default_rng(3)
    d, far, longer = 4, 1.7, 0.6
    curved = bent_frame(rng, d)
    (m, A), v = curved.frame, curved.axis
    across = jnp.eye(d) - jnp.outer(v, v)
    spread = across @ (jnp.eye(d) + 0.1 * jnp.asarray(rng.normal(size=(d, d)))) @ across  # of no effect along v
    there = Frame(m + far * A @ v, A @ (longer * jnp.outer(v, v) + spread))
    moved = jax.jit(lambda curved, there: curved.moved_to(there.solved()))(curved, there)
    s = jnp.linspace(-3, 3, 9)[:, None]
    np.testing.assert_allclose(moved.place(s * moved.axis), curved.place((far + longer * s) * v), rtol=0, atol=1e-10)
    # the mean lies on the inside of the curve, and not where the latent would be by itself, on the tangent
    assert np.linalg.norm(moved.frame.mean - curved.place(far * v)) > 0.1
    assert np.linalg.norm(moved.frame.mean - (m + far * A @ v)) > 0.1


def test_moving_is_composing_with_what_the_latent_has_done() -> None:
    rng = np.random.default_rng(8)
    curved, new = bent_frame(rng, 5), affine(rng, 5)

    @jax.jit
    def both(curved: CurvedFrame, new: Frame) -> tuple[CurvedFrame, CurvedFrame]:
        first = Frame(curved.affine.whiten(new.mean), curved.affine.inverse_scale @ new.scale)
        return curved.moved_to(new.solved()), curved.after(first.solved())

    for part, expected in zip(*map(jax.tree.leaves, both(curved, new)), strict=True):
        np.testing.assert_allclose(part, expected, rtol=0, atol=1e-10)
