"""Invariances: where the coordinates of the problem begin, how they are turned and scaled, and by how much f differs."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.latents import LATENTS, PGES, Latent

D, N, GENERATIONS = 4, 8, 12
CASES: dict[str, Latent] = {name: make() for name, make in LATENTS.items() if make.traceable} | {
    "pges-ranks": PGES(shaping="ranks")
}


class Problem(NamedTuple):
    """The function y -> bowl(turn' y / size - origin), to be searched from start by one and the same series of draws."""

    start: jax.Array
    draws: jax.Array
    turn: jax.Array
    origin: jax.Array
    size: jax.Array
    steep: jax.Array
    """Whether f itself is bent, by a monotone function."""


def make_problem(latent: Latent) -> Problem:
    draws = latent.base.sample(jax.random.key(5), (GENERATIONS * N, D), float).reshape(GENERATIONS, N, D)
    start = jnp.asarray([1.0, -1.0, 0.5, 2.0])
    return Problem(start, draws, jnp.eye(D), jnp.zeros(D), jnp.asarray(1.0), jnp.asarray(False))


def turned_by(problem: Problem, turn: np.ndarray) -> Problem:
    return problem._replace(start=turn @ problem.start, draws=problem.draws @ turn.T, turn=jnp.asarray(turn))


@partial(jax.jit, static_argnums=0)
def follow(latent: Latent, problem: Problem) -> tuple[jax.Array, jax.Array]:
    """Mean and covariance after the given draws."""

    def f(x: jax.Array) -> jax.Array:
        y = (x / problem.size - problem.origin) @ problem.turn - jnp.arange(1.0, D + 1) / 3
        value = jnp.sum(jnp.asarray([1.0, 3.0, 10.0, 0.3]) * y**2, -1) + y[..., 0] ** 4 + jnp.abs(y[..., 1] * y[..., 2])
        return jnp.where(problem.steep, 100 * jnp.log(value) ** 3, value)

    def generation(state: Any, e: jax.Array) -> tuple[Any, None]:
        return latent.update(state, e, f(latent.frame(state).place(e))), None

    state = latent.init(jax.random.key(0), problem.start, 0.5 * problem.size)
    frame = latent.frame(jax.lax.scan(generation, state, problem.draws)[0])
    scale = jnp.diag(frame.scale) if frame.scale.ndim == 1 else frame.scale
    return frame.mean, scale @ scale.T


@pytest.fixture(scope="module", params=CASES)
def latent(request: pytest.FixtureRequest) -> Latent:
    return CASES[request.param]


@pytest.fixture(scope="module")
def plain(latent: Latent) -> tuple[Problem, Any, Any]:
    """A problem, and where the search ends."""
    problem = make_problem(latent)
    mean, covariance = follow(latent, problem)
    assert np.abs(mean - problem.start).max() > 0.02  # it went somewhere
    return problem, mean, covariance


def test_translation(latent: Latent, plain: tuple[Problem, Any, Any]):
    problem, mean, covariance = plain
    shift = jnp.asarray([3.0, -7.0, 1.0, 20.0])
    moved, same = follow(latent, problem._replace(start=problem.start + shift, origin=shift))
    np.testing.assert_allclose(moved - shift, mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(same, covariance, rtol=0, atol=1e-10)


def test_scale(latent: Latent, plain: tuple[Problem, Any, Any]):
    problem, mean, covariance = plain
    larger, wider = follow(latent, problem._replace(start=1e3 * problem.start, size=jnp.asarray(1e3)))
    np.testing.assert_allclose(larger, 1e3 * mean, rtol=1e-10, atol=1e-7)
    np.testing.assert_allclose(wider, 1e6 * covariance, rtol=1e-10, atol=1e-4)


def test_rotation(latent: Latent, plain: tuple[Problem, Any, Any]):
    """A turned problem is searched as before, but turned: by any orthogonal map; for a diagonal root, by exchange and sign."""
    problem, mean, covariance = plain
    if latent.init(jax.random.key(0), problem.start, 1.0).root.ndim == 1:
        turn = np.eye(D)[[2, 0, 3, 1]] * [1, -1, -1, 1]
    else:
        turn = np.linalg.qr(np.random.default_rng(4).normal(size=(D, D)))[0]
    where, spread = follow(latent, turned_by(problem, turn))
    np.testing.assert_allclose(where, turn @ mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(spread, turn @ covariance @ turn.T, rtol=0, atol=1e-10)


def test_a_diagonal_root_is_not_rotation_invariant():
    """The test above can fail."""
    latent = CASES["snes"]
    problem = make_problem(latent)
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(D, D)))[0]
    assert np.abs(follow(latent, turned_by(problem, turn))[0] - turn @ follow(latent, problem)[0]).max() > 1e-3


def test_monotone_transformations_of_f(latent: Latent, plain: tuple[Problem, Any, Any]):
    """Only ranks matter, except to PGES with standardised values, which is the counterexample."""
    problem, mean, covariance = plain
    same, spread = follow(latent, problem._replace(steep=jnp.asarray(True)))
    if latent == PGES():
        assert np.abs(same - mean).max() > 1e-4
        return
    np.testing.assert_array_equal(same, mean)
    np.testing.assert_array_equal(spread, covariance)
