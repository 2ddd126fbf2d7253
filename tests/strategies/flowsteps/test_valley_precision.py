"""The valley fit beside an estimate of the bow by values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg import CMAES, GNNES
from thalweg.strategies.curved_frame import CurvedFrame
from thalweg.strategies.flows import NICE
from thalweg.strategies.flowsteps import Valley
from thalweg.strategies.latents.frame import Frame


def generation(d=3, n=40):
    """Return a bent frame, elites with one generation, and another generation along a parabola."""
    rng = np.random.default_rng(0)
    frame = CurvedFrame.straight(Frame(jnp.zeros(d), jnp.diag(jnp.array([3.0, 1.0, 1.0]))))
    frame = frame._replace(axis=jnp.eye(d)[0], bow=jnp.array([0.0, 0.2, 0.0]))
    valley, x = Valley(), rng.normal(size=(2, n, d)) * np.array([3.0, 0.1, 0.1])
    x[..., 2] += 0.3 * x[..., 0] ** 2
    f = jnp.asarray(rng.normal(size=(2, n)))
    _, elites, _ = valley.fit(frame, valley.init(n, d, float), jnp.asarray(x[:1]), f[:1])
    return valley, frame, elites, jnp.asarray(x[1:]), f[1:]


def test_no_precision_is_the_fit_to_the_elites_alone():
    valley, *given = generation()
    plain, combined = valley.fit(*given), valley.fit(*given, jnp.zeros(()))
    assert np.abs(plain[0].bow - given[0].bow).max() > 0.1
    for one, other in zip(jax.tree.leaves(plain), jax.tree.leaves(combined), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-15)


def test_a_precise_bow_stays():
    valley, *given = generation()
    np.testing.assert_allclose(valley.fit(*given, jnp.asarray(1e15))[0].bow, given[0].bow, atol=1e-9)


@pytest.mark.parametrize("strategy", [GNNES(CMAES(), NICE()), GNNES(CMAES(), frame="raw")])
def test_a_strategy_without_a_bow_is_left_as_it_is(strategy):
    assert strategy.for_model() == strategy


def test_without_a_model_the_state_has_no_precision():
    plain, modelled = GNNES(), GNNES().for_model()
    key = jax.random.key(0)
    assert plain.init(key, jnp.zeros(2), 1.0).flow.valley.precision is None
    assert plain.bow(plain.init(key, jnp.zeros(2), 1.0)) is None
    assert modelled.init(key, jnp.zeros(2), 1.0).flow.valley.precision == 0
