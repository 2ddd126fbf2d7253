"""The trust-region step: its direction, its bound, its memory."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies import ranking
from thalweg.strategies.affine_part import design_points, fit_affine_part
from thalweg.strategies.distribution import SearchDistribution
from thalweg.strategies.flows import NICE, Affine
from thalweg.strategies.flowsteps import Batch, TrustRegion
from thalweg.strategies.flowsteps.history import History
from thalweg.strategies.flowsteps.trust_region import backtrack, conjugate_gradients, evidence
from thalweg.strategies.latents.bases import GAUSSIAN
from thalweg.strategies.latents.frame import Frame

N, D = 60, 3
with jax.enable_x64(True):
    FRAME = Frame(jnp.asarray([1.0, 2.0, 3.0]), jnp.diag(jnp.asarray([1.0, 0.1, 10.0]))).solved()
    POINTS = design_points(jax.random.key(11), D, 120, jnp.float64)


NICE_FAMILY, AFFINE_FAMILY = SearchDistribution(NICE(), GAUSSIAN), SearchDistribution(Affine(), GAUSSIAN)


@partial(jax.jit, static_argnums=(0, 2))
def make_batch(distribution, params, fun, seed=0, sign=1.0):
    e = jax.random.normal(jax.random.key(seed), (N, D), jnp.float64)
    x = distribution.forward(params, FRAME, e)
    log_q = distribution.log_prob_of_draw(params, FRAME, e)
    f = sign * fun(FRAME.whiten(x))
    return Batch(
        e, x, f, ranking.assign(f, ranking.nes_utilities(N)), log_q, FRAME, POINTS, jax.random.key(1), jnp.ones((1, N))
    )


@partial(jax.jit, static_argnums=(0, 1))
def take_step(distribution, products, radius, params, state, batch, design, seed=1):
    """One step; the radius is an argument of the compiled program, so that the tests share it."""
    step = TrustRegion(radius=radius, products=products, damping=1e-6 if products == 12 else 1e-2)
    return step.step(distribution, params, FRAME, state, batch._replace(design=design, key=jax.random.key(seed)))


reconsider = jax.jit(TrustRegion.reconsider, static_argnums=(0, 1))


def start(distribution):
    params = jax.jit(distribution.flow.init, static_argnums=(1, 2))(jax.random.key(0), D, jnp.float64)
    return params, jax.jit(lambda params: TrustRegion().init(distribution, params, N, D))(params)


def curved(y):
    return (y[:, 1] - y[:, 0] ** 2) ** 2 + 0.01 * y[:, 2] ** 2


def first(y):
    return y[:, 0]


def test_the_affine_step_is_the_known_natural_gradient():
    """From the identity, with the latent unmoved: the shift is along sum u e, the generator along sum u e e', of trace 0."""
    params, state = start(AFFINE_FAMILY)
    batch = make_batch(AFFINE_FAMILY, params, first)
    design = jax.jit(design_points, static_argnums=(1, 2, 3))(jax.random.key(12), D, 80_000, jnp.float64)
    new, _, info = take_step(AFFINE_FAMILY, 12, 1e-6, params, state, batch, design)
    u = np.asarray(ranking.assign(batch.f, ranking.nes_utilities(N)))
    shift, second = u @ batch.e, (batch.e * u[:, None]).T @ batch.e
    # Gauss-Newton metric at the identity: 1 for the shift, 1 for each entry of the generator, of trace 0
    generator = second - np.trace(second) / D * np.eye(D)
    length = np.sqrt(2e-6 / (shift @ shift + np.sum(generator**2)))
    assert np.allclose(new.shift, length * shift, rtol=0.05, atol=0.05 * float(length * np.abs(shift).max()))
    assert float(info["kl"]) == pytest.approx(1e-6, rel=1.0)


@jax.jit
def kl_on_fresh_draws(params, new, seed):
    e = jax.random.normal(jax.random.key(seed), (20_000, D), jnp.float64)
    x = NICE_FAMILY.forward(params, FRAME, e)
    log_ratio = NICE_FAMILY.log_prob(new, FRAME, x) - NICE_FAMILY.log_prob_of_draw(params, FRAME, e)
    return jnp.mean(jnp.expm1(log_ratio) - log_ratio)


@pytest.mark.parametrize("radius", [1e-3, 0.1])
def test_the_bound_on_the_kl_divergence_holds_on_fresh_draws(radius):
    params, state = start(NICE_FAMILY)
    for seed in range(4):
        batch = make_batch(NICE_FAMILY, params, curved, seed)
        new, state, info = take_step(NICE_FAMILY, 10, radius, params, state, batch, POINTS, seed)
        # the step measured at most 2 radius on its own 60 draws
        assert 0 < float(kl_on_fresh_draws(params, new, 100 + seed)) < 4 * radius
        assert 0 < float(info["kl"]) <= 2 * radius
        params = new


def test_the_step_raises_the_importance_weighted_utility():
    params, state = start(NICE_FAMILY)
    batch = make_batch(NICE_FAMILY, params, curved)
    new, _, _ = take_step(NICE_FAMILY, 1, 0.01, params, state, batch, POINTS)
    u = ranking.assign(batch.f, ranking.nes_utilities(N))

    @jax.jit
    def gain(params):
        w = jnp.exp(NICE_FAMILY.log_prob(params, FRAME, batch.x) - batch.log_q)
        return jnp.sum(w * u) / jnp.sum(w)

    assert float(gain(params)) == pytest.approx(0, abs=1e-12)
    assert float(gain(new)) > 1e-3


def test_a_bend_that_hurts_shrinks_and_its_affine_part_does_not_matter():
    params, state = start(NICE_FAMILY)
    params = tuple(
        layer._replace(out=0.3 * jax.random.normal(jax.random.key(i), layer.out.shape)) for i, layer in enumerate(params)
    )

    @jax.jit
    def affine_part(params):
        design = design_points(jax.random.key(1), D, 500, jnp.float64)
        affine = fit_affine_part(design, NICE_FAMILY.flow.forward(params, design), diagonal=False)
        return affine, affine.inverse()

    affine, affine_inverse = affine_part(params)

    def against(y):  # points that the bend pushes outwards are the worst
        e = NICE_FAMILY.flow.inverse(params, y)
        return jnp.sum(e * (affine.whiten(y) - e), -1)

    factors = []
    for sign in (1.0, -1.0):
        batch = make_batch(NICE_FAMILY, params, against, sign=sign)
        tempered, new = reconsider(TrustRegion(), NICE_FAMILY, params, affine_inverse, state, batch)
        factors.append(float(tempered[0].out[0, 0] / params[0].out[0, 0]))
        assert np.array_equal(tempered[0].hidden, params[0].hidden)
    assert factors[0] < 0.4  # evidence against it, below -2
    assert factors[1] == 1.0  # strong evidence for it
    assert float(new.evidence[1]) > 3


def test_the_radius_follows_the_evidence():
    step = TrustRegion(adapt=0.3, radius_range=(0.5, 1.5))
    params, state = start(NICE_FAMILY)
    affine_inverse = Frame.identity(D, jnp.float64, diagonal=False)
    batch = make_batch(NICE_FAMILY, params, curved)
    _, idle = reconsider(step, NICE_FAMILY, params, affine_inverse, state, batch)
    assert float(idle.log_radius) == 0.0  # no step yet, nothing to judge
    _, state, _ = take_step(NICE_FAMILY, 1, 0.03, params, state, batch, POINTS)
    for sign, expected in ((1, np.log(1.5)), (-1, np.log(0.5))):
        turned = state._replace(last=sign * state.last)
        for seed in range(3, 9):  # the same objective, unmoved: the direction still pays, its opposite never
            batch = make_batch(NICE_FAMILY, params, curved, seed)
            _, turned = reconsider(step, NICE_FAMILY, params, affine_inverse, turned, batch)
        assert float(turned.log_radius) == pytest.approx(expected)


def test_evidence_is_standard_normal_under_random_ranks():
    """4,000 draws: mean within 5 / sqrt(4000), variance within 5 sqrt(2 / 4000); a false alarm has odds below 1e-6."""
    u = jnp.asarray(ranking.nes_utilities(40))
    q = jax.random.normal(jax.random.key(0), (4000, 40))
    z = np.asarray(jax.jit(jax.vmap(lambda q: evidence(u, q)))(q))
    assert abs(z.mean()) < 5 / np.sqrt(4000)
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / 4000)
    assert float(evidence(u, jnp.zeros(40))) == 0.0


def test_conjugate_gradients_solve():
    A = np.random.default_rng(0).normal(size=(12, 12))
    A, b = jnp.asarray(A @ A.T + np.eye(12)), jnp.arange(12.0)
    operator = (lambda v: A @ v), (lambda v: v @ A @ v)
    assert np.allclose(conjugate_gradients(*operator, b, 24), np.linalg.solve(A, b), atol=1e-8)
    one = conjugate_gradients(*operator, b, 1)  # a single iteration leaves the gradient's direction, and asks for no product
    assert np.allclose(one, b * (b @ b) / (b @ A @ b))
    assert np.array_equal(conjugate_gradients(*operator, jnp.zeros(12), 5), np.zeros(12))


def test_backtracking_halves_or_gives_up():
    step = jnp.asarray([4.0, 0.0])
    halved, kl = backtrack(lambda s: jnp.sum(s**2), step, jnp.asarray(1.0))
    assert halved.tolist() == [1.0, 0.0]
    assert float(kl) == 1.0
    never, kl = backtrack(lambda s: jnp.asarray(jnp.nan), step, jnp.asarray(1.0))
    assert never.tolist() == [0.0, 0.0]
    assert float(kl) == 0.0


def test_history_keeps_the_newest_and_ignores_empty_places():
    history = History.empty(3, 2, 1, jnp.float64)
    for i in (1.0, 2.0):
        (x, utility, log_q, weight), history = history.join(jnp.full((2, 1), i), jnp.full(2, 10 * i), jnp.full(2, 100 * i))
    assert weight.tolist() == [1, 1, 1, 1, 0, 0]
    assert x[:, 0].tolist() == [2, 2, 1, 1, 2, 2]  # an empty place holds a copy, so that its density is finite
    assert utility.tolist()[:4] == [20, 20, 10, 10]
    assert log_q.tolist() == [200, 200, 100, 100, 200, 200]
    for i in (3.0, 4.0):
        known, history = history.join(jnp.full((2, 1), i), jnp.full(2, 10 * i), jnp.full(2, 100 * i))
    assert known.x[:, 0].tolist() == [4, 4, 3, 3, 2, 2]
    assert history.x[..., 0].tolist() == [[4, 4], [3, 3]]  # the oldest will be needed no more


def test_settings_by_population_and_dimension():
    large, small = TrustRegion().settings(200, 20), TrustRegion().settings(12, 20)
    assert (large.generations, large.momentum, large.radius) == (1, 0.5, 0.03)
    assert (small.generations, small.momentum) == (5, 0.0)
    assert small.radius == pytest.approx(0.001 * (2 * 12 / 20) ** 2)
    assert TrustRegion(radius=0.5, generations=2).settings(12, 20)[:5] == (0.5, pytest.approx(30 * 0.00144), 0.1, 0.0, 2)
    assert [TrustRegion().schedule(4 + int(3 * np.log(d)), d) for d in (2, 10, 20, 40, 100)] == [
        (4, 1), (5, 1), (5, 2), (5, 4), (10, 10)
    ]  # fmt: skip
    assert TrustRegion().schedule(400, 40) == (1, 1)


@pytest.mark.parametrize("name", ["generations", "every"])
@pytest.mark.parametrize("value", [0, -1, 2.5])
def test_counts_of_generations_are_checked(name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        TrustRegion(**{name: value})
