"""PGES is the plain gradient, and nothing else."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies import ranking
from thalweg.strategies.latents import PGES
from thalweg.strategies.latents.frame import Frame

D, N, SIGMA0 = 3, 9, 0.5


@pytest.mark.parametrize("shaping", ["standardised", "ranks"])
def test_update_is_the_score_function_gradient(shaping: str):
    """theta' = theta - alpha mean f grad log pi, by automatic differentiation over mean and root, from a lopsided root."""
    latent = PGES(rate=0.02, shaping=shaping)  # pyright: ignore[reportArgumentType]
    state = latent.init(jax.random.key(0), jnp.ones(D), SIGMA0)
    old = Frame(jnp.asarray([1.0, 2.0, 3.0]), jnp.asarray(np.random.default_rng(0).normal(size=(D, D)) + 2 * np.eye(D)))
    state = latent.absorb(state, old.solved())
    e, x, state = latent.ask(state)
    f = jnp.sum((x - 1) ** 4, -1)
    shaped = ranking.standardise(f) if shaping == "standardised" else -len(f) * ranking.assign(f, ranking.nes_utilities(len(f)))

    def weighted(frame: Frame) -> jax.Array:
        return jnp.mean(shaped * (latent.base.log_prob(frame.whiten(x)) - frame.log_det()))

    gradient = jax.jit(jax.grad(weighted))(old)
    new = latent.frame(jax.jit(latent.update)(state, e, f))
    alpha = 0.02 * SIGMA0**2
    np.testing.assert_allclose(new.mean - old.mean, -alpha * gradient.mean, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(new.scale - old.scale, -alpha * gradient.scale, rtol=1e-9, atol=1e-14)


def test_the_root_stays_invertible():
    """A root on its way through 0 stops at the floor, and the next steps are finite."""
    latent = PGES(rate=0.01)
    state = latent.init(jax.random.key(0), jnp.ones(D), 1.0)
    state = latent.absorb(state, Frame(state.mean, jnp.diag(jnp.asarray([1.0, 1e-3, 1e-12]))).solved())
    e, _, state = latent.ask(state)
    told = latent.update(state, e, jnp.zeros(len(e)))  # no gradient at all
    values = jnp.linalg.svd(latent.frame(told).scale, compute_uv=False)
    np.testing.assert_allclose(values, [1.0, 0.01, 0.01], rtol=1e-9)
    np.testing.assert_allclose(jnp.abs(jnp.linalg.det(told.root)), 1.0, rtol=1e-9)


def test_unknown_shaping_is_refused():
    with pytest.raises(ValueError, match="shaping"):
        PGES(shaping="raw")  # pyright: ignore[reportArgumentType]
