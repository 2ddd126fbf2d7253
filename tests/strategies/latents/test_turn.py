"""Tests of the factors by which roots are updated: few draws in a large dimension give what all of the matrix would."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.latents.cmaes import CMAES
from thalweg.strategies.latents.turn import turn_of
from thalweg.strategies.latents.xnes import XNES


def logs(values):
    return 0.5 * jnp.log(0.9 + values)


@pytest.mark.parametrize("m", [1, 3, 5, 6, 14])  # of 10 dimensions: few draws up to 5, all of the space from 6 on
def test_a_turn_is_the_function_of_the_whole_matrix(m):
    rng = np.random.default_rng(m)
    e, weights, root = rng.normal(size=(m, 10)), rng.uniform(-0.02, 0.3, m), rng.normal(size=(10, 10))
    e[-1] = e[0]  # dependent draws
    values, vectors = np.linalg.eigh(0.9 * np.eye(10) + (e * weights[:, None]).T @ e)
    whole, inverse = (vectors * np.sqrt(values)) @ vectors.T, np.linalg.inv(root)

    def parts(e, weights, root, inverse):
        turn = turn_of(e, weights, logs)
        return turn.after(root), turn.undone_before(inverse), turn.log_det()

    after, undone, volume = jax.jit(parts)(e, weights, root, inverse)
    np.testing.assert_allclose(after, root @ whole, rtol=0, atol=1e-12)
    np.testing.assert_allclose(undone, np.linalg.inv(whole) @ inverse, rtol=0, atol=1e-10)
    np.testing.assert_allclose(volume, 0.5 * np.log(values).sum(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("latent", [CMAES(popsize=6), XNES(popsize=6)], ids=["cma", "xnes"])
def test_the_inverse_stays_one_on_an_ill_conditioned_function(latent):
    """After 3,000 generations on an ellipsoid of condition 1e6: the error is rounding times condition and generations."""
    d, scales = 16, 10.0 ** jnp.linspace(0, 6, 16)

    def generation(state, _):
        e, x, state = latent.ask(state)
        return latent.tell(state, e, x, x**2 @ scales)[0], None

    start = latent.init(jax.random.key(1), jnp.ones(d), 0.5)
    end = jax.jit(lambda state: jax.lax.scan(generation, state, None, 3000)[0])(start)
    condition = float(np.linalg.cond(end.root))
    assert condition > 50
    np.testing.assert_allclose(end.root @ end.inverse, np.eye(d), rtol=0, atol=3000 * 1e-15 * condition)
    np.testing.assert_allclose(end.log_volume, np.linalg.slogdet(end.root)[1], rtol=0, atol=1e-9)


def operations(jaxpr):
    """Return all equations of a program, those inside of others too."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in jax.core.jaxprs_in_params(equation.params):
            yield from operations(inner)


@pytest.mark.parametrize("latent", [CMAES(), XNES()], ids=["cma", "xnes"])
def test_a_generation_has_no_cubic_operation_with_the_default_population(latent):
    """No eigenvalues, no factors and no product of two matrices as large as the covariance."""
    d = 60

    def generation(state):
        e, x, state = latent.ask(state)
        return latent.tell(state, e, x, jnp.sum(x**2, -1))

    state = jax.eval_shape(lambda: latent.init(jax.random.key(0), jnp.zeros(d), 1.0))
    seen = list(operations(jax.make_jaxpr(generation)(state).jaxpr))
    names = {equation.primitive.name for equation in seen}
    assert {"eigh", "qr", "dot_general"} <= names  # those of the small matrix
    for equation in seen:
        shapes = [var.aval.shape for var in equation.invars]
        if equation.primitive.name in ("eigh", "lu", "cholesky", "geqrf", "triangular_solve"):
            assert (d, d) not in shapes, equation
        if equation.primitive.name == "dot_general":
            assert shapes != [(d, d), (d, d)], equation
