"""The contract of the registry: every method, through the front door."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.search.run import Optimizer
from thalweg.strategies.flows import Identity
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.joint import JOINTS
from thalweg.strategies.latents import LATENTS
from thalweg.strategies.registry import METHODS, make_strategy

OPTIMUM = np.array([0.5, -1.0, 2.0])
FAST = [name for name in METHODS if not name.endswith("pges") and name not in JOINTS]


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


@pytest.mark.parametrize("method", METHODS)
def test_solves_the_sphere(method):
    es = solve(method, 0, sphere)
    assert np.isfinite(es.result.fun)
    if method in FAST:
        assert es.result.success
        assert es.result.fun < 1e-8
    else:  # the plain gradient and the joint baselines stall: better than the start by far is all we ask
        assert es.result.fun < 1e-2 * sphere(np.zeros(3))


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_bits_other_seed_other_points(method):
    first = solve(method, 0, sphere)
    again = Optimizer(np.zeros(3), 1.0, method=method, seed=0)
    other = Optimizer(np.zeros(3), 1.0, method=method, seed=1)
    for _ in range(6):
        X, Y = again.ask(), other.ask()
        assert not np.array_equal(X, Y)
        again.tell(X, [sphere(x) for x in X])
        other.tell(Y, [sphere(x) for x in Y])
    replay = Optimizer(np.zeros(3), 1.0, method=method, seed=0)
    for _ in range(6):
        X = replay.ask()
        replay.tell(X, [sphere(x) for x in X])
    assert np.array_equal(replay.ask(), again.ask())
    assert again.best.f >= first.best.f


@pytest.mark.parametrize("method", METHODS)
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


@pytest.mark.parametrize("latent", ["cma", "xnes"])
def test_the_identity_flow_is_the_latent_to_the_last_bit(latent):
    bent = Optimizer(np.zeros(3), method=GNNES(latent=LATENTS[latent](), flow=Identity()), seed=0)
    plain = Optimizer(np.zeros(3), method=latent, seed=0)
    for _ in range(8):
        X, Y = distribution.ask(), plain.ask()
        assert np.array_equal(X, Y)
        distribution.tell(X, [sphere(x) for x in X])
        plain.tell(Y, [sphere(y) for y in Y])


def test_strategies_are_equal_and_hashable_so_that_code_is_shared():
    for name in METHODS:
        assert make_strategy(name) == make_strategy(name)
        assert hash(make_strategy(name)) == hash(make_strategy(name))
        assert make_strategy(name, popsize=17).population(3) == 17
