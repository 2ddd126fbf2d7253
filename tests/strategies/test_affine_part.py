"""The affine part of a flow is found exactly, and no point changes when the latent absorbs it."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.affine_part import design_points, fit_affine_part, nonlinearity
from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flows import NICE
from thalweg.strategies.latents import LATENTS
from thalweg.strategies.latents.frame import Frame

D = 5


def bent_params(key, scale=0.3):
    params = NICE().init(key, D, jnp.float64)
    leaves, tree = jax.tree.flatten(params)
    keys = jax.random.split(key, len(leaves))
    return jax.tree.unflatten(tree, [p + scale * jax.random.normal(k, p.shape) for p, k in zip(leaves, keys, strict=True)])


def test_the_design_has_exact_moments():
    for d, n in ((1, 2), (3, 40), (10, 6)):
        e = np.asarray(jax.jit(design_points, static_argnums=(1, 2, 3))(jax.random.key(0), d, n, jnp.float64))
        assert len(e) % 2 == 0
        assert len(e) >= max(n, 2 * d + 2)
        assert np.allclose(e.mean(0), 0, atol=1e-14)
        assert np.allclose(e.T @ e / len(e), np.eye(d), atol=1e-12)


@partial(jax.jit, static_argnums=0)
def absorb(latent, condition):
    """A bent distribution before and after the latent has taken over c and L, at a condition of its covariance."""
    flow, distribution = NICE(), SearchDistribution(NICE(), latent.base)
    state = latent.init(jax.random.key(1), jnp.arange(D) * 1.0, 0.7)
    stretch = jnp.sqrt(condition) ** jnp.linspace(0, 1, D)
    turn = jnp.linalg.qr(jax.random.normal(jax.random.key(2), (D, D)))[0]
    diagonal = state.root.ndim == 1
    state = state._replace(root=stretch if diagonal else turn * stretch)

    outer = latent.frame(state)  # where the flow has learned something the latent does not yet hold
    params = bent_params(jax.random.key(3))
    design = design_points(jax.random.key(4), D, 40, jnp.float64)
    y = flow.forward(params, design)
    affine = fit_affine_part(design, y, diagonal=diagonal)
    absorbed = latent.absorb(state, outer.after(affine).solved())
    e = jax.random.normal(jax.random.key(5), (200, D))
    before = distribution.forward(params, outer, e)
    after = distribution.forward(params, latent.frame(absorbed).after(affine.inverse()), e)
    return before, after, outer.std(), (state.sigma, absorbed.sigma), design, affine.whiten(y)


@pytest.mark.parametrize("condition", [1.0, 1e6])
@pytest.mark.parametrize("name", ["cma", "sep-cma"])  # a full and a diagonal root; `absorb` is the same in all
def test_absorbing_the_affine_part_leaves_every_point_where_it_was(name, condition):
    """x = b + B N(e) before and after the latent has taken over c and L, to 1e-12 of the distribution's own size."""
    before, after, std, sigmas, design, rest = map(np.asarray, absorb(LATENTS[name](), condition))
    assert np.max(np.abs(after - before)) < 1e-12 * np.max(std)
    assert sigmas[0] == sigmas[1]

    # and the latent now holds the affine part: what is left of the flow has none
    diagonal = LATENTS[name].diagonal
    assert np.allclose(rest.mean(0), 0, atol=1e-12)
    moments = rest.T @ design / len(design)
    assert np.allclose(np.diag(moments) if diagonal else moments, 1.0 if diagonal else np.eye(D), atol=1e-12)


def test_a_straight_flow_has_no_nonlinearity_and_a_bent_one_has():
    @jax.jit
    def measure(scale):
        design = design_points(jax.random.key(0), D, 40, jnp.float64)
        y = NICE().forward(bent_params(jax.random.key(1), scale), design)
        return nonlinearity(design, y, fit_affine_part(design, y, diagonal=False).inverse())

    assert float(measure(0.0)) <= 1e-14
    assert 0.05 <= float(measure(0.3)) <= 5.0


def test_whitening_far_from_the_origin_costs_no_digits():
    """A distribution of size 1e-7 at 1: nothing but the rounding of the points themselves may show, 1e-16 / 1e-7."""
    frame = Frame(np.ones(3), 1e-7 * np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0])
    e = np.random.default_rng(1).normal(size=(50, 3))

    @jax.jit
    def round_trips(frame, e):
        outer = frame.solved()
        moved = outer.after(Frame(jnp.ones(3), 0.5 * jnp.eye(3)).solved().inverse())
        return outer.whiten(outer.place(e)), moved.whiten(moved.place(e))

    for back in round_trips(frame, e):
        assert np.max(np.abs(back - e)) < 2e-8


@pytest.mark.parametrize("full", [True, False])
def test_frames_compose_and_invert(full):
    rng, shape = np.random.default_rng(0), (3, 3) if full else (3,)
    one, two = (Frame(rng.normal(size=3), rng.normal(size=shape) + (2 * np.eye(3) if full else 3)) for _ in range(2))

    @jax.jit
    def pairs(one, two, e):
        """What must be equal."""
        both, solved = two.after(one), two.solved().after(one.solved())
        known = [
            (getattr(a, method)(e), getattr(b, method)(e))
            for a, b in ((solved, both), (solved.inverse(), both.inverse()))
            for method in ("place", "whiten")
        ]
        determinants = [(solved.log_det(), both.log_det()), (solved.inverse().log_det(), both.inverse().log_det())]
        back = [(one.inverse().place(one.place(e)), e), (one.whiten(one.place(e)), e)]
        return [(both.place(e), two.place(one.place(e))), *determinants], [*known, *back]

    e = jnp.asarray([[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]])
    for tolerance, group in zip((1e-12, 1e-10), pairs(one, two, e), strict=True):
        for got, expected in group:
            np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)
    identity = Frame.identity(3, jnp.float64, diagonal=not full)
    np.testing.assert_array_equal(identity.place(e), e)
