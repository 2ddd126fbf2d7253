"""The gauge is exact: what the latent absorbs changes no point."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.affine_part import design_points, fit_affine_part, nonlinearity
from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flows import NICE
from thalweg.strategies.latents import LATENTS
from thalweg.strategies.latents.frame import Frame

GAUSSIAN = ["cma", "xnes", "sep-cma", "snes", "pges"]
D = 5


def bent_params(key, scale=0.3):
    params = NICE().init(key, D, jnp.float64)
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(key, len(leaves))
    return jax.tree.unflatten(tree, [p + scale * jax.random.normal(k, p.shape) for p, k in zip(leaves, keys, strict=True)])


def test_the_design_has_exact_moments():
    for d, n in ((1, 2), (3, 40), (10, 6)):
        e = design_points(jax.random.key(0), d, n, jnp.float64)
        assert len(e) % 2 == 0
        assert len(e) >= max(n, 2 * d + 2)
        assert np.allclose(e.mean(0), 0, atol=1e-14)
        assert np.allclose(e.T @ e / len(e), np.eye(d), atol=1e-12)


@pytest.mark.parametrize("name", GAUSSIAN)
@pytest.mark.parametrize("condition", [1.0, 1e6])
def test_absorbing_the_affine_part_leaves_every_point_where_it_was(name, condition):
    """x = b + B N(e) before and after the latent has taken over c and L, to 1e-12 of the distribution's own size."""
    latent, flow = LATENTS[name](), NICE()
    state = latent.init(jax.random.key(1), jnp.arange(D) * 1.0, 0.7)
    stretch = jnp.sqrt(condition) ** jnp.linspace(0, 1, D)
    turn = jnp.linalg.qr(jax.random.normal(jax.random.key(2), (D, D)))[0]
    diagonal = state.root.ndim == 1
    state = state._replace(root=stretch if diagonal else turn * stretch)

    outer = latent.frame(state)  # where the flow has learned something the latent does not yet hold
    params = bent_params(jax.random.key(3))
    points = design_points(jax.random.key(4), D, 40, jnp.float64)
    e = jax.random.normal(jax.random.key(5), (200, D))
    distribution = SearchDistribution(flow, latent.base)
    before = distribution.forward(params, outer, e)

    affine = fit_affine_part(points, flow.forward(params, points), diagonal=diagonal)
    absorbed = latent.absorb(state, outer.after(affine))
    after = distribution.forward(params, latent.frame(absorbed).after(affine.inverse()), e)
    assert np.max(np.abs(after - before)) < 1e-12 * float(jnp.max(latent.frame(state).std()))
    assert np.array_equal(absorbed.sigma, state.sigma)

    # and the latent now holds the affine part: what is left of the flow has none
    rest = affine.whiten(flow.forward(params, points))
    assert np.allclose(rest.mean(0), 0, atol=1e-12)
    moments = rest.T @ points / len(points)
    assert np.allclose(jnp.diag(moments) if diagonal else moments, 1.0 if diagonal else np.eye(D), atol=1e-12)


def test_a_straight_flow_has_no_nonlinearity_and_a_bent_one_has():
    points = design_points(jax.random.key(0), D, 40, jnp.float64)
    straight = NICE().init(jax.random.key(1), D, jnp.float64)
    bent = bent_params(jax.random.key(1))
    for params, low, high in ((straight, 0.0, 1e-14), (bent, 0.05, 5.0)):
        y = NICE().forward(params, points)
        affine = fit_affine_part(points, y, diagonal=False)
        assert low <= float(nonlinearity(points, y, affine.inverse())) <= high


def test_whitening_far_from_the_origin_costs_no_digits():
    """A distribution of size 1e-7 at 1: nothing but the rounding of the points themselves may show, 1e-16 / 1e-7."""
    frame = Frame(jnp.full(3, 1.0), 1e-7 * jnp.linalg.qr(jax.random.normal(jax.random.key(0), (3, 3)))[0])
    e = jax.random.normal(jax.random.key(1), (50, 3))
    for outer in (frame.solved(), frame.solved().after(Frame(jnp.ones(3), 0.5 * jnp.eye(3)).solved().inverse())):
        assert np.max(np.abs(outer.whiten(outer.place(e)) - e)) < 2e-8


def test_frames_compose_and_invert():
    keys = jax.random.split(jax.random.key(0), 4)
    for full in (True, False):
        shape = (3, 3) if full else (3,)
        one = Frame(jax.random.normal(keys[0], (3,)), jax.random.normal(keys[1], shape) + (jnp.eye(3) if full else 2))
        two = Frame(jax.random.normal(keys[2], (3,)), jax.random.normal(keys[3], shape) + (jnp.eye(3) if full else 2))
        e = jnp.asarray([[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]])
        assert np.allclose(two.after(one).place(e), two.place(one.place(e)), atol=1e-12)
        assert np.allclose(one.inverse().place(one.place(e)), e, atol=1e-10)
        assert np.allclose(one.whiten(one.place(e)), e, atol=1e-10)
        both, solved = two.after(one), two.solved().after(one.solved())
        for known, plain in ((solved, both), (solved.inverse(), both.inverse())):
            assert np.allclose(known.place(e), plain.place(e), atol=1e-10)
            assert np.allclose(known.whiten(e), plain.whiten(e), atol=1e-10)
            assert float(known.log_det()) == pytest.approx(float(plain.log_det()), abs=1e-12)
