"""LRA-CMA-ES is that of `cmaes`, in whatever coordinates; it slows down under noise, and is CMA-ES where there is none."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.latents import LRACMAES
from thalweg.strategies.latents.frame import Frame
from thalweg.strategies.latents.lra_cmaes import Changes, LRACMAState

updated = jax.jit(lambda latent, state, e, f: latent.update(state, e, f), static_argnums=0)


def theirs(es: Any) -> LRACMAState:
    """The state of a `cmaes` optimiser. The symmetric root: there the coordinates are those of `cmaes`."""
    values, vectors = np.linalg.eigh(es._C)
    d = len(values)
    parts = (
        *(es._mean, es._sigma, (vectors * np.sqrt(values)) @ vectors.T, es._pc, es._p_sigma, es._g),
        Changes(es._Emean[:, 0], es._Vmean, es._eta_mean),
        Changes(es._ESigma.reshape(d, d), es._VSigma, es._eta_Sigma),
    )
    return LRACMAState(jax.random.key(0), *jax.tree.map(lambda part: jnp.asarray(np.array(part)), parts))


@pytest.mark.parametrize(("d", "n"), [(2, 6), (10, 10)])
def test_updates_are_those_of_cmaes(d: int, n: int):
    """All that is remembered, in each of 80 generations, to 1e-8 relative to its largest entry; both rates fall and rise."""
    es = pytest.importorskip("cmaes").CMA(mean=np.ones(d), sigma=0.5, population_size=n, seed=d, lr_adapt=True)
    latent, rng, rates = LRACMAES(defaults="tutorial"), np.random.default_rng(d), []
    for generation in range(80):
        x = np.array([es.ask() for _ in range(n)])
        f = np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)
        f = rng.normal(size=n) if generation < 40 else x[:, 0] if generation < 60 else f
        before = theirs(es)
        es.tell(list(zip(x, f.tolist(), strict=True)))
        told, expected = updated(latent, before, latent.frame(before).whiten(x), f), theirs(es)
        for name in set(LRACMAState._fields) - {"key", "root"}:
            for mine, reference in zip(
                jax.tree.leaves(getattr(told, name)), jax.tree.leaves(getattr(expected, name)), strict=True
            ):
                np.testing.assert_allclose(mine, reference, rtol=0, atol=1e-8 * np.abs(reference).max(), err_msg=name)
        np.testing.assert_allclose(told.root @ told.root.T, es._C, rtol=0, atol=1e-8 * np.abs(es._C).max())
        rates.append([told.of_mean.rate, told.of_covariance.rate])
    steps = np.diff(np.array(rates), axis=0)
    assert steps.min(0).max() < 0 < steps.max(0).min()


class Problem(NamedTuple):
    """Draws and noise of each generation, and what is searched: a bowl seen through a linear map, and a slope."""

    draws: jax.Array
    noise: jax.Array
    seen: jax.Array
    deep: float = 1.0
    steep: float = 0.0


@jax.jit
def follow(state: LRACMAState, problem: Problem) -> LRACMAState:
    """The states after each generation."""
    latent = LRACMAES()

    def generation(state: LRACMAState, given: tuple[jax.Array, jax.Array]) -> tuple[LRACMAState, LRACMAState]:
        e, noise = given
        y = latent.frame(state).place(e) @ problem.seen.T
        f = problem.deep * (y**2 @ jnp.asarray([1.0, 10.0, 0.1]) + y[:, 0] ** 4) + problem.steep * y[:, 0]
        state = latent.update(state, e, f + noise)
        return state, state

    return jax.lax.scan(generation, state, (problem.draws, problem.noise))[1]


@pytest.fixture(scope="module")
def start() -> LRACMAState:
    return LRACMAES().init(jax.random.key(0), jnp.ones(3), 0.5)


@pytest.fixture(scope="module")
def noisy() -> Problem:
    rng = np.random.default_rng(7)
    return Problem(jnp.asarray(rng.normal(size=(150, 8, 3))), jnp.asarray(rng.normal(size=(150, 8))), jnp.eye(3))


def test_linear_maps_of_the_search_space_change_nothing(start: LRACMAState, noisy: Problem):
    """The averages live in coordinates that go with the distribution: what the flow hands over to the latent is no signal."""
    stretch = jnp.asarray([[1.0, 2.0, 0.0], [0.0, 5.0, -1.0], [0.5, 0.0, 0.1]])
    plain = follow(start, noisy)
    moved = LRACMAES().absorb(start, Frame(stretch @ start.mean, start.sigma * stretch).solved())
    seen = follow(moved, noisy._replace(seen=jnp.linalg.inv(stretch)))
    np.testing.assert_allclose(seen.mean, plain.mean @ stretch.T, rtol=0, atol=1e-8)
    np.testing.assert_allclose(seen.sigma, plain.sigma, rtol=0, atol=1e-8)
    for part in ("of_mean", "of_covariance"):
        for name in ("rate", "drift"):
            mine, expected = getattr(getattr(seen, part), name), getattr(getattr(plain, part), name)
            np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-8, err_msg=f"{part}.{name}")
    assert plain.of_mean.rate.min() < 0.9
    assert plain.of_covariance.rate.min() < 0.9
    np.testing.assert_allclose(np.linalg.det(plain.root), 1.0, rtol=1e-8)  # the size belongs to sigma


def test_noise_slows_it_down_and_signal_does_not(start: LRACMAState, noisy: Problem):
    slope = follow(start, noisy._replace(noise=0 * noisy.noise, deep=0.0, steep=1.0))
    lost = follow(start, noisy._replace(deep=0.0))
    assert slope.of_mean.rate[-1] > 0.5
    assert lost.of_mean.rate[-1] < 0.2
    assert lost.of_covariance.rate[-1] < 0.2


def test_a_point_that_never_moves_keeps_its_rates(start: LRACMAState):
    """0 / 0 is no signal."""
    still = jax.jit(LRACMAES().learn, static_argnums=2)(start.of_mean, jnp.zeros(3), 0.1)
    assert 0 < still.rate <= 1
