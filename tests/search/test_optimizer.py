"""Ask and tell: what goes out, what may come back, what is kept; seeds, injected points, bounds, compiled code."""

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.search.optimizer import Optimizer
from thalweg.strategies.latents.cmaes import CMAES

compilations: list[str] = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, _, **__: compilations.append(event) if "backend_compile" in event else None
)


def make(x0=(1.0, -2.0), sigma0=1.0, **more):
    return Optimizer(x0, sigma0, **{"method": "cma", "popsize": 6, "seed": 3, **more})


def sphere(X):
    return np.sum(np.asarray(X) ** 2, 1)


def run(es, generations, fun=sphere):
    for _ in range(generations):
        X = es.ask()
        es.tell(X, fun(X))
    return es


def test_ask_gives_double_precision_points():
    X = make().ask()
    assert X.dtype == np.float64
    assert X.shape == (6, 2)
    assert X.flags.writeable


def test_any_order_is_the_same_order():
    one, other = make(), make()
    for permutation in ([5, 0, 3, 1, 4, 2], [1, 2, 3, 4, 5, 0]):
        X, Y = one.ask(), other.ask()
        one.tell(X, sphere(X))
        other.tell(Y[permutation].tolist(), sphere(Y[permutation]))
    assert np.array_equal(one.ask(), other.ask())
    assert one.best.f == other.best.f
    assert one.best.nfev == other.best.nfev


def test_only_ranks_matter_and_failures_rank_last():
    by_value, by_rank, failing = make(), make(), make()
    for _ in range(3):
        X = by_value.ask()
        assert np.array_equal(X, by_rank.ask())
        assert np.array_equal(X, failing.ask())
        f = sphere(X)
        by_value.tell(X, f)
        by_rank.tell(X, np.argsort(np.argsort(f)))
        worst = np.argmax(f)
        failing.tell(X, [None if i == worst else value for i, value in enumerate(f)])
    X = by_value.ask()
    assert np.array_equal(X, by_rank.ask())
    assert np.array_equal(X, failing.ask())
    assert failing.failures == 3
    assert failing.result.fun == by_value.result.fun


@pytest.mark.parametrize("bad", [None, np.nan, np.inf, "text", 1j, [1.0, 2.0], object(), np.zeros(3), 10**400, b"1"])
def test_a_value_that_is_no_number_ranks_last(bad):
    es, reference = make(), make()
    X = es.ask()
    assert np.array_equal(X, reference.ask())
    f = sphere(X)
    worst = int(np.argmax(f))
    es.tell(X, [bad if i == worst else value for i, value in enumerate(f)])
    reference.tell(X, f)
    assert np.array_equal(es.ask(), reference.ask())


@pytest.mark.parametrize(
    "wrap", [np.float32, int, lambda v: np.array([v]), lambda v: [v], jnp.asarray, lambda v: np.array([[v]])]
)
def test_values_of_many_types(wrap):
    es = make()
    X = es.ask()
    es.tell(X, [wrap(float(i)) for i in range(6)])
    assert es.best.f == 0.0
    assert es.failures == 0


def test_foreign_points():
    es = make()
    X = es.ask()
    Y = X.copy()
    Y[2] += 0.1
    with pytest.raises(ValueError, match=r"X\[2\] = .* is not a point that ask has returned") as error:
        es.tell(Y, sphere(Y))
    assert "inject" in str(error.value)
    es.tell(X, sphere(X))  # the generation is still open


def test_wrong_sets_of_points_and_values():
    es = make()
    X = es.ask()
    with pytest.raises(ValueError, match=r"X\[1\] = .* each once"):  # one of them twice
        es.tell(X[[0, 0, 1, 2, 3, 4]], np.zeros(6))
    with pytest.raises(ValueError, match="F must hold one value for each of the 5 points of X, got 6"):
        es.tell(X[:5], sphere(X))
    with pytest.raises(ValueError, match=r"shape \(n, 2\), got shape \(6, 3\)"):
        es.tell(np.zeros((6, 3)), np.zeros(6))
    assert es.nfev == 0
    es.tell(X, sphere(X))
    assert (es.nfev, es.nit) == (6, 1)


def test_values_that_are_no_sequence():
    es = make()
    with pytest.raises(TypeError, match=r"F must be a sequence of values, one for each point, got 3\.0"):
        es.tell(es.ask(), 3.0)


def test_tell_needs_an_open_generation():
    es = make()
    with pytest.raises(ValueError, match="call ask first"):
        es.tell(np.zeros((6, 2)), np.zeros(6))
    X = es.ask()
    es.tell(X, sphere(X))
    with pytest.raises(ValueError, match="tell each point once"):
        es.tell(X, sphere(X))


@settings(max_examples=15)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6))
def test_tell_never_takes_a_wrong_set_of_points(order):
    es = make()
    X = es.ask()
    if len(set(order)) == len(order):
        es.tell(X[order], sphere(X[order]))
        assert es.nfev == len(order)
    else:
        with pytest.raises(ValueError, match="X"):
            es.tell(X[order], sphere(X[order]))


def test_ask_again_draws_afresh():
    es = make()
    first, second = es.ask(), es.ask()
    assert not np.array_equal(first, second)
    es.tell(second, sphere(second))
    assert es.nfev == 6


def test_abandoned_values_count_but_teach_nothing():
    es = make()
    X = es.ask()
    es.abandon(X, [0.25, *[np.nan] * 5])
    assert es.nfev == 1
    assert es.best.f == 0.25
    assert es.nit == 0
    assert np.array_equal(es.mean, [1.0, -2.0])


def test_writing_into_the_points_changes_nothing():
    es = make()
    X = es.ask()
    kept = X.copy()
    X[:] = 0
    es.tell(kept, sphere(kept))


def test_same_seed_same_run_and_zero_is_a_seed():
    results = [run(make(seed=seed), 5).ask() for seed in (0, 0, 1, 2**80)]
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])
    assert not np.array_equal(results[0], results[3])


def test_kinds_of_seeds():
    fresh = make(seed=None)
    assert fresh.seed != make(seed=None).seed
    assert np.array_equal(fresh.ask(), make(seed=fresh.result.seed).ask())
    generators = [make(seed=np.random.default_rng(5)).ask() for _ in range(2)]
    assert np.array_equal(*generators)
    sequences = [make(seed=np.random.SeedSequence(5)).ask() for _ in range(2)]
    assert np.array_equal(*sequences)
    assert np.array_equal(make(seed=np.int32(4)).ask(), make(seed=4).ask())


def test_the_process_is_left_as_it_was():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    with jax.enable_x64(False):
        es = run(make(bounds=(-5, 5)), 3)
        es.inject([0.5, 0.5])
        run(es, 1)
        assert jnp.zeros(1).dtype == jnp.float32
        assert es.ask().dtype == np.float64
        assert es.state.mean.dtype == jnp.float64
    assert jnp.zeros(1).dtype == jnp.float64
    assert np.array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


def test_other_flags_of_the_user_do_not_change_a_run():
    reference = run(make(), 3).ask()
    with jax.default_prng_impl("rbg"):
        assert np.array_equal(run(make(), 3).ask(), reference)


def test_a_second_problem_of_the_same_size_compiles_nothing():
    run(make(), 2)
    del compilations[:]
    run(make(x0=(5.0, 5.0), sigma0=0.1, seed=77), 2, lambda X: np.sum(np.abs(X), 1))
    assert compilations == []
    run(make(x0=np.full(13, 5.0)), 2)
    assert compilations  # the test can fail


def test_injected_points_appear_next_and_once():
    es = make()
    es.inject([[0.1, 0.2], [0.3, 0.4]])
    es.inject([0.5, 0.6])
    first = es.ask()
    assert first[:3].tolist() == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]
    assert np.array_equal(es.ask()[:3], first[:3])  # not told, so still on offer
    X = es.ask()
    es.tell(X, sphere(X))
    assert 0.1 not in es.ask()
    assert es.best.x.tolist() == [0.1, 0.2]


def test_more_injected_points_than_places_wait():
    es = make()
    given = np.arange(16.0).reshape(8, 2)
    es.inject(given)
    X = es.ask()
    assert np.array_equal(X, given[:6])
    es.tell(X, sphere(X))
    assert np.array_equal(es.ask()[:2], given[6:])


def test_an_injected_sample_is_as_good_as_a_drawn_one():
    drawn, given = make(), make()
    X = drawn.ask()
    given.inject(X[0])  # the point that would have been drawn
    Y = given.ask()
    assert np.array_equal(X, Y)
    drawn.tell(X, sphere(X))
    given.tell(Y, sphere(Y))
    np.testing.assert_allclose(given.ask(), drawn.ask(), rtol=1e-10)


def test_a_far_injected_point_moves_the_mean_a_bounded_way():
    es = make(popsize=10)
    far = np.array([1e8, -1e8])
    es.inject(far)
    X = es.ask()
    assert X[0].tolist() == far.tolist()
    es.tell(X, [0.0, *[1.0 + i for i in range(9)]])
    longest = 2**0.5 + 2 * 2 / 4
    assert np.linalg.norm(es.mean - [1.0, -2.0]) < longest
    assert es.sigma < 5
    assert es.best.x.tolist() == far.tolist()


@pytest.mark.parametrize(
    ("flow", "generations", "narrow"), [pytest.param("nice", 12, 1e2, marks=pytest.mark.check), ("shear-affine", 40, 1e4)]
)
def test_through_a_flow_draws_and_points_of_injected_points_still_belong_together(flow, generations, narrow):
    es = make(method="gnn-cma", x0=(0.0, 0.0), options={"flow": flow})
    run(es, generations, lambda X: narrow * (X[:, 1] - X[:, 0] ** 2) ** 2 + (1 - X[:, 0]) ** 2)
    assert es.info["nonlinearity"] > 1e-4  # there is something to invert
    es.inject([[0.5, 0.2], [300.0, -800.0]])
    X = es.ask()
    assert X[:2].tolist() == [[0.5, 0.2], [300.0, -800.0]]
    e, y = np.asarray(es._asked.drawn.e), np.asarray(es._asked.drawn.y)
    np.testing.assert_allclose(es.run.steps.invert(es.state, y), e, atol=1e-8)
    assert np.linalg.norm(e[1]) == pytest.approx(2**0.5 + 1)
    es.tell(X, [-1.0, -2.0, 1.0, 2.0, 3.0, 4.0])
    assert np.all(np.isfinite(es.ask()))


def test_injection_helps():
    target = np.array([30.0, -20.0])
    plain, helped = make(), make()
    helped.inject(target + 0.01)
    for es in (plain, helped):
        run(es, 15, lambda X: np.sum((X - target) ** 2, 1))
    assert helped.best.f < 1e-3 < plain.best.f


@pytest.mark.parametrize(
    ("points", "words"),
    [([1.0], r"shape \(n, 2\)"), ([[np.nan, 1]], "finite"), ([[9, 9]], "bounds"), (np.zeros((2, 2, 2)), "shape")],
)
def test_bad_injected_points(points, words):
    with pytest.raises(ValueError, match="points") as error:
        make(bounds=(-5, 5)).inject(points)
    assert error.match(words)


@pytest.mark.parametrize("x0", [(0.0, 1.0), (0.5, 0.5), (1e-9, 0.7)])
def test_bounded_search_is_feasible_and_finds_a_minimum_on_the_bound(x0):
    es = make(x0=x0, bounds=[(0, 1), (0, 1)], sigma0=0.3)
    np.testing.assert_allclose(es.result.mean, x0, atol=1e-12)
    seen = []
    while not es.stop():
        X = es.ask()
        seen.append(X)
        es.tell(X, np.sum((X - [-3.0, 0.25]) ** 2, 1))
    everything = np.concatenate(seen)
    assert everything.min() >= 0
    assert everything.max() <= 1
    np.testing.assert_allclose(es.result.x, [0.0, 0.25], atol=1e-5)


def test_injected_points_on_the_bounds_and_outside():
    es = make(x0=(0.5, 0.5), bounds=(0, 1), sigma0=0.2)
    es.inject([0.0, 1.0])
    X = es.ask()
    assert X[0].tolist() == [0.0, 1.0]
    es.tell(X, sphere(X))
    assert np.all(np.isfinite(es.mean))


def test_result_before_the_first_generation():
    result = make().result
    assert result.x.tolist() == [1.0, -2.0]
    assert (result.nfev, result.nit, result.success, result.status) == (0, 0, False, -1)
    assert result.message == "The run has not stopped."


def test_result_fields():
    es = run(make(method=CMAES(popsize=6)), 4)
    result = es.result
    assert result.nfev == 24
    assert result.nit == 4
    assert result.fun == np.min([result.fun, es.best.f])
    assert result.sigma == es.info["sigma"]
    assert (result.popsize, result.seed, result.failures) == (6, 3, 0)
    assert "CMAES" in result.method


def test_dimension_one():
    es = make(x0=3.0)
    while not es.stop():
        X = es.ask()
        es.tell(X, sphere(X))
    assert es.result.fun < 1e-10


class Counting(CMAES):
    """A latent that begins with a number of Python's."""

    def start(self, key, x0, sigma0):
        return super().start(key, x0, sigma0)._replace(generation=0)


def test_a_state_may_hold_plain_numbers():
    plain, counting = (run(make(method=method(popsize=6)), 5, lambda X: np.sum(X**2, 1)) for method in (CMAES, Counting))
    assert counting.best.f == plain.best.f
    assert int(counting.state.generation) == 5


def test_a_state_put_in_place_draws_the_next_generation():
    es, other = make(), run(make(), 3, lambda X: np.sum(X**2, 1))
    X = es.ask()
    es.state = other.state
    with pytest.raises(ValueError, match="no open generation"):
        es.tell(X, np.zeros(len(X)))
    assert np.array_equal(es.ask(), other.ask())
