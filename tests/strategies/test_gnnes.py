"""GNN-ES as a strategy: densities, invariances, frames, and that it learns to bend."""

import logging
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.batch.run_many import run_many
from thalweg.objectives import OBJECTIVES, make_problems
from thalweg.objectives.functions import banana
from thalweg.strategies.affine_part import fit_affine_part, nonlinearity
from thalweg.strategies.curved_frame import CurvedFrame
from thalweg.strategies.flows import NICE, Affine, Identity, Shear
from thalweg.strategies.flowsteps import Penalised, TrustRegion
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents import CMAES, LATENTS, XNES, CauchyNES, SepCMAES
from thalweg.strategies.registry import make_strategy

rosenbrock = OBJECTIVES["rosenbrock"]


class Run(NamedTuple):
    """Twelve generations on a moved Rosenbrock function, or on a monotone function of it, and measurements of the end."""

    state: Any
    x: Any
    """The points of all generations."""
    info: Any
    """The info of the last generation."""
    e: Any
    """Further draws from the last state."""
    inverted: Any
    """The draws that `invert` finds for the points of `e`."""
    placed: Any
    """The difference between these points and those that `place` finds."""
    jacobian: Any
    """The Jacobian of `invert` at the first four of these points."""
    log_prob_of_draw: Any
    log_prob: Any
    """The log-densities of the first four draws under the base, and of their points under the search distribution."""


def search(strategy, x0, key, shift=0.0, cubed=False):
    """The last state, and the points and the info of each generation."""

    def one(state, _):
        e, x, state = strategy.ask(state)
        f = rosenbrock(x - shift)
        state, info = strategy.tell(state, e, x, jnp.where(cubed, (f - 3) ** 3, f))
        return state, (x, info)

    return jax.lax.scan(one, strategy.init(key, x0, 1.0), None, 12)


@partial(jax.jit, static_argnums=0)
def run(strategy, x0, key, shift, cubed):
    state, (points, info) = search(strategy, x0, key, shift, cubed)
    e, x, _ = strategy.ask(state)
    jacobian = jax.vmap(jax.jacfwd(lambda point: strategy.invert(state, point)))(x[:4])
    densities = strategy.latent.base.log_prob(e[:4]), strategy.log_prob(state, x[:4])
    placed = strategy.place(state, e) - x
    last = jax.tree.map(lambda leaf: leaf[-1], info)
    return Run(state, points, last, e, strategy.invert(state, x), placed, jacobian, *densities)


@cache
def bent_run(name):
    """A run with a key at which every strategy that can bend does; at a third of all keys twelve generations do not suffice."""
    return run(STRATEGIES[name], jnp.zeros(3), jax.random.key(10), 0.0, False)


SMALL = NICE(couplings=2, width=8)  # quicker to compile than the default
STRATEGIES = {
    "whitened": GNNES(CMAES(popsize=20)),
    "nice": GNNES(CMAES(popsize=20), SMALL),
    "shear": GNNES(CMAES(popsize=20), Shear()),
    "shear-nice": GNNES(CMAES(popsize=20), Shear(SMALL)),
    "raw": GNNES(CMAES(popsize=20), SMALL, frame="raw"),
    "diagonal": GNNES(SepCMAES(popsize=20), SMALL),
    "affine": GNNES(CMAES(popsize=20), Affine()),
    "gathered": GNNES(CMAES(popsize=20), Shear(SMALL), TrustRegion(every=5, generations=5)),  # ends between two steps
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_log_prob_is_the_change_of_variables(name):
    end = bent_run(name)
    assert np.allclose(end.inverted, end.e, atol=1e-8)
    assert np.allclose(end.placed, 0, atol=1e-10)
    assert np.allclose(end.log_prob, end.log_prob_of_draw + np.linalg.slogdet(end.jacobian)[1], atol=1e-8)


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "raw"])
def test_after_a_generation_the_latent_holds_everything_affine(name):
    strategy, state = STRATEGIES[name], bent_run(name).state
    flow = state.flow
    diagonal = flow.affine_inverse.inverse_scale.ndim == 1

    @jax.jit
    def refit(flow):
        affine = fit_affine_part(flow.design, strategy.inner.forward(flow.params, flow.design), diagonal=diagonal)
        return flow.frame.after(affine.solved()), affine.inverse()  # docs/math.md (16), (26)

    (complete, affine_inverse), latent = refit(flow), strategy.latent.frame(state.latent)
    assert np.allclose(complete.frame.mean, latent.mean, atol=1e-12)
    assert np.allclose(complete.frame.scale, latent.scale, atol=1e-12)
    for part, expected in zip(flow.affine_inverse.frame, affine_inverse, strict=True):
        assert np.allclose(part, expected, atol=1e-12)
    if flow.valley is not None:
        for part, expected in zip(jax.tree.leaves(flow.valley.frame), jax.tree.leaves(complete), strict=True):
            assert np.allclose(part, expected, atol=1e-10)


@pytest.mark.parametrize("name", ["whitened", "shear"])
def test_around_a_flow_that_does_not_bend_the_shear_leaves_the_latent_its_affine_fit(name):
    """Mean and root of the points themselves, over a design of exact moments, are what the latent holds."""
    strategy, state = STRATEGIES[name], bent_run(name).state

    @jax.jit
    def refit(state):
        x = strategy.distribution.forward(state.flow.params, strategy.flow_frame(state), state.flow.design)
        return fit_affine_part(state.flow.design, x, diagonal=False)

    fit, latent = refit(state), strategy.latent.frame(state.latent)
    assert np.allclose(fit.mean, latent.mean, atol=1e-12)
    assert np.allclose(fit.scale, latent.scale, atol=1e-12)


def test_between_two_steps_the_flow_stays_and_the_frame_follows_the_latent():
    strategy, d, n = GNNES(CMAES(popsize=8), step=TrustRegion(every=3, generations=4)), 3, 8
    assert strategy.schedule(n, d) == (4, 3)

    @jax.jit
    def generation(state):
        e, x, state = strategy.ask(state)
        return strategy.tell(state, e, x, jnp.sum((x - jnp.arange(d)) ** 2, -1).at[0].set(jnp.nan))

    state, infos = strategy.init(jax.random.key(2), jnp.zeros(d), 1.0), []
    for i in range(1, 10):
        state, info = generation(state)
        infos.append(info)
        flow, frame = state.flow, strategy.latent.frame(state.latent)
        assert flow.waited == i % 3
        assert flow.gathered.weight.sum() == n * min(i, 4)
        assert np.isfinite(flow.gathered.f).all()
        np.testing.assert_allclose(flow.frame.frame.scale, frame.scale, rtol=0, atol=1e-12)
        np.testing.assert_allclose(flow.frame.affine.inverse_scale @ frame.scale, np.eye(d), rtol=0, atol=1e-12)
    assert [float(info["kl"]) > 0 for info in infos] == [False, False, *[True] * 7]  # shown until the next step
    for name in ("kl", "radius", "step_evidence", "bow", "nonlinearity"):
        kept = [float(info[name]) for info in infos[2:]]
        assert kept[0] == kept[1] == kept[2]
        assert kept[3] == kept[4] == kept[5]
    assert infos[2]["kl"] != infos[5]["kl"]
    sigmas = [float(info["sigma"]) for info in infos]
    assert len(set(sigmas)) == 9
    assert set(infos[0]) == set(infos[2]) == {*TrustRegion.shows, "sigma", "bow", "nonlinearity"}


def test_sigma_is_the_volume_of_the_distribution_and_nonlinearity_its_bend():
    state, info = bent_run("whitened").state, bent_run("whitened").info
    covariance = np.asarray(state.latent.sigma) ** 2 * state.latent.root @ state.latent.root.T
    assert float(info["sigma"]) == pytest.approx(np.linalg.det(covariance) ** (1 / 6))
    # and the nonlinearity is the root mean square, per coordinate, of what the frame does beside its affine part
    assert float(info["bow"]) > 1e-3
    assert float(info["nonlinearity"]) == pytest.approx(float(info["bow"]) / np.sqrt(3))


def test_a_flow_has_learned_to_bend_a_shear_bends_the_frame_and_the_affine_one_does_neither():
    def bent(name):
        flow = bent_run(name).state.flow
        y = jax.jit(STRATEGIES[name].inner.forward)(flow.params, flow.design)
        bow = np.linalg.norm(flow.frame.bow) if isinstance(flow.frame, CurvedFrame) else 0.0
        parts = (("flow", nonlinearity(flow.design, y, flow.affine_inverse)), ("frame", bow))
        return {part for part, size in parts if size > 1e-3}

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

    with pytest.raises(ValueError, match=r"diagonal must be False.*\(2, 2\)"):
        jax.eval_shape(GNNES(Mistaken()).init, jax.random.key(0), jnp.zeros(2), 1.0)


def test_invariant_under_monotone_transformations_of_f():
    y = run(STRATEGIES["whitened"], jnp.zeros(3), jax.random.key(10), 0.0, True).x
    assert np.allclose(bent_run("whitened").x, y, atol=1e-10)


def test_invariant_under_translation():
    y = run(STRATEGIES["whitened"], jnp.zeros(3) + 5.0, jax.random.key(10), 5.0, False).x
    assert np.allclose(bent_run("whitened").x, y - 5.0, atol=1e-9)


def test_hyper_parameters_can_be_vmapped():
    """A strategy built from traced numbers: each lane equals the strategy built from that number."""

    @jax.jit
    @jax.vmap
    def points(radius):
        strategy = replace(STRATEGIES["whitened"], step=TrustRegion(radius=radius))
        return search(strategy, jnp.zeros(3), jax.random.key(10))[1][0]

    default = TrustRegion().settings(20, 3).radius
    other, same = points(jnp.asarray([1e-4, default]))
    assert not np.allclose(other, same)
    assert np.allclose(same, bent_run("whitened").x, rtol=1e-6)


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
    with pytest.raises(ValueError, match="frame"):
        GNNES(frame="bent")  # pyright: ignore


@pytest.mark.parametrize("strategy", [GNNES(CMAES(), Shear(SMALL)), GNNES(CMAES(), SMALL, Penalised(iterations=5))])
def test_one_dimension_works(strategy):
    """There is nothing to bend along, but nothing breaks either."""

    def one(state, _):
        e, x, state = strategy.ask(state)
        return strategy.tell(state, e, x, jnp.sum((x - 3.0) ** 2, -1))[0], x

    state, _ = jax.jit(lambda key: jax.lax.scan(one, strategy.init(key, jnp.ones(1), 1.0), None, 10))(jax.random.key(0))
    assert abs(float(strategy.spread(state)[0][0]) - 3) < 0.5
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves((state.flow.params, state.flow.frame)))


def curved_or_straight(x, transform, curved, narrow):
    """The Rosenbrock function or a narrow banana (a = 1e4), moved, or the ellipsoid, moved and rotated, in one program."""
    y = x - transform.shift
    return jnp.where(curved, jnp.where(narrow, banana(1e4)(y), rosenbrock(y)), OBJECTIVES["ellipsoid"](x, transform))


def median_ratios(strategies, seeds, narrow, **limits):
    """Median evaluations to 1e-8 of the second strategy over those of the first, in the curved valley and on the ellipsoid."""
    curved = np.repeat([True, False], len(seeds))
    _, transforms = make_problems("ellipsoid", 2, [*seeds] * 2, rotate=True)
    args, medians = (transforms, curved, np.full(len(curved), narrow)), []
    for strategy in strategies:
        runs = run_many(strategy, curved_or_straight, np.zeros(2), seeds=[*seeds] * 2, args=args, **limits)
        needed = runs.evaluations_to(1e-8)
        assert np.all(np.isfinite(needed))
        medians.append([np.median(needed[curved]), np.median(needed[~curved])])
    return np.divide(medians[1], medians[0])


@pytest.mark.check
def test_nice_saves_evaluations_in_a_curved_valley_and_loses_none_on_a_straight_one():
    """Fixed seeds. Over report seeds the ratios are about 0.82 and 0.97 (studies/benchmarks/results).

    Medians of 20 seeds scatter by about 0.06, so that either bound is three standard errors away.
    """
    strategies = CMAES(popsize=20), GNNES(CMAES(popsize=20), NICE())
    valley, straight = median_ratios(strategies, range(500, 520), narrow=False, generations=120)
    assert valley < 1.0
    assert straight < 1.2


@pytest.mark.check
def test_a_frame_that_follows_the_curve_halves_the_evaluations_in_a_narrow_valley():
    """The default with six points in two dimensions. Fixed seeds, over which the ratios were 0.43 and 0.82.

    Over other seeds they are expected at 0.5 and 0.83; ratios of medians of 48 scatter by 0.045 and 0.026 (bootstrap), so that
    with fresh seeds the first bound would be a false alarm in about 1 of 2000 runs, the second never.
    """
    strategies = CMAES(popsize=6), GNNES(CMAES(popsize=6))
    narrow, straight = median_ratios(strategies, range(500, 548), narrow=True, generations=1500, ftarget=1e-8)
    assert narrow <= 0.65
    assert straight <= 1.05


@pytest.mark.parametrize(("points", "error"), [(1, ValueError), (2.5, ValueError), ("many", TypeError)])
def test_a_design_has_at_least_two_points(points, error):
    with pytest.raises(error, match="points"):
        GNNES(points=points)
