"""Many runs at once: the same as one by one, held at the target, refilled, bounded, without traffic or a second compilation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from thalweg.batch import device_loop
from thalweg.batch.device_loop import RunInput, Setup, run_all
from thalweg.batch.run_many import run_many
from thalweg.batch.trajectories import Trajectories, Work
from thalweg.compiled.keys import make_keys
from thalweg.search.optimizer import Optimizer
from thalweg.space import SpaceMap
from thalweg.strategies.latents.cmaes import CMAES
from thalweg.strategies.registry import make_strategy

SHIFTS = np.random.default_rng(0).normal(size=(4, 2))
SEEDS = [0, 1, 5, 9]


def shifted(x, shift):
    return jnp.sum((x - shift) ** 2)


def run(**more):
    settings = {"seeds": SEEDS, "generations": 40, "args": (SHIFTS,)}
    return run_many(CMAES(popsize=6), shifted, np.zeros(2), 1.0, **{**settings, **more})


def test_each_run_is_that_of_an_optimizer_with_the_same_seed():
    runs = run()
    for i, seed in enumerate(SEEDS):
        es = Optimizer(np.zeros(2), method="cma", popsize=6, seed=seed, max_iter=40, options={"tolfun": 0, "tolfunhist": 0})
        best, medians, sigmas = [], [], []
        while not es.stop():
            X = es.ask()
            f = np.sum((X - SHIFTS[i]) ** 2, 1)
            es.tell(X, f)
            best.append(es.best.f)
            medians.append(np.median(f))
            sigmas.append(es.sigma)
        np.testing.assert_allclose(runs.best[i], best, rtol=1e-6)
        np.testing.assert_allclose(runs.median[i], medians, rtol=1e-6)
        np.testing.assert_allclose(runs.sigma[i], sigmas, rtol=1e-6)
        np.testing.assert_allclose(runs.x[i], es.best.x, rtol=1e-6)


def wandering(x, shift):
    """Values that tell the step-size little, within the box."""
    return jnp.sum(jnp.sin(50 * x + shift))


def test_the_spread_is_capped_as_by_an_optimizer():
    runs = run_many(CMAES(popsize=6), wandering, [0.5, 0.5], 0.9, seeds=SEEDS, generations=30, args=(SHIFTS,), bounds=(0, 1))
    off = {"tolfun": 0, "tolfunhist": 0}
    capped = 0
    for i, seed in enumerate(SEEDS):
        es = Optimizer([0.5, 0.5], 0.9, method="cma", bounds=(0, 1), popsize=6, seed=seed, max_iter=30, options=off)
        sigmas, medians = [], []
        while not es.stop():
            X = es.ask()
            es.tell(X, f := np.sin(50 * X + SHIFTS[i]).sum(1))
            capped += np.max(es.std) > 0.25 - 1e-9
            sigmas.append(es.sigma)
            medians.append(np.median(f))
        np.testing.assert_allclose(runs.sigma[i], sigmas, rtol=1e-6)
        np.testing.assert_allclose(runs.median[i], medians, rtol=1e-6)
    assert capped > 10


def test_no_run_wanders_off_over_the_mirrored_images():
    """Let 256 runs on the sphere in the unit square need at most twice the median of all.

    Of 20,000 runs with other seeds the longest took 1.77 times the median: with 95% confidence the false-alarm rate of other
    seeds is below 256 * 3 / 20,000 = 4%.
    """
    sphere = lambda x: jnp.sum((x - 0.37) ** 2)  # noqa: E731
    runs = run_many(CMAES(), sphere, [0.5, 0.5], 0.3, seeds=256, generations=150, bounds=(0, 1), ftarget=1e-8)
    needed = runs.evaluations_to(1e-8)
    assert np.max(needed) < 2 * np.median(needed)


def test_shapes_and_evaluations():
    runs = run(generations=3)
    assert runs.evaluations.tolist() == [6, 12, 18]
    assert runs.best.shape == runs.median.shape == runs.sigma.shape == (4, 3)
    assert runs.x.shape == (4, 2)
    assert runs.best.dtype == np.float64
    assert np.all(np.diff(runs.best) <= 0)
    assert np.array_equal(runs.fun, runs.best[:, -1])


def test_runs_at_the_target_stand_still():
    free, held = run(), run(ftarget=1e-3)
    assert np.array_equal(free.evaluations_to(1e-3), held.evaluations_to(1e-3))
    for i in range(4):
        reached = int(held.evaluations_to(1e-3)[i] / 6) - 1
        assert np.array_equal(held.best[i, : reached + 1], free.best[i, : reached + 1])
        assert np.all(held.best[i, reached:] == held.best[i, reached])
        assert np.all(held.sigma[i, reached + 1 :] == held.sigma[i, -1])
        assert held.fun[i] == pytest.approx(np.sum((held.x[i] - SHIFTS[i]) ** 2))
    assert np.all(free.fun < held.fun)


def test_batches_starts_and_one_by_one_agree():
    whole = run()
    batched = run(batch_size=3)
    np.testing.assert_allclose(batched.best, whole.best, rtol=1e-6)
    starts = run_many(
        CMAES(popsize=6), shifted, np.zeros((4, 2)), np.ones(4), seeds=np.array(SEEDS), generations=40, args=(SHIFTS,)
    )
    np.testing.assert_allclose(starts.best, whole.best, rtol=1e-6)


def same(a, b):
    names = ("best", "median", "x", "sigma")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


@pytest.mark.parametrize("method", ["cma", pytest.param("gnn-cma", marks=pytest.mark.check)])
def test_runs_that_take_the_lanes_of_ended_ones_are_the_same_to_the_last_digit(method):
    seeds, shifts = np.arange(7), np.random.default_rng(1).normal(size=(7, 2))

    def runs(**more):
        settings = {"seeds": seeds, "generations": 30, "args": (shifts,), "ftarget": 1e-2}
        return run_many(make_strategy(method, popsize=6), shifted, np.zeros(2), 1.0, **{**settings, **more})

    whole, refilled = runs(), runs(batch_size=3)
    assert same(whole, refilled)
    lengths = refilled.work.generations
    assert np.array_equal(lengths, whole.work.generations)
    assert np.array_equal(lengths, whole.evaluations_to(1e-2) / 6)  # all got there
    assert len(set(lengths.tolist())) > 1
    assert whole.work.rounds == lengths.max()
    # lanes that wait for the longest run of their three would need more rounds
    waiting = sum(lengths[i : i + 3].max() for i in range(0, 7, 3))
    assert lengths.sum() / 3 <= refilled.work.rounds < waiting


def test_a_run_that_breaks_down_makes_room():
    class Broken(CMAES):
        def update(self, state, e, f):
            told = super().update(state, e, f)
            return told._replace(sigma=jnp.where(state.mean[0] > 50, jnp.nan, told.sigma))

    x0 = np.array([[0.0, 1.0], [99.0, 0.0], [1.0, 1.0], [99.0, 1.0], [0.0, 2.0]])
    runs = run_many(Broken(popsize=6), lambda x: jnp.sum(x**2), x0, seeds=5, generations=8, batch_size=2)
    assert runs.work.generations.tolist() == [8, 1, 8, 1, 8]
    assert np.all(runs.best[1] == runs.best[1, 0])
    assert np.all(np.diff(runs.best[4]) <= 0)
    assert runs.fun[4] < runs.best[4, 0]


def test_idle_is_the_share_of_rounds_that_no_run_needed():
    assert Work(np.array([10, 5, 5]), lanes=2, rounds=10).idle == 0
    assert Work(np.array([10, 5]), lanes=2, rounds=10).idle == pytest.approx(0.25)


def test_single_precision():
    runs = run(dtype="float32")
    assert runs.best.dtype == runs.median.dtype == runs.x.dtype == runs.sigma.dtype == np.float32
    assert np.all(runs.fun < 1e-6)
    np.testing.assert_allclose(runs.fun, np.sum((runs.x - SHIFTS.astype(np.float32)) ** 2, 1), rtol=1e-5)
    assert jnp.zeros(1).dtype == np.float64  # the flag of the caller is as it was


def test_arrays_go_to_the_device_once_and_come_back_once():
    settings = {"bounds": (-5, 5), "ftarget": 1e-3, "batch_size": 2}
    run(**settings)
    with jax.transfer_guard("disallow"):  # what is asked for by device_put and device_get is allowed
        run(**settings)
    with pytest.raises(Exception, match="Disallowed host-to-device"), jax.transfer_guard("disallow"):
        jax.jit(jnp.sin)(np.ones(3))  # the guard works here


def test_a_compiled_run_has_no_way_to_the_host():
    def text(fun):
        each = RunInput(make_keys(SEEDS), jnp.zeros((4, 2)), jnp.ones(4), (jnp.asarray(SHIFTS),))
        setup = Setup(CMAES(popsize=6), fun, 5, False, 2)
        return run_all.lower(setup, each, jnp.asarray(0.0), SpaceMap()).compile().as_text().lower()

    def chatty(x, shift):
        return jax.pure_callback(lambda x: np.sum(x**2), jax.ShapeDtypeStruct((), x.dtype), x, vmap_method="expand_dims")

    ways = ("callback", "infeed", "outfeed", " send(", " recv(")
    assert not [way for way in ways if way in text(shifted)]
    assert [way for way in ways if way in text(chatty)]  # the words are the right ones


def test_a_second_call_of_the_same_shapes_compiles_nothing():
    compiled = []

    def listen(event, seconds, **_):
        if "backend_compile" in event:
            compiled.append(event)

    def call(seeds, generations=7):
        run(seeds=seeds, generations=generations, ftarget=float(seeds[0]), batch_size=2)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        call([1, 2, 3, 4])
        compiled.clear()
        call([5, 6, 7, 8])
        assert not compiled
        call([5, 6, 7, 8], generations=9)
        assert compiled  # it is counted
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def test_vectorized_objective_and_int_seeds():
    one = run_many("cma", lambda x: jnp.sum(x**2), np.ones(2), seeds=2, generations=5)
    many = run_many("cma", lambda X: jnp.sum(X**2, 1), np.ones(2), seeds=range(2), generations=5, vectorized=True)
    np.testing.assert_allclose(one.best, many.best, rtol=1e-12)


def test_bounds_and_nan():
    def fun(x):
        return jnp.where(
            x[0] < 0.1,
            jnp.nan,
            jnp.sum((x - jnp.array([2.0, 0.5])) ** 2) + 0 * jnp.where(jnp.all((x >= 0) & (x <= 1)), 0, jnp.nan),
        )

    runs = run_many("cma", fun, np.full(2, 0.5), 0.3, seeds=3, generations=50, bounds=(0, 1))
    np.testing.assert_allclose(runs.x, [[1.0, 0.5]] * 3, atol=1e-4)
    assert np.all(np.isfinite(runs.fun))


def test_evaluations_to_and_best_at():
    runs = Trajectories(
        np.array([10, 20, 30]),
        np.array([[3.0, 2.0, 1.0], [9.0, 9.0, 2.0], [np.inf, 9.0, 9.0]]),
        np.zeros((3, 3)),
        np.zeros((3, 1)),
        {},
    )
    assert runs.evaluations_to(2.0).tolist() == [20, 30, np.inf]
    assert runs.best_at(25).tolist() == [2.0, 9.0, 9.0]
    assert runs.best_at(10).tolist() == [3.0, 9.0, np.inf]
    assert runs.best_at(5).tolist() == [np.inf] * 3


class Opaque(CMAES):
    traceable = False


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"strategy": Opaque()}, ValueError, "cannot be traced by JAX"),
        ({"fun": 3}, TypeError, "fun must be callable"),
        ({"x0": np.zeros((3, 2))}, ValueError, r"x0 must be finite and of shape \(d,\) or \(4, d\)"),
        ({"x0": np.array([0, np.nan])}, ValueError, "x0 must be finite"),
        ({"sigma0": 0.0}, ValueError, "sigma0 must be above 0"),
        ({"sigma0": np.ones(3)}, ValueError, "one for each of the 4 runs"),
        ({"generations": 0}, ValueError, "generations must be at least 1, got 0"),
        ({"seeds": [1, -1, 2, 3]}, ValueError, r"seeds\[1\] must be 0 or above, got -1"),
        ({"seeds": [1, "a"]}, TypeError, r"seeds\[1\] must be a whole number, .* got 'a'"),
        ({"seeds": 1e15}, ValueError, "seeds must be at most 2147483647 runs"),
        ({"seeds": []}, ValueError, "seeds must have one number for each run, got none"),
        ({"args": (np.zeros((3, 2)),)}, ValueError, r"one entry for each of the 4 runs, got shape \(3, 2\)"),
        ({"bounds": (1, 2)}, ValueError, "x0"),
        ({"dtype": "float16"}, ValueError, "dtype must be 'float64' or 'float32', got 'float16'"),
        ({"dtype": "short"}, ValueError, "dtype must be 'float64' or 'float32', got 'short'"),
        ({"batch_size": 0}, ValueError, "batch_size must be at least 1, got 0"),
        ({"fun": lambda x, s: x}, ValueError, "fun must return one value per point"),
    ],
)
def test_bad_input(change, error, words):
    settings = {"strategy": "cma", "fun": shifted, "x0": np.zeros(2), "sigma0": 1.0, "seeds": SEEDS, "generations": 2}
    with pytest.raises(error, match=words):
        run_many(**{**settings, "args": (SHIFTS,), **change})


def test_constraints_are_refused():
    with pytest.raises(TypeError, match="fun must return one value per point, got several, as with constraints"):
        run_many("cma", lambda x: (x @ x, x - 1), [1.0, 1.0], seeds=2, generations=3)


def test_compiled_programs_are_not_kept_for_ever(monkeypatch):
    monkeypatch.setattr(device_loop, "KEPT", 2)
    sizes, found = [], []
    for generations in (2, 3, 4, 2):
        found.append(run_many("snes", lambda x: x @ x, [1.0, 2.0], seeds=1, generations=generations).best)
        sizes.append(device_loop.run_all._cache_size())
    assert max(sizes) == 2
    assert np.array_equal(found[0], found[3])
