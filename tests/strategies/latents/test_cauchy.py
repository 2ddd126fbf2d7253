"""The natural gradient of the multivariate Cauchy distribution: Fisher information and update, against first principles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from thalweg.strategies import ranking
from thalweg.strategies.latents import CauchyNES
from thalweg.strategies.latents.bases import CAUCHY


def log_density(e: jax.Array, shift: jax.Array, stretch: jax.Array) -> jax.Array:
    """log p at the fixed point e of the distribution moved by shift and scaled by I + stretch, to first order exp(stretch)."""
    scale = jnp.eye(len(e)) + stretch
    return CAUCHY.log_prob(jnp.linalg.solve(scale, e - shift)) - jnp.linalg.slogdet(scale)[1]


@pytest.mark.parametrize("d", [2, 5])
def test_fisher_information(d: int):
    """Second moments of the scores (by automatic differentiation) over 200,000 draws, within 5 standard errors.

    Five numbers per dimension, each of which may fail by chance with probability 6e-7.
    """
    e = CAUCHY.sample(jax.random.key(d), (200_000, d), float)
    zero, flat = jnp.zeros(d), jnp.zeros((d, d))
    axis, size = jnp.eye(d)[0], jnp.eye(d) / jnp.sqrt(d)
    shape = jnp.diag(jnp.asarray([1.0, -1.0] + [0.0] * (d - 2))) / jnp.sqrt(2)
    shear = jnp.zeros((d, d)).at[0, 1].set(1.0).at[1, 0].set(1.0) / jnp.sqrt(2)

    @jax.jit
    @jax.vmap
    def scores(e: jax.Array) -> jax.Array:
        location = jax.jvp(lambda shift: log_density(e, shift, flat), (zero,), (axis,))[1]
        rest = [jax.jvp(lambda stretch: log_density(e, zero, stretch), (flat,), (way,))[1] for way in (size, shape, shear)]
        return jnp.stack([location, *rest])

    s = np.asarray(scores(e))
    products = {
        "location": (s[:, 0] ** 2, (d + 1) / (d + 3)),
        "size": (s[:, 1] ** 2, 2 / (d + 3)),
        "shape": (s[:, 2] ** 2, 2 * (d + 1) / (d + 3)),
        "shear": (s[:, 3] ** 2, 2 * (d + 1) / (d + 3)),
        "size with shape": (s[:, 1] * s[:, 2], 0.0),
    }
    for name, (sample, exact) in products.items():
        assert abs(sample.mean() - exact) < 5 * sample.std() / np.sqrt(len(sample)), name


def test_update_is_the_natural_gradient():
    """F^-1 g with g by automatic differentiation and F the matrix above, in the coordinates (shift, symmetric log-scale)."""
    d, n, rate = 3, 12, 0.1
    e = CAUCHY.sample(jax.random.key(0), (n, d), float)
    f = jnp.sum((e - 1) ** 4, -1)
    u = ranking.assign(f, ranking.nes_utilities(n))

    def gain(shift: jax.Array, stretch: jax.Array) -> jax.Array:
        return u @ jax.vmap(lambda point: log_density(point, shift, (stretch + stretch.T) / 2))(e)

    by_shift, by_scale = jax.jit(jax.grad(gain, (0, 1)))(jnp.zeros(d), jnp.zeros((d, d)))
    size = jnp.trace(by_scale) / d * jnp.eye(d)
    # the scale moves by rate F^-1 g: xNES's exp(rate / 2 G) is the same with F = 2
    log_scale = rate * (size * (d + 3) / 2 + (by_scale - size) * (d + 3) / (2 * (d + 1)))

    latent = CauchyNES(popsize=n, rate=rate)
    state = latent.init(jax.random.key(0), jnp.ones(d), 2.0)
    told = jax.jit(latent.update)(state, e, f)
    np.testing.assert_allclose(told.mean, 1 + 2 * by_shift * (d + 3) / (d + 1), rtol=1e-10)
    np.testing.assert_allclose(latent.frame(told).scale, 2 * scipy.linalg.expm(np.asarray(log_scale)), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(jnp.linalg.det(told.root), 1.0, rtol=1e-10)  # sigma carries the size, the root the shape
