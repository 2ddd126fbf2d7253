"""L-BFGS: against the recursion it abbreviates, against scipy's solver, and where there is nothing to find."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize

from thalweg.strategies.flowsteps.lbfgs import Trial, between, minimise, narrow, precondition, remember

minimise_compiled = jax.jit(lambda objective, start: minimise(objective, start, 50), static_argnums=0)
precondition_compiled = jax.jit(precondition)


def rosenbrock(x: jax.Array) -> jax.Array:
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def two_loops(moves: np.ndarray, changes: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Algorithm 7.4 of Nocedal and Wright, as printed."""
    q, alphas = gradient.copy(), []
    for s, y in zip(moves[::-1], changes[::-1], strict=True):
        alphas.append(s @ q / (s @ y))
        q -= alphas[-1] * y
    q *= moves[-1] @ changes[-1] / (changes[-1] @ changes[-1])
    for s, y, alpha in zip(moves, changes, alphas[::-1], strict=True):
        q += (alpha - y @ q / (s @ y)) * s
    return q


@pytest.mark.parametrize("filled", [1, 3, 5])
def test_direction_is_that_of_the_two_loops(filled: int) -> None:
    """Also with a memory of 5 that is not full."""
    rng = np.random.default_rng(0)
    moves = rng.normal(size=(filled, 7))
    changes = moves * np.linspace(0.5, 3.0, 7) + 0.05 * rng.normal(size=moves.shape)
    gradient = rng.normal(size=7)
    pad = ((5 - filled, 0), (0, 0))
    got = precondition_compiled(jnp.asarray(np.pad(moves, pad)), jnp.asarray(np.pad(changes, pad)), jnp.asarray(gradient))
    np.testing.assert_allclose(got, two_loops(moves, changes, gradient), rtol=1e-10)


def test_first_step_has_at_most_length_one() -> None:
    nothing = jnp.zeros((4, 2))
    np.testing.assert_allclose(precondition_compiled(nothing, nothing, jnp.asarray([30.0, 40.0])), [0.6, 0.8])
    np.testing.assert_allclose(precondition_compiled(nothing, nothing, jnp.asarray([0.3, 0.4])), [0.3, 0.4])


def test_memory_refuses_negative_curvature() -> None:
    moves, changes = jnp.arange(6.0).reshape(3, 2), jnp.ones((3, 2))
    step = jnp.asarray([1.0, 0.0])
    kept = remember(moves, changes, step, -step)
    np.testing.assert_array_equal(kept[0], moves)
    np.testing.assert_array_equal(kept[1], changes)
    taken = remember(moves, changes, step, 2 * step)
    np.testing.assert_array_equal(taken[0], [[2.0, 3.0], [4.0, 5.0], [1.0, 0.0]])
    np.testing.assert_array_equal(taken[1], [[1.0, 1.0], [1.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize(("a", "b"), [(0.0, 2.0), (2.0, 0.0), (1.0, 4.0)])
def test_interpolation_finds_the_minimum_of_a_cubic(a: float, b: float) -> None:
    def cubic(t: Any) -> Any:
        return 0.1 * (t - 1.4) ** 3 + 2 * (t - 1.4) ** 2

    ends = [Trial(jnp.asarray(t), jnp.asarray(cubic(t)), jax.grad(cubic)(t)) for t in (a, b)]
    np.testing.assert_allclose(between(*ends), 1.4, rtol=1e-10)


def test_interpolation_outside_what_is_known() -> None:
    low, far = Trial(jnp.asarray(3.0), jnp.asarray(1.0), jnp.asarray(-1.0)), jnp.asarray(jnp.inf)
    assert between(low, Trial(far, low.value, low.slope)) == 6.0
    assert between(low, Trial(jnp.asarray(5.0), jnp.asarray(jnp.nan), jnp.asarray(jnp.nan))) == 4.0


@pytest.mark.parametrize(
    ("value", "slope", "falls", "interval"),
    [(2.0, 1.0, False, (0, 1)), (jnp.nan, jnp.nan, False, (0, 1)), (0.5, -1.0, True, (1, jnp.inf)), (0.5, 1.0, True, (1, 0))],
)
def test_interval(value: float, slope: float, falls: bool, interval: tuple[float, float]) -> None:
    """Too high: it ends there. Low and falling: it begins there. Low and rising: it lies between there and the start."""
    here, far, new = (
        Trial(jnp.asarray(length), jnp.asarray(v), jnp.asarray(s))
        for length, v, s in ((0.0, 1.0, -1.0), (jnp.inf, 1.0, -1.0), (1.0, value, slope))
    )
    low, high = narrow(here, far, new, jnp.asarray(falls))
    assert (float(low.length), float(high.length)) == interval


def test_as_many_steps_as_scipy() -> None:
    """Rosenbrock in 8 dimensions from several starts, to the same precision; the line searches differ, so within a third."""
    starts = np.random.default_rng(1).normal(size=(6, 8))
    found = jax.jit(jax.vmap(lambda start: minimise(rosenbrock, start, 300, gradient_tolerance=1e-9)))(jnp.asarray(starts))
    value_and_grad = jax.jit(jax.value_and_grad(rosenbrock))
    options = {"gtol": 1e-7, "ftol": 2.2e-9}
    theirs = [scipy_minimize(value_and_grad, start, jac=True, method="L-BFGS-B", options=options) for start in starts]
    np.testing.assert_allclose(found.value, [result.fun for result in theirs], atol=1e-6)
    assert float(np.mean(found.iterations)) < 1.33 * np.mean([result.nit for result in theirs])
    np.testing.assert_allclose(found.before, [rosenbrock(start) for start in starts])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quadratic(dtype: str) -> None:
    centre, weights = jnp.asarray([1.0, -2.0, 0.5], dtype), jnp.asarray([1.0, 100.0, 10.0], dtype)
    found = minimise_compiled(lambda x: jnp.sum(weights * (x - centre) ** 2) + 3, jnp.zeros(3, dtype))
    assert found.point.dtype == found.value.dtype == dtype
    np.testing.assert_allclose(found.point, centre, atol=1e-3 if dtype == "float32" else 1e-4)
    np.testing.assert_allclose([found.before, found.value], [406.5, 3.0], rtol=1e-6)
    assert found.iterations < 20


def test_steps_out_of_the_domain_are_taken_back() -> None:
    """x - log(x) / 100 has no value for x < 0, where the first step from 0.5 leads."""
    found = minimise_compiled(lambda x: jnp.sum(x - jnp.log(x) / 100), jnp.asarray([0.5]))
    np.testing.assert_allclose(found.point, 0.01, rtol=1e-3)


def no_value(x: jax.Array) -> jax.Array:
    return jnp.sum(x) * jnp.nan


def bowl(x: jax.Array) -> jax.Array:
    return jnp.sum((x - 1) ** 2)


def cliff(x: jax.Array) -> jax.Array:
    return jnp.sum(jnp.where(x < 1, jnp.nan, x))


@pytest.mark.parametrize("objective", [no_value, bowl, cliff])
def test_nowhere_to_go(objective: Any) -> None:
    """Without a value, at the minimum, or where the way down ends at once: it stays and stops."""
    found = minimise_compiled(objective, jnp.ones(2))
    assert found.iterations <= 1
    np.testing.assert_array_equal(found.point, jnp.ones(2))
    np.testing.assert_array_equal(found.value, found.before)
