"""The contract of the registry: the interface for every method, whole searches through the front door for representatives."""

from functools import cache, partial
from typing import get_type_hints

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.compiled.steps import scale_of
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.flows import FLOWS, Identity
from thalweg.strategies.flowsteps import FLOW_STEPS
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.joint import JOINTS
from thalweg.strategies.latents import LATENTS
from thalweg.strategies.registry import METHODS, make_strategy
from thalweg.strategies.strategy import Info

OPTIMUM = np.array([0.5, -1.0, 2.0])
REPRESENTATIVES = ["cma", "pycma", "cmaes", "gnn-cma", "gnn-sep-cma", "gnn-cauchy", "gnn-pycma", "gnn-cmaes", "joint-pges"]
"""Of each kind one: plain, external, with a curved frame, over a diagonal, with heavy tails, in raw coordinates, joint."""


def sphere(x):
    return float(np.sum((x - OPTIMUM) ** 2))


def unreliable(x):
    """NaN, inf or None on half of the space, in small pieces."""
    angle = np.sin(37 * x[0]) + np.cos(53 * x[1])
    return np.nan if angle > 1.2 else np.inf if angle > 0.6 else None if angle > 0 else sphere(x)


@cache
def solve(method, seed, fun, generations=400):
    es = Optimizer(np.zeros(3), 1.0, method=method, seed=seed, max_iter=generations, ftarget=1e-9)
    while not es.stop():
        X = es.ask()
        es.tell(X, [fun(x) for x in X])
    return es


def test_every_latent_is_there_with_and_without_a_flow():
    assert list(METHODS) == [*LATENTS, *(f"gnn-{name}" for name in LATENTS), *JOINTS]


TRACEABLE = [(name, {}) for name in METHODS if make_strategy(name).traceable]
OPTIONS = [("gnn-cma", {"flow": name}) for name in FLOWS] + [("gnn-cma", {"step": name}) for name in FLOW_STEPS]


@pytest.mark.parametrize(("method", "options"), [*TRACEABLE, *OPTIONS], ids=str)
def test_interface(method, options):
    """A generation keeps structure, shapes and types of the state, so that it can be scanned; traced, not compiled."""
    strategy = make_strategy(method, popsize=8, **options)

    def generation(key):
        start = strategy.init(key, jnp.zeros(3), 1.0)
        e, x, asked = strategy.ask(start)
        state, info = strategy.tell(asked, e, x, jnp.sum(x**2, -1))
        points = e, x, strategy.invert(state, x), strategy.place(state, e)
        return start, state, info, points, strategy.log_prob(state, x), strategy.spread(state)

    start, state, info, points, log_prob, spread = jax.eval_shape(generation, jax.random.key(0))
    assert jax.tree.structure(start) == jax.tree.structure(state)
    assert jax.tree.leaves(start) == jax.tree.leaves(state)
    assert {(each.shape, each.dtype) for each in points} == {((8, 3), jnp.dtype("float64"))}
    assert {(each.shape, each.dtype) for each in spread} == {((3,), jnp.dtype("float64"))}
    assert log_prob.shape == (8,)
    assert all(each.shape == () for each in info.values())
    assert set(info) <= set(get_type_hints(Info))
    scale = jax.eval_shape(partial(scale_of, strategy), state)
    assert scale is None if method in JOINTS else scale.shape in [(3,), (3, 3)]


def test_a_strategy_without_an_affine_scale_has_none():
    class Foreign:
        """A third-party strategy that implements nothing optional."""

    assert scale_of(Foreign(), None) is None


@pytest.mark.parametrize("method", REPRESENTATIVES)
def test_solves_the_sphere(method):
    es = solve(method, 0, sphere)
    if method in JOINTS:  # the joint baselines stall: better than the start by far is all we ask
        assert es.result.fun < 1e-2 * sphere(np.zeros(3))
    else:
        assert es.result.success
        assert es.result.fun < 1e-8


@pytest.mark.parametrize("method", REPRESENTATIVES)
def test_same_seed_same_bits_other_seed_other_points(method):
    first = solve(method, 0, sphere)
    again, replay, other = (Optimizer(np.zeros(3), 1.0, method=method, seed=seed) for seed in (0, 0, 1))
    for _ in range(6):
        X, Y, Z = again.ask(), replay.ask(), other.ask()
        assert np.array_equal(X, Y)
        assert not np.array_equal(X, Z)
        for es, points in ((again, X), (replay, Y), (other, Z)):
            es.tell(points, [sphere(x) for x in points])
    assert np.array_equal(replay.ask(), again.ask())
    assert again.best.f >= first.best.f


@pytest.mark.parametrize("method", REPRESENTATIVES)
def test_failures_are_survived_and_the_process_is_left_alone(method):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    with jax.enable_x64(False):
        es = solve(method, 3, unreliable, generations=12)
        assert jnp.zeros(1).dtype == jnp.float32
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert es.nit == 12
    assert np.isfinite(es.result.fun)
    assert es.failures > 0
    assert np.all(np.isfinite(es.ask()))


@pytest.mark.parametrize("latent", ["cma", "cmaes"])
def test_the_identity_flow_is_the_latent_to_the_last_bit(latent):
    with_flow = Optimizer(np.zeros(3), method=GNNES(latent=LATENTS[latent](), flow=Identity()), seed=0)
    plain = Optimizer(np.zeros(3), method=latent, seed=0)
    for _ in range(8):
        X, Y = with_flow.ask(), plain.ask()
        assert np.array_equal(X, Y)
        with_flow.tell(X, [sphere(x) for x in X])
        plain.tell(Y, [sphere(y) for y in Y])


def test_strategies_are_equal_and_hashable_so_that_code_is_shared():
    for name in METHODS:
        assert make_strategy(name) == make_strategy(name)
        assert hash(make_strategy(name)) == hash(make_strategy(name))
        assert make_strategy(name, popsize=17).population(3) == 17
