"""GNN-ES as a strategy: densities, invariances, frames, and that it learns to bend."""

import logging
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.batch.run_many import run_many
from thalweg.objectives import OBJECTIVES, make_problems
from thalweg.objectives.valleys import banana
from thalweg.strategies import affine_part as gauge
from thalweg.strategies.curved_frame import Curved
from thalweg.strategies.flows import NICE, Affine, Identity, Shear
from thalweg.strategies.flowsteps import Penalised, TrustRegion
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents import CMAES, LATENTS, XNES, CauchyNES, SepCMAES
from thalweg.strategies.registry import make_strategy

rosenbrock = OBJECTIVES["rosenbrock"]


def generations(strategy, x0, key, shift=0.0, cubed=False):
    """The state after twelve generations on a moved Rosenbrock function, or on a monotone function of it, and all points."""
    return run(strategy, x0, key, shift, cubed)


@partial(jax.jit, static_argnums=0)
def run(strategy, x0, key, shift, cubed):
    def one(state, _):
        e, x, state = strategy.ask(state)
        f = rosenbrock(x - shift)
        return strategy.tell(state, e, x, jnp.where(cubed, (f - 3) ** 3, f))[0], x

    return jax.lax.scan(one, strategy.init(key, x0, 1.0), None, 12)


@cache
def bent_state(strategy):
    """Of a key with which every strategy that can bend does; with one in three, twelve generations do not show the curve."""
    return generations(strategy, jnp.zeros(3), jax.random.key(10))[0]


STRATEGIES = {
    "whitened": GNNES(CMAES(popsize=20)),
    "nice": GNNES(CMAES(popsize=20), NICE()),
    "shear": GNNES(CMAES(popsize=20), Shear()),
    "shear-nice": GNNES(CMAES(popsize=20), Shear(NICE())),
    "raw": GNNES(CMAES(popsize=20), frame="raw"),
    "diagonal": GNNES(SepCMAES(popsize=20)),
    "affine": GNNES(CMAES(popsize=20), Affine()),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_log_prob_is_the_change_of_variables(name):
    strategy = STRATEGIES[name]
    state = bent_state(strategy)

    @jax.jit
    def measure(state):
        e, x, _ = strategy.ask(state)
        jacobian = jax.vmap(jax.jacfwd(lambda point: strategy.invert(state, point)))(x[:4])
        return e, strategy.invert(state, x), jacobian, strategy.latent.base.log_prob(e[:4]), strategy.log_prob(state, x[:4])

    e, back, jacobian, log_prob_of_draw, log_prob = measure(state)
    assert np.allclose(back, e, atol=1e-8)
    assert np.allclose(log_prob, log_prob_of_draw + np.linalg.slogdet(jacobian)[1], atol=1e-8)


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "raw"])
def test_after_a_generation_the_latent_holds_everything_affine(name):
    strategy = STRATEGIES[name]
    state = bent_state(strategy)
    bend = state.bend
    diagonal = bend.straight.scale.ndim == 1
    affine = gauge.affine_part(bend.points, strategy.inner.forward(bend.params, bend.points), diagonal=diagonal)
    whole, latent = bend.outer.after(affine.solved()), strategy.latent.frame(state.latent)  # docs/math.md (16), (26)
    assert np.allclose(whole.frame.mean, latent.mean, atol=1e-12)
    assert np.allclose(whole.frame.scale, latent.scale, atol=1e-12)
    for part, expected in zip(bend.straight, affine.inverse(), strict=True):
        assert np.allclose(part, expected, atol=1e-12)
    if bend.track is not None:
        for part, expected in zip(jax.tree.leaves(bend.track.whole), jax.tree.leaves(whole), strict=True):
            assert np.allclose(part, expected, atol=1e-10)


@pytest.mark.parametrize("name", ["whitened", "shear"])
def test_around_a_flow_that_does_not_bend_the_shear_leaves_the_latent_its_affine_fit(name):
    """Mean and root of the points themselves, over a design of exact moments, are what the latent holds."""
    strategy = STRATEGIES[name]
    state = bent_state(strategy)
    points = state.bend.points
    x = strategy.bent.forward(state.bend.params, strategy.around(state), points)
    fit, latent = gauge.affine_part(points, x, diagonal=False), strategy.latent.frame(state.latent)
    assert np.allclose(fit.mean, latent.mean, atol=1e-12)
    assert np.allclose(fit.scale, latent.scale, atol=1e-12)


def test_the_step_size_shown_is_the_volume_of_the_distribution_and_the_nonlinearity_its_bend():
    strategy = STRATEGIES["whitened"]

    @jax.jit
    def generation(state):
        e, x, state = strategy.ask(state)
        return strategy.tell(state, e, x, rosenbrock(x))

    state, info = generation(bent_state(strategy))
    covariance = state.latent.sigma**2 * state.latent.root @ state.latent.root.T
    assert float(info["sigma"]) == pytest.approx(float(jnp.linalg.det(covariance)) ** (1 / 6))
    # and the nonlinearity is the root mean square, per coordinate, of what the frame does beside its affine part
    assert float(info["bow"]) > 1e-3
    assert float(info["nonlinearity"]) == pytest.approx(float(info["bow"]) / np.sqrt(3))


def test_a_flow_has_learned_to_bend_a_shear_bends_the_frame_and_the_affine_one_does_neither():
    def bent(name):
        strategy = STRATEGIES[name]
        bend = bent_state(strategy).bend
        flow = gauge.nonlinearity(bend.points, strategy.inner.forward(bend.params, bend.points), bend.straight)
        bow = np.linalg.norm(bend.outer.bow) if isinstance(bend.outer, Curved) else 0.0
        return {part for part, size in (("flow", flow), ("frame", bow)) if size > 1e-3}

    assert bent("affine") == set()
    assert bent("nice") == {"flow"}
    assert bent("whitened") == bent("shear") == {"frame"}
    assert bent("shear-nice") == {"flow", "frame"}


def test_what_the_flow_is_by_default():
    """A shear where the latent can follow a curve: a frame that turns, draws that have a variance, and an affine part."""
    for latent in (CMAES(), XNES()):
        assert GNNES(latent).flow == Shear(Affine())
        assert GNNES(latent).inner == Affine()
        assert GNNES(latent, frame="raw").flow == NICE()
    for latent in (SepCMAES(), LATENTS["snes"](), CauchyNES(), LATENTS["pycma"](popsize=8)):
        assert GNNES(latent).flow == GNNES(latent).inner == NICE()
    assert make_strategy("gnn-cma").flow == Shear(Affine())
    # where it cannot, a shear is a flow like any other
    assert GNNES(SepCMAES(), Shear()).inner == Shear()


def test_a_latent_must_not_be_mistaken_about_its_root():
    class Mistaken(CMAES):
        diagonal = True

    with pytest.raises(ValueError, match=r"Mistaken.diagonal must be False, as its root has shape \(2, 2\)"):
        GNNES(Mistaken()).init(jax.random.key(0), jnp.zeros(2), 1.0)


def test_invariant_under_monotone_transformations_of_f():
    _, x = generations(STRATEGIES["whitened"], jnp.zeros(3), jax.random.key(7))
    _, y = generations(STRATEGIES["whitened"], jnp.zeros(3), jax.random.key(7), cubed=True)
    assert np.allclose(x, y, atol=1e-10)


def test_invariant_under_translation():
    _, x = generations(STRATEGIES["whitened"], jnp.zeros(3), jax.random.key(7))
    _, y = generations(STRATEGIES["whitened"], jnp.zeros(3) + 5.0, jax.random.key(7), shift=5.0)
    assert np.allclose(x, y - 5.0, atol=1e-9)


def test_hyper_parameters_can_be_vmapped():
    """A strategy built from traced numbers: each lane equals the strategy built from that number."""

    def final(radius):
        strategy = GNNES(CMAES(popsize=6), step=TrustRegion(radius=radius))

        def one(state, _):
            e, x, state = strategy.ask(state)
            return strategy.tell(state, e, x, rosenbrock(x))[0], None

        state = jax.lax.scan(one, strategy.init(jax.random.key(0), jnp.zeros(2), 1.0), None, 5)[0]
        return strategy.spread(state)[0]

    radii = jnp.asarray([1e-4, 1e-2])
    together = jax.jit(jax.vmap(final))(radii)
    assert not np.allclose(together[0], together[1])
    assert np.allclose(together[1], jax.jit(final)(radii[1]), rtol=1e-6)


def test_a_latent_that_cannot_absorb_keeps_raw_coordinates_and_says_so(caplog):
    with caplog.at_level(logging.INFO, logger="thalweg"):
        strategy = GNNES(LATENTS["pycma"](popsize=8))
    assert strategy.raw
    assert "raw coordinates" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="thalweg"):
        assert not GNNES(CMAES()).raw
        assert GNNES(CMAES(), frame="raw").raw
        assert GNNES(LATENTS["pycma"](popsize=8), Identity()).raw
    assert not caplog.records


def test_unknown_frame():
    with pytest.raises(ValueError, match=r"frame.*'bent'"):
        GNNES(frame="bent")  # pyright: ignore


@pytest.mark.parametrize(
    "strategy", [GNNES(CMAES(), NICE(), TrustRegion()), GNNES(CMAES(), NICE(), Penalised(iterations=5)), GNNES(CMAES())]
)
def test_one_dimension_works(strategy):
    """There is nothing to bend along, but nothing breaks either."""

    def one(state, _):
        e, x, state = strategy.ask(state)
        return strategy.tell(state, e, x, jnp.sum((x - 3.0) ** 2, -1))[0], x

    state, _ = jax.jit(lambda key: jax.lax.scan(one, strategy.init(key, jnp.ones(1), 1.0), None, 10))(jax.random.key(0))
    assert abs(float(strategy.spread(state)[0][0]) - 3) < 0.5
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves((state.bend.params, state.bend.outer)))


@pytest.mark.slow
def test_nice_saves_evaluations_in_a_curved_valley_and_loses_none_on_a_straight_one():
    """Fixed seeds. Over report seeds the ratios are about 0.82 and 0.97 (studies/benchmarks/results).

    Medians of 20 seeds scatter by about 0.06, so that either bound is three standard errors away.
    """
    seeds = range(500, 520)
    ratios = {}
    for name in ("rosenbrock", "ellipsoid"):
        fun, transforms = make_problems(name, 2, seeds, rotate=name == "ellipsoid")
        runs = {
            strategy: run_many(strategy, fun, np.zeros(2), seeds=seeds, generations=120, args=(transforms,))
            for strategy in (CMAES(popsize=20), STRATEGIES["nice"])
        }
        assert all(np.all(run.fun < 1e-12) for run in runs.values())  # double precision holds far below the target
        latent, bent = (np.median(run.evaluations_to(1e-8)) for run in runs.values())
        ratios[name] = bent / latent
    assert ratios["rosenbrock"] < 1.0
    assert ratios["ellipsoid"] < 1.2


def narrow_or_straight(x, transform, curved):
    """The banana with a = 1e4, moved, or the ellipsoid, moved and rotated: one program for both."""
    return jnp.where(curved, banana(1e4)(x - transform.shift), OBJECTIVES["ellipsoid"](x, transform))


def test_a_frame_that_follows_the_curve_halves_the_evaluations_in_a_narrow_valley():
    """The default with six points in two dimensions. Fixed seeds, over which the ratios were 0.43 and 0.82.

    Over other seeds they are expected at 0.5 and 0.83; ratios of medians of 48 scatter by 0.045 and 0.026 (bootstrap), so that
    with fresh seeds the first bound would be a false alarm in about 1 of 2000 runs, the second never.
    """
    seeds = [*range(500, 548)] * 2
    curved = np.arange(96) < 48
    _, transforms = make_problems("ellipsoid", 2, seeds, rotate=True)
    medians = []
    for strategy in (CMAES(popsize=6), GNNES(CMAES(popsize=6))):
        runs = run_many(
            strategy, narrow_or_straight, np.zeros(2), seeds=seeds, generations=1500, args=(transforms, curved), ftarget=1e-8
        )
        needed = runs.evaluations_to(1e-8)
        assert np.all(np.isfinite(needed))
        medians.append([np.median(needed[curved]), np.median(needed[~curved])])
    narrow, straight = np.divide(medians[1], medians[0])
    assert narrow <= 0.65
    assert straight <= 1.05


@pytest.mark.parametrize(("points", "error"), [(1, ValueError), (2.5, ValueError), ("many", TypeError)])
def test_a_design_has_at_least_two_points(points, error):
    with pytest.raises(error, match="points must be"):
        GNNES(points=points)
