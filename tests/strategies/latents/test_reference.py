"""One update, on the same samples, equals the reference implementation; and so do the default parameters."""

from collections.abc import Callable, Iterator
from functools import partial
from math import log, sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from thalweg.strategies.latents import CMAES, SNES, XNES, Latent, SepCMAES
from thalweg.strategies.latents.cma_parameters import cma_parameters
from thalweg.strategies.latents.cmaes import CMAState

SIZES = [(2, 20), (10, 10), (10, 100)]
updated = jax.jit(lambda latent, state, e, f: latent.update(state, e, f), static_argnums=0)


class Snapshot(NamedTuple):
    """The state of a reference CMA-ES."""

    mean: np.ndarray
    sigma: float
    covariance: np.ndarray
    path: np.ndarray
    sigma_path: np.ndarray
    generation: int

    def state(self) -> CMAState:
        """The same state as ours. The symmetric root: there the coordinates of p_sigma are those of the references."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = (vectors * np.sqrt(values)) @ vectors.T
        parts = (jnp.asarray(part) for part in (self.mean, self.sigma, root, np.linalg.inv(root)))
        log_volume = jnp.asarray(np.linalg.slogdet(root)[1])
        paths = (jnp.asarray(part) for part in (self.path, self.sigma_path, self.generation))
        return CMAState(jax.random.key(0), *parts, log_volume, *paths)


class Normals:
    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> np.ndarray:
        return self.generator.standard_normal(shape)


Generation = tuple[Snapshot, np.ndarray, np.ndarray, Snapshot]


def pycma_run(d: int, n: int, f: Callable[[np.ndarray, int], np.ndarray], generations: int) -> Iterator[Generation]:
    cma = pytest.importorskip("cma")
    options = {"popsize": n, "verbose": -9, "verb_log": 0, "seed": np.nan, "randn": Normals(d + n)}
    es = cma.CMAEvolutionStrategy(np.ones(d), 0.5, options)

    def snapshot() -> Snapshot:
        return Snapshot(*map(np.array, (es.mean, es.sigma, es.sm.C, es.pc, es.adapt_sigma.ps, es.countiter)))

    for generation in range(generations):
        x = np.array(es.ask())
        before, values = snapshot(), f(x, generation)
        es.tell(list(x), values.tolist())
        yield before, x, values, snapshot()


def cmaes_run(d: int, n: int, f: Callable[[np.ndarray, int], np.ndarray], generations: int) -> Iterator[Generation]:
    cmaes = pytest.importorskip("cmaes")
    es = cmaes.CMA(mean=np.ones(d), sigma=0.5, population_size=n, seed=d + n)

    def snapshot() -> Snapshot:
        return Snapshot(*map(np.array, (es._mean, es._sigma, es._C, es._pc, es._p_sigma, es._g)))

    for generation in range(generations):
        x = np.array([es.ask() for _ in range(n)])
        before, values = snapshot(), f(x, generation)
        es.tell(list(zip(x, values.tolist(), strict=True)))
        yield before, x, values, snapshot()


def slope_then_valley(x: np.ndarray, generation: int) -> np.ndarray:
    """A slope makes p_sigma so long that p_c waits; then a curved valley, where it moves on."""
    if generation < 8:
        return x[:, 0] + 0.1 * x[:, 1]
    return np.sum(100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2, axis=1)


@pytest.mark.parametrize(("d", "n"), SIZES)
@pytest.mark.parametrize(
    ("run", "latent"), [(pycma_run, CMAES()), (cmaes_run, CMAES(defaults="tutorial"))], ids=["pycma", "cmaes"]
)
def test_cmaes_update(run: Callable[..., Iterator[Generation]], latent: CMAES, d: int, n: int):
    """In each of 30 generations: mean, sigma, C and both paths to 1e-8, relative to the largest entry of each."""
    waited: list[bool] = []
    p = cma_parameters(d, n, latent.defaults)
    for before, x, f, after in run(d, n, slope_then_valley, 30):
        state = before.state()
        told = updated(latent, state, latent.frame(state).whiten(x), f)
        ours = Snapshot(told.mean, told.sigma, told.root @ told.root.T, told.path, told.sigma_path, told.generation)
        for name, mine, reference in zip(Snapshot._fields, ours, after, strict=True):
            np.testing.assert_allclose(mine, reference, rtol=0, atol=1e-8 * np.abs(reference).max(), err_msg=name)
        pushed = (1 - p.cc) * before.path + sqrt(p.cc * (2 - p.cc) * p.mueff) * (after.mean - before.mean) / before.sigma
        waited.append(bool(np.abs(after.path - pushed).max() > 1e-6 * np.abs(pushed).max()))
    assert 0 < sum(waited) < len(waited)  # both branches of the update were met


@pytest.mark.parametrize(("d", "n"), [*SIZES, (2, 4), (3, 7), (40, 15), (5, 300)])
def test_cma_parameters(d: int, n: int):
    cma, cmaes = pytest.importorskip("cma"), pytest.importorskip("cmaes")
    options = {"popsize": n, "verbose": -9, "seed": np.nan, "randn": Normals(0), "CMA_mirrors": 0}  # by default below n = 6
    es = cma.CMAEvolutionStrategy(np.zeros(d), 1, options)
    es.adapt_sigma.initialize(es)
    p, rates, csa = cma_parameters(d, n), es.sm.parameters(), es.adapt_sigma
    np.testing.assert_allclose(p.weights, es.sp.weights, rtol=1e-12, atol=1e-15)
    expected = (es.sp.weights.mueff, es.sp.cc, rates["c1"], rates["cmu"], csa.cs, csa.damps)
    np.testing.assert_allclose((p.mueff, p.cc, p.c1, p.cmu, p.cs, p.damps), expected, rtol=1e-12)

    t = cmaes.CMA(mean=np.zeros(d), sigma=1.0, population_size=n)
    p = cma_parameters(d, n, "tutorial")
    np.testing.assert_allclose(p.weights, t._weights, rtol=1e-12, atol=1e-7)
    expected = (t._mu_eff, t._cc, t._c1, t._cmu, t._c_sigma, t._d_sigma, t._chi_n)
    np.testing.assert_allclose((p.mueff, p.cc, p.c1, p.cmu, p.cs, p.damps, p.chi), expected, rtol=1e-7)


def test_inactive_parameters_have_no_negative_weights():
    active, inactive = cma_parameters(5, 9), cma_parameters(5, 9, active=False)
    np.testing.assert_array_equal(inactive.weights, np.maximum(active.weights, 0.0))
    assert active.weights.min() < -0.1


def test_unknown_parameters_are_refused():
    with pytest.raises(ValueError, match="defaults"):
        cma_parameters(2, 6, "wikipedia")  # pyright: ignore[reportArgumentType]


def utilities(f: np.ndarray) -> np.ndarray:
    """The utilities of the points, in their own order, one at a time."""
    n = len(f)
    ranks = [1 + sum(other < value for other in f) for value in f]
    raw = np.array([max(0.0, log(n / 2 + 1) - log(rank)) for rank in ranks])
    return raw / raw.sum() - 1 / n


def pybrain_xnes(center: np.ndarray, A: np.ndarray, e: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One step of PyBrain's XNES: gradients in standard coordinates, trace and the rest apart, a true matrix exponential."""
    n, d = e.shape
    rate, eye = 0.6 * (3 + log(d)) / d / sqrt(d), np.eye(d)
    u = utilities(f)
    d_center = sum(u[k] * e[k] for k in range(n))
    gradient = sum(u[k] * (np.outer(e[k], e[k]) - eye) for k in range(n))
    trace = np.trace(gradient)
    d_A = 0.5 * (rate * trace / d * eye + rate * (gradient - trace / d * eye))
    return center + A @ d_center, A @ scipy.linalg.expm(d_A)


def schaul_snes(center: np.ndarray, s: np.ndarray, e: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One step of SNES, Schaul et al. (2011), algorithm 1."""
    n, d = e.shape
    rate, u = (3 + log(d)) / (5 * sqrt(d)), utilities(f)
    center = center + s * sum(u[k] * e[k] for k in range(n))
    return center, s * np.exp(rate / 2 * sum(u[k] * (e[k] ** 2 - 1) for k in range(n)))


@pytest.mark.parametrize(("d", "n"), [(2, 6), (5, 50)])
@pytest.mark.parametrize(("latent", "rule"), [(XNES(), pybrain_xnes), (SNES(), schaul_snes)], ids=["xnes", "snes"])
def test_nes_updates(latent: Latent, rule: Callable[..., Any], d: int, n: int):
    """Ten updates in a row on a shifted ellipsoid, to 1e-8."""
    rng = np.random.default_rng(d)
    center = np.ones(d)
    state = latent.init(jax.random.key(0), jnp.asarray(center), 0.5)
    A = 0.5 * np.ones_like(state.root) if state.root.ndim == 1 else 0.5 * np.eye(d)
    for _ in range(10):
        e = rng.normal(size=(n, d))
        x = center + (e * A if A.ndim == 1 else e @ A.T)
        f = np.sum(10.0 ** np.arange(d) * (x - 0.2) ** 2, axis=1)
        center, A = rule(center, A, e, f)
        state = updated(latent, state, e, f)
    np.testing.assert_allclose(state.mean, center, rtol=1e-8)
    np.testing.assert_allclose(latent.frame(state).scale, A, rtol=0, atol=1e-8 * np.abs(A).max())
    # sigma is the size and the root has none
    size = np.prod(A) if A.ndim == 1 else np.linalg.det(A)
    np.testing.assert_allclose(state.sigma, size ** (1 / d), rtol=1e-8)


def test_sep_cmaes_in_dimension_one_is_cmaes():
    """There a diagonal covariance is a full one, and the factor (d + 2) / 3 is 1."""
    draws = np.random.default_rng(0).normal(size=(10, 8, 1))

    @partial(jax.jit, static_argnums=0)
    def follow(latent: Latent) -> Any:
        def generation(state: Any, e: jax.Array) -> tuple[Any, None]:
            return latent.update(state, e, (latent.frame(state).place(e)[:, 0] - 3) ** 2), None

        return jax.lax.scan(generation, latent.init(jax.random.key(0), jnp.zeros(1), 0.5), jnp.asarray(draws))[0]

    full, diagonal = follow(CMAES()), follow(SepCMAES())
    np.testing.assert_allclose(diagonal.root, jnp.diag(full.root), rtol=1e-12)
    for name in ("mean", "sigma", "path", "sigma_path"):
        np.testing.assert_allclose(getattr(diagonal, name), getattr(full, name), rtol=1e-12)
    assert abs(full.root[0, 0] - 1) > 0.1


def test_sep_cmaes_is_the_diagonal_of_cmaes():
    """From a round start the new variances are the diagonal of the full update with the rates of the diagonal one."""
    d, n = 4, 9
    e = np.random.default_rng(0).normal(size=(n, d))
    p = cma_parameters(d, n, separable=True)
    order = np.argsort(e @ [1.0, 2.0, 3.0, 4.0])
    step = sum(w * e[k] for w, k in zip(p.weights, order, strict=True) if w > 0)
    q = sqrt(p.cc * (2 - p.cc) * p.mueff) * step
    full = (1 - p.c1 - p.cmu * p.weights.sum()) * np.eye(d) + p.c1 * np.outer(q, q)
    for w, k in zip(p.weights, order, strict=True):
        full += p.cmu * w * np.outer(e[k], e[k]) * (d / (e[k] @ e[k]) if w < 0 else 1.0)
    latent = SepCMAES()
    state = updated(latent, latent.init(jax.random.key(0), jnp.zeros(d), 1.0), e, e @ np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(state.root**2, np.diag(full), rtol=1e-8)
    assert p.weights.min() < 0


@pytest.mark.parametrize(("d", "n"), [*SIZES, (1, 4), (100, 17), (3, 1000)])
def test_active_updates_keep_the_covariance_positive(d: int, n: int):
    """The worst case: all negative weights along one axis, draws of positive weight and the path orthogonal to it."""
    for separable in (False, True):
        p = cma_parameters(d, n, separable=separable)
        removed = p.cmu * d * -p.weights[p.weights < 0].sum()
        assert 1 - p.c1 - p.cmu * p.weights.sum() - removed >= -1e-12
