"""Squeezed and shifted search distributions: a factor or a shift for each coordinate, and nothing else changes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.objectives import OBJECTIVES
from thalweg.strategies.flows import NICE, Affine
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents import CMAES, XNES, SepCMAES
from thalweg.strategies.latents.lra_cmaes import LRACMAES

FACTORS = np.array([0.25, 1.0, 0.6])
SHIFT = np.array([-2.0, 0.0, 0.7])
STRATEGIES = [CMAES(), SepCMAES(), XNES(), LRACMAES(), GNNES(), GNNES(flow=NICE()), GNNES(SepCMAES(), flow=NICE())]


def one_generation(strategy, state):
    e, x, state = strategy.ask(state)
    return strategy.tell(state, e, x, OBJECTIVES["rosenbrock"](x))[0]


@pytest.mark.parametrize("strategy", [*STRATEGIES, GNNES(flow=Affine())], ids=repr)
def test_squeezed(strategy):
    with jax.enable_x64(True):
        # until the flow bends
        state = jax.jit(lambda state: jax.lax.fori_loop(0, 8, lambda _, state: one_generation(strategy, state), state))(
            strategy.init(jax.random.key(1), jnp.ones(3), 0.5)
        )
        narrow = strategy.squeezed(state, jnp.asarray(FACTORS))
        e = strategy.ask(state)[0]
        mean, std = strategy.spread(state)
        x = strategy.place(state, e)
        expected = mean + FACTORS * (x - mean)
        np.testing.assert_allclose(strategy.place(narrow, e), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(strategy.ask(narrow)[1], expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(strategy.invert(narrow, expected), e, rtol=1e-7, atol=1e-8)
        density = strategy.log_prob(state, x) - np.log(FACTORS).sum()
        np.testing.assert_allclose(strategy.log_prob(narrow, expected), density, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(strategy.spread(narrow)[0], mean, rtol=1e-14)
        np.testing.assert_allclose(strategy.spread(narrow)[1], FACTORS * std, rtol=1e-12)
        shifted = strategy.shifted(state, jnp.asarray(SHIFT))
        np.testing.assert_allclose(strategy.place(shifted, e), x + SHIFT, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(strategy.invert(shifted, x + SHIFT), e, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(strategy.spread(shifted)[0], mean + SHIFT, rtol=1e-14)
        np.testing.assert_allclose(strategy.log_prob(shifted, x + SHIFT), strategy.log_prob(state, x), rtol=1e-8, atol=1e-8)


def test_a_common_factor_belongs_to_the_step_size():
    with jax.enable_x64(True):
        latent = CMAES()
        state = latent.init(jax.random.key(1), jnp.zeros(2), 2.0)
        narrow = latent.squeezed(state, jnp.array([0.5, 0.5]))
        wide = latent.squeezed(state, jnp.array([1.0, 8.0]))
    assert float(narrow.sigma) == 1.0
    assert np.array_equal(narrow.root, state.root)
    assert float(wide.sigma) == 2.0  # real coordinates go on with the step-size that they have


@pytest.mark.parametrize("latent", [CMAES(), SepCMAES()], ids=repr)
def test_learning_after_a_squeeze_is_a_squeeze_after_learning(latent):
    """CMA-ES is the same in other units, evolution paths included: they are squeezed with the distribution."""
    with jax.enable_x64(True):
        factors = jnp.asarray(FACTORS)
        state = latent.init(jax.random.key(1), jnp.ones(3), 0.5)
        for _ in range(4):
            state = one_generation(latent, state)
        e = latent.ask(state)[0]
        f = OBJECTIVES["rosenbrock"](latent.place(state, e))
        late = latent.squeezed(latent.update(state, e, f), factors)
        early = latent.update(latent.squeezed(state, factors), e, f)
        np.testing.assert_allclose(late.sigma * late.path, early.sigma * early.path, rtol=1e-10)
        scales = [latent.affine_scale(each) for each in (late, early)]
        late_covariance, early_covariance = (a**2 if a.ndim == 1 else a @ a.T for a in scales)
        np.testing.assert_allclose(late_covariance, early_covariance, rtol=1e-9)


def test_the_path_of_lra_cma_es_is_squeezed():
    with jax.enable_x64(True):
        latent = LRACMAES()
        state = one_generation(latent, latent.init(jax.random.key(1), jnp.ones(3), 0.5))
        narrow = latent.squeezed(state, jnp.asarray(FACTORS))
        np.testing.assert_allclose(narrow.sigma * narrow.path, FACTORS * state.sigma * state.path, rtol=1e-12)
