"""Third-party optimisers as latents: they see their own points, leave no traces, and their runs can be resumed."""

import pickle
import random
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.strategies.latents import LATENTS, CmaesLatent, PycmaLatent
from thalweg.strategies.latents.external import ExternalLatent, finite_values

PACKAGES = {"pycma": "cma", "cmaes": "cmaes"}


@pytest.fixture(params=PACKAGES)
def latent(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(PACKAGES[request.param])
    return LATENTS[request.param]()


def run(latent: ExternalLatent, state: Any, generations: int) -> Any:
    for _ in range(generations):
        e, x, state = latent.ask(state)
        state, info = latent.tell(state, e, x, jnp.sum(x**2, -1))
        assert info["sigma"] == state.sigma
    return state


def begin(latent: ExternalLatent, seed: int = 0, d: int = 3) -> Any:
    return latent.init(jax.random.key(seed), jnp.ones(d), 0.5)


def test_converges_without_a_trace(latent: ExternalLatent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any):
    """To 1e-10 on the sphere; numpy's and Python's global generators, the terminal and the disk as they were."""
    monkeypatch.chdir(tmp_path)
    numpy_before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    state = run(latent, begin(latent), 150)
    numpy_after = np.random.get_state()  # noqa: NPY002
    assert float(jnp.sum(state.mean**2)) < 1e-10
    assert all(np.array_equal(before, after) for before, after in zip(numpy_before, numpy_after, strict=True))
    assert random.getstate() == python_before
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_key_decides_the_run(latent: ExternalLatent):
    first, second, other = (run(latent, begin(latent, seed), 5) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.mean, second.mean)
    assert np.abs(first.mean - other.mean).max() > 1e-3


def test_a_pickled_run_goes_on_as_if_nothing_had_happened(latent: ExternalLatent):
    state = run(latent, begin(latent), 10)
    copied = state._replace(optimiser=pickle.loads(pickle.dumps(state.optimiser)))
    there, here = run(latent, copied, 10), run(latent, state, 10)
    np.testing.assert_array_equal(there.mean, here.mean)
    np.testing.assert_array_equal(there.root, here.root)


def test_the_frame_is_where_the_points_come_from(latent: ExternalLatent):
    """The draws of many generations without learning have mean 0 and covariance I, within 5 standard errors (p < 1e-5)."""
    state = run(latent, begin(latent), 12)
    assert np.abs(state.root - np.eye(3)).max() > 0.05
    draws: list[Any] = []
    for _ in range(300):
        e, _, state = latent.ask(state)
        draws.append(e)
    e = np.concatenate(draws)
    assert np.abs(e.mean(0)).max() < 5 / np.sqrt(len(e))
    assert np.abs(np.cov(e.T) - np.eye(3)).max() < 5 * np.sqrt(2 / len(e))


def test_the_object_is_told_its_own_points(latent: ExternalLatent, monkeypatch: pytest.MonkeyPatch):
    """To the last bit; a draw that is not its own is placed by the frame."""
    told: list[np.ndarray] = []
    monkeypatch.setattr(type(latent), "learn", lambda self, optimiser, z, f: told.append(z))
    e, x, state = latent.ask(latent.init(jax.random.key(3), jnp.asarray([0.1, 0.2, 0.3]), 0.7))
    latent.update(state, e, jnp.sum(x**2, -1))
    np.testing.assert_array_equal(told[0], state.z)
    foreign = e.at[1].set(0.0)
    latent.update(state, foreign, jnp.sum(x**2, -1))
    np.testing.assert_array_equal(told[1][[0, 2]], state.z[[0, 2]])
    np.testing.assert_allclose(told[1][1], state.mean, rtol=1e-12)


def test_foreign_points_are_accepted(latent: ExternalLatent):
    state = run(latent, begin(latent), 3)
    _, x, state = latent.ask(state)
    x = x.at[0].set(0.0)  # a user's own point
    state = latent.update(state, latent.invert(state, x), jnp.sum(x**2, -1))
    assert np.all(np.isfinite(state.mean))
    assert float(jnp.sum(run(latent, state, 150).mean ** 2)) < 1e-10


def test_values_handed_over_are_finite():
    f = np.array([2.0, np.nan, -1.0, np.inf, -np.inf])
    given = finite_values(f)
    assert np.all(np.isfinite(given))
    assert np.argsort(given).tolist() == [4, 2, 0, 1, 3]
    assert np.argsort(finite_values(np.full(3, np.nan))).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("make", "package"), [(PycmaLatent, "cma"), (CmaesLatent, "cmaes")])
def test_a_missing_package_is_named_with_its_extra(make: Any, package: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{make.__name__} needs {package}, .*pip install \"\.\[adapters\]\""):
        begin(make())


def test_what_the_packages_cannot_do_is_refused(latent: ExternalLatent):
    with pytest.raises(ValueError, match="popsize"):
        begin(type(latent)(popsize=2))
    if isinstance(latent, PycmaLatent):
        with pytest.raises(ValueError, match="x0"):
            begin(latent, d=1)
    else:
        assert float(jnp.abs(run(latent, begin(latent, d=1), 60).mean[0])) < 1e-3
