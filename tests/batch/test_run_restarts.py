"""Many problems with restarts side by side: each is what minimize makes of it, whatever runs beside it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.batch.run_restarts import run_restarts
from thalweg.search.minimize import minimize
from thalweg.strategies.latents.cmaes import CMAES

CENTRES = np.array([[0.0, 0.0], [0.3, -0.2], [1.0, 0.5], [-0.4, 0.1]])
SEEDS = [0, 1, 5, 9]
TARGETS = [30.0, 3.0, 1.5, 1e-3, 1e-8]
SETTINGS = {"restarts": 2, "max_evals": 1500, "options": {"tolfun": 1e-6, "tolfunhist": 1e-9}}


def rastrigin(x, centre):
    x = x - centre
    return 10.0 * x.shape[-1] + jnp.sum(x**2 - 10 * jnp.cos(2 * jnp.pi * x), -1)


COMPILED = jax.jit(rastrigin)


def side_by_side(method="cma", x0=(3.0, 3.0), fun=rastrigin, **more):
    settings = {"seeds": SEEDS, "args": (CENTRES,), "targets": TARGETS, **SETTINGS, **more}
    return run_restarts(method, fun, x0, 0.3, **settings)


class OneByOne:
    """The same problem in minimize, and all that it evaluated."""

    def __init__(self, i, method="cma", x0=(3.0, 3.0), fun=COMPILED, **more):
        self.values, self.runs = [], []

        def evaluate(X):
            with jax.enable_x64(True):
                self.values.append(np.asarray(fun(jnp.asarray(X), jnp.asarray(CENTRES[i]))))
            return self.values[-1]

        def watch(step):
            if step.stop:
                self.runs.append((step.popsize, step.nfev - sum(run[1] for run in self.runs), step.stop))

        settings = {**SETTINGS, "seed": SEEDS[i], "vectorized": True, "callback": watch, **more}
        self.result = minimize(evaluate, x0, 0.3, method=method, **settings)

    def hits(self, targets):
        values = np.concatenate(self.values)
        return [int(np.argmax(values <= target)) + 1 if (values <= target).any() else np.inf for target in targets]


def equal(found, i, one):
    assert [(run.popsize, run.nfev, run.stop) for run in found.runs[i]] == one.runs
    assert found.evaluations[i] == one.result.nfev
    assert found.restarts[i] == one.result.restarts
    assert found.stop[i] == one.result.stop
    np.testing.assert_allclose(found.fun[i], one.result.fun, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.x[i], one.result.x, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("restarts", "bipop"), [(2, False), (3, True)])
def test_each_problem_is_that_of_minimize(restarts, bipop):
    found = side_by_side(restarts=restarts, bipop=bipop)
    for i in range(4):
        one = OneByOne(i, restarts=restarts, bipop=bipop)
        equal(found, i, one)
        assert found.hits[i].tolist() == one.hits(TARGETS)
    assert found.restarts.max() >= 2
    assert np.isinf(found.hits).any()
    assert len({tuple(run.stop) for runs in found.runs for run in runs}) > 1


@pytest.mark.slow
@pytest.mark.check
def test_with_a_flow():
    """Of one population, as each takes the compiler seconds; but slots change hands."""
    found = side_by_side("gnn-cma", restarts=0, batch_size=2)
    for i in range(4):
        equal(found, i, OneByOne(i, "gnn-cma", restarts=0))
    assert all("tolfun" in stop for stop in found.stop)


def test_targets_of_their_own_end_each_problem():
    goals = np.array([1e-3, 5.0, 40.0, -1.0])
    targets = goals[:, None] * np.array([1.0, 0.9, 0.6, 0.3, 0.2])  # the device goes on beyond the end, and finds some of them
    found = side_by_side(ftarget=goals, targets=targets)
    for i in range(4):
        one = OneByOne(i, ftarget=goals[i])
        equal(found, i, one)
        assert found.hits[i].tolist() == one.hits(targets[i])
    reached = found.fun <= goals
    assert np.array_equal(reached, ["ftarget" in stop for stop in found.stop])
    assert np.array_equal(reached, np.isfinite(found.hits[:, 0]))
    assert 0 < reached.sum() < 4
    assert np.all((found.evaluations - found.hits[:, 0] < 48)[reached])


def test_many_targets_and_a_large_population():
    """They are looked up in another way; the order of evaluation within a generation counts all the same."""
    targets, settings = np.linspace(60.0, 0.0, 70), {"popsize": 80, "restarts": 0, "max_evals": 800}
    found = side_by_side(targets=targets, **settings)
    for i in range(4):
        assert found.hits[i].tolist() == OneByOne(i, **settings).hits(targets)
    assert np.isfinite(found.hits).any()
    assert np.any(found.hits[np.isfinite(found.hits)] % 80 != 0)


def test_a_second_call_compiles_nothing():
    compiled = []

    def listen(event, seconds, **_):
        if "backend_compile" in event:
            compiled.append(event)

    side_by_side()
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        side_by_side(ftarget=1.0, x0=(2.0, 2.0), bipop=False)
        assert not compiled
        side_by_side(popsize=7, restarts=0, max_evals=30)
        assert 0 < len(compiled) < 10  # it is counted
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def test_starts_in_closed_bounds():
    found = side_by_side(bounds=(-5, 5), restarts=1)
    for i in range(2):
        equal(found, i, OneByOne(i, bounds=(-5, 5), restarts=1))


def test_drawn_starts():
    def draw(generator):
        return generator.uniform(-4, 4, 2)

    found = side_by_side(x0=draw)
    for i in range(2):
        equal(found, i, OneByOne(i, x0=draw))


def test_what_runs_beside_a_problem_does_not_matter(monkeypatch):
    """Nor do the number of lanes and the length of a chunk."""
    whole = side_by_side(restarts=0)
    monkeypatch.setattr("thalweg.batch.scheduler.NARROWEST", 1)
    narrow = side_by_side(restarts=0, batch_size=3, chunk=40)
    for one, other in zip(whole.runs, narrow.runs, strict=True):
        assert [run[:4] for run in one] == [run[:4] for run in other]
    assert np.array_equal(whole.hits, narrow.hits)
    np.testing.assert_allclose(whole.fun, narrow.fun, rtol=1e-6)
    assert 0 < whole.idle < 1


@pytest.mark.parametrize("method", ["cma", "sep-cma"])
def test_the_condition_number_is_looked_at_every_tenth_generation(method):
    """A bound of it comes from the device; it must let no case pass, and stop no run too early."""

    def ellipsoid(x, centre):
        return jnp.sum((x - centre) ** 2 * jnp.array([1.0, 1e4]), -1)

    options = {"tolconditioncov": 3000.0}
    found = side_by_side(method, fun=ellipsoid, restarts=0, options=options)
    for i in range(4):
        equal(found, i, OneByOne(i, method, fun=jax.jit(ellipsoid), restarts=0, options=options))
    assert all(stop == {"tolconditioncov": 3000.0} for stop in found.stop)
    assert all(runs[0].nit % 10 == 0 for runs in found.runs)


def test_criteria_of_the_search_distribution():
    def fun(x, kind):
        convex = jnp.sum((x - jnp.where(kind == 2, 1e12, 3.0)) ** 2, -1)
        return jnp.where(kind == 1, x[..., 0], jnp.where(kind == 3, jnp.round(x[..., 0] / 9), convex))

    compiled = jax.jit(fun)
    options = {"tolfun": 0, "tolfunhist": 0, "tolx": 1e-5, "tolfacupx": 30}
    x0 = np.array([[1.0, 1.0], [0.0, 0.0], [1e12, 1e12], [0.0, 0.0]])
    found = run_restarts("cma", fun, x0, 0.3, seeds=4, args=(np.arange(4),), restarts=0, max_evals=3000, options=options)
    for i, name in enumerate(("tolx", "tolfacupx", "noeffectcoord", "tolflatfitness")):

        def evaluate(X, kind=i):
            with jax.enable_x64(True):
                return np.asarray(compiled(jnp.asarray(X), kind))

        one = minimize(evaluate, x0[i], 0.3, method="cma", seed=i, max_evals=3000, vectorized=True, options=options)
        assert found.stop[i] == one.stop
        assert one.stop.keys() == {name}
        assert found.evaluations[i] == one.nfev


def test_failures_and_breakdown_end_a_run():
    class Broken(CMAES):
        def update(self, state, e, f):
            told = super().update(state, e, f)
            return told._replace(sigma=jnp.where(jnp.isnan(f[0]), jnp.nan, told.sigma))

    def fun(x, kind):
        return jnp.where(kind == 0, jnp.inf, jnp.where(kind == 1, jnp.nan, jnp.sum(x**2)))

    found = run_restarts(Broken(popsize=6), fun, [1.0, 1.0], seeds=3, args=(np.arange(3.0),), restarts=0, max_evals=600)
    assert [runs[0].nit for runs in found.runs[:2]] == [20, 1]
    assert found.stop[:2] == [{"failures": 20}, {"nonfinite": 1}]
    assert found.fun[0] == found.fun[1] == np.inf
    assert found.x[0].tolist() == [1.0, 1.0]
    assert found.fun[2] < 1e-6


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"method": "pycma"}, ValueError, "cannot be traced by JAX, and run_restarts compiles whole runs; use minimize"),
        ({"fun": 3}, TypeError, "fun must be callable, got 3"),
        ({"x0": np.zeros((3, 2))}, ValueError, r"x0 must be a callable, or finite and of shape \(d,\) or \(4, d\)"),
        ({"x0": [9.0, 0.0], "bounds": (-5, 5)}, ValueError, "x0"),
        ({"args": (np.zeros(3),)}, ValueError, "args must hold arrays with one entry for each of the 4 runs"),
        ({"ftarget": np.zeros(3)}, ValueError, r"ftarget must be of shape \(\) or \(4,\), got shape \(3,\)"),
        ({"ftarget": np.nan}, ValueError, "ftarget must not be NaN"),
        ({"targets": np.zeros((3, 2))}, ValueError, r"targets must be of shape \(2,\) or \(4, 2\), got shape \(3, 2\)"),
        ({"targets": 1.0}, ValueError, "targets must not be NaN and of shape"),
        ({"chunk": 25}, ValueError, "chunk must be a multiple of 10"),
        ({"restarts": 0, "bipop": True}, ValueError, "bipop=True needs restarts"),
        ({"max_evals": 0}, ValueError, "max_evals must be at least 1, got 0"),
    ],
)
def test_errors_name_argument_value_and_fix(change, error, words):
    if change.get("method") == "pycma":
        pytest.importorskip("cma")
    with pytest.raises(error, match=words):
        side_by_side(**change)
