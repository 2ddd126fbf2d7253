"""The contract of every latent: an affine frame with its density, and failures that rank last."""

import copy
from functools import partial
from math import floor, log
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from thalweg.strategies.latents import LATENTS, Latent
from thalweg.strategies.latents.bases import CAUCHY
from thalweg.strategies.latents.frame import Frame

TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
PACKAGES = {"pycma": "cma", "cmaes": "cmaes"}


def bowl(x: jax.Array) -> jax.Array:
    """Some smooth function without symmetries."""
    y = (x - 0.3) @ jnp.asarray(TURN, x.dtype)
    return jnp.sum(jnp.asarray([1.0, 5.0, 0.2], x.dtype) * y**2, -1) + 0.1 * jnp.sum(y**3, -1)


def live(latent: Latent, dtype: Any = float) -> Any:
    """The state after a few generations."""

    def generation(state: Any, _: Any = None) -> tuple[Any, None]:
        e, x, state = latent.ask(state)
        return latent.tell(state, e, x, bowl(x))[0], None

    state = latent.init(jax.random.key(2), jnp.asarray([1.0, -2.0, 0.5], dtype), 0.7)
    if latent.traceable:
        return jax.lax.scan(generation, state, None, 6)[0]
    for _ in range(6):
        state, _ = generation(state)
    return state


def ask_twice(latent: Latent) -> tuple[Any, ...]:
    """A state after a few generations, one generation more, and for a pure latent the same and the next one."""
    before = live(latent)
    e, x, state = latent.ask(before)
    draws = (latent.ask(before)[0], latent.ask(state)[0]) if latent.traceable else ()
    return before, e, x, state, draws


asked_compiled = jax.jit(ask_twice, static_argnums=0)
updated = jax.jit(lambda latent, state, e, values: jax.lax.map(lambda f: latent.update(state, e, f), values), static_argnums=0)


@partial(jax.jit, static_argnums=0)
def measure(latent: Latent, state: Any, e: jax.Array, x: jax.Array, other: Frame) -> dict[str, Any]:
    """The quantities that the tests compare, from one compilation."""
    return {
        "frame": latent.frame(state),
        "placed": latent.frame(state).place(e),
        "back": latent.invert(state, x),
        "log_prob": latent.log_prob(state, x),
        "spread": latent.spread(state),
        "absorbed": latent.absorb(state, other.solved()) if latent.absorbs else None,
    }


class Case:
    """A latent after a few generations, with one generation more asked for."""

    def __init__(self, name: str) -> None:
        if name in PACKAGES:
            pytest.importorskip(PACKAGES[name])
        self.name = name
        self.latent = LATENTS[name]()
        asked = (asked_compiled if self.latent.traceable else ask_twice)(self.latent)
        self.before, self.e, self.x, self.state, self.draws = asked
        shape = self.state.root.shape
        self.other = Frame(jnp.arange(3.0), 2 + jnp.asarray(np.random.default_rng(3).uniform(size=shape)))
        state = self.state if self.latent.traceable else self.state._replace(optimiser=None)
        self.seen = measure(self.latent, state, self.e, self.x, self.other)

    @property
    def covariance(self) -> np.ndarray:
        scale = np.asarray(self.seen["frame"].scale)
        return np.diag(scale**2) if scale.ndim == 1 else scale @ scale.T

    def updates(self, values: np.ndarray) -> list[Any]:
        """The states after learning from each f of `values`; a third-party object is copied, since it changes in place."""
        if self.latent.traceable:
            states = updated(self.latent, self.state, self.e, jnp.asarray(values))
            return [jax.tree.map(lambda leaf, i=i: leaf[i], states) for i in range(len(values))]
        copies = [self.state._replace(optimiser=copy.deepcopy(self.state.optimiser)) for _ in values]
        return [self.latent.update(state, self.e, jnp.asarray(f)) for state, f in zip(copies, values, strict=True)]


@pytest.fixture(scope="module", params=LATENTS)
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_points_are_placed_draws(case: Case):
    n = 4 + floor(3 * log(3))
    assert case.e.shape == case.x.shape == (n, 3)
    np.testing.assert_allclose(case.seen["placed"], case.x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(case.seen["back"], case.e, rtol=0, atol=1e-10)


def test_it_has_learned_something(case: Case):
    """The other tests need a state in the middle of a run: root and mean differ from those of the start."""
    assert np.abs(case.before.mean - np.array([1.0, -2.0, 0.5])).max() > 1e-2
    shape = np.asarray(case.before.root)
    assert np.abs(shape - (1.0 if shape.ndim == 1 else np.eye(3))).max() > 1e-3


def test_density_is_that_of_the_scaled_base(case: Case):
    """scipy's density with location and scale matrix is the reference: it integrates to 1."""
    mean = np.asarray(case.seen["frame"].mean)
    if case.latent.base is CAUCHY:
        reference = scipy.stats.multivariate_t(mean, case.covariance, df=1)
    else:
        reference = scipy.stats.multivariate_normal(mean, case.covariance)
    np.testing.assert_allclose(case.seen["log_prob"], reference.logpdf(case.x), rtol=1e-10)


def test_spread_is_the_diagonal_of_the_covariance(case: Case):
    mean, std = case.seen["spread"]
    np.testing.assert_array_equal(mean, case.seen["frame"].mean)
    np.testing.assert_allclose(std, np.sqrt(np.diag(case.covariance)), rtol=1e-12)


def test_absorb_takes_the_frame_and_nothing_else(case: Case):
    if not case.latent.absorbs:
        with pytest.raises(TypeError, match="raw coordinates"):
            case.latent.absorb(case.state, case.other.solved())
        return
    absorbed = case.seen["absorbed"]
    frame = case.latent.frame(absorbed)
    np.testing.assert_allclose(frame.mean, case.other.mean, rtol=1e-14)
    np.testing.assert_allclose(frame.scale, case.other.scale, rtol=1e-14)
    if getattr(absorbed, "inverse", None) is not None:
        np.testing.assert_allclose(absorbed.inverse @ absorbed.root, np.eye(3), rtol=0, atol=1e-12)
        np.testing.assert_allclose(absorbed.log_volume, np.linalg.slogdet(absorbed.root)[1], rtol=0, atol=1e-12)
    for name in set(absorbed._fields) - {"key", "mean", "root", "inverse", "log_volume"}:
        jax.tree.map(np.testing.assert_array_equal, getattr(absorbed, name), getattr(case.state, name))


def test_failures_rank_last(case: Case):
    """NaN and inf count as worse than all else, in order of arrival; for PGES, which standardises, as the worst.

    And after a generation of failures alone the state is finite.
    """
    f = np.array(bowl(case.x))
    f[np.argsort(f)[:2]] = np.inf, np.nan  # what would have been the two best
    bad, worst = np.flatnonzero(~np.isfinite(f)), f[np.isfinite(f)].max()
    replaced, opposite = f.copy(), f.copy()
    replaced[bad] = worst if case.name == "pges" else (worst + 1, worst + 2)
    opposite[bad] = worst - 1e6, worst - 2e6
    told, expected, other, nothing = case.updates(np.stack([f, replaced, opposite, np.full(len(f), np.nan)]))
    for name in ("mean", "sigma", "root"):
        np.testing.assert_allclose(getattr(told, name), getattr(expected, name), rtol=1e-13, atol=1e-14)
        assert np.all(np.isfinite(getattr(nothing, name)))
    assert np.abs(told.mean - other.mean).max() > 1e-3


def test_the_key_decides_the_draws_and_moves_on(case: Case):
    assert not np.array_equal(jax.random.key_data(case.before.key), jax.random.key_data(case.state.key))
    if case.latent.traceable:
        again, later = case.draws
        np.testing.assert_array_equal(again, case.e)
        assert np.abs(later - case.e).min() > 0


def test_population(case: Case):
    assert [case.latent.population(d) for d in (1, 2, 10, 100)] == [4, 6, 10, 17]
    assert type(case.latent)(popsize=50).population(2) == 50


def test_single_precision_stays_single(case: Case):
    """Even with double precision on; a float64 constant anywhere would show (and break the scan's carry)."""
    latent = case.latent
    shapes = jax.eval_shape(lambda: live(latent, jnp.float32)) if latent.traceable else live(latent, jnp.float32)
    assert {getattr(shapes, name).dtype for name in ("mean", "sigma", "root")} == {jnp.dtype("float32")}
    assert all(leaf.dtype != jnp.float64 for leaf in jax.tree.leaves(shapes) if isinstance(leaf, jax.ShapeDtypeStruct))
