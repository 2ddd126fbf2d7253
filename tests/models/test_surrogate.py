"""The model at work: its archive, its order, its tests, its values, and its arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from thalweg.models import Quadratic, Surrogate
from thalweg.models.surrogate import PATIENCE


def bowl(e):
    return float((e - 0.3) @ np.diag(np.arange(1.0, len(e) + 1)) @ (e - 0.3) + 5)


def same(y):
    return np.array(y)


def filled(d=2, popsize=6, number=12, fun=bowl, seed=0, bend=None, **settings):
    """Return a model that has learned values of points in the standard frame, and candidates that have none."""
    rng = np.random.default_rng(seed)
    model = Surrogate(Quadratic(**settings), d, popsize)
    for e in rng.normal(size=(number, d)):
        model.add(e, e, fun(e))
    candidates = rng.normal(size=(popsize, d))
    model.prepare(same, bend)
    model.begin(candidates, candidates)
    return model, candidates


@pytest.mark.parametrize(("d", "limit"), [(2, 14), (5, 42), (10, 132)])
def test_the_archive_has_a_limit(d, limit):
    rng = np.random.default_rng(d)
    model = Surrogate(Quadratic(), d, 6)
    assert model.capacity == limit
    for number in range(1, limit + 10):
        e = rng.normal(size=d)
        model.add(e, e, bowl(e))
        assert len(model.archive) == min(number, limit)
        assert np.array_equal(model.archive.y[0], e)


def test_a_large_population_makes_a_large_archive():
    assert Surrogate(Quadratic(), 2, 50).capacity == 50
    assert Surrogate(Quadratic(size=3.0), 2, 6).capacity == 18


def test_candidates_are_ordered_by_the_model():
    model, candidates = filled()
    assert model.order().tolist() == np.argsort([bowl(e) for e in candidates]).tolist()
    fresh = Surrogate(Quadratic(), 2, 4)
    fresh.begin(candidates[:4], candidates[:4])
    assert fresh.order().tolist() == [0, 1, 2, 3]


def test_values_that_come_within_a_generation_count_at_once():
    model, _ = filled(number=3)
    first = model.order().tolist()
    for e in np.random.default_rng(5).normal(size=(10, 2)):
        model.add(e, e, -bowl(e))
    assert model.order().tolist() != first


def test_how_many_candidates_are_wanted():
    first, later = Surrogate(Quadratic(), 5, 100), filled(5, 100)[0]
    assert first.wanted(0) == 5
    assert [later.wanted(k) for k in (0, 3, 5, 8, 12, 90)] == [3, 5, 8, 12, 18, 100]
    assert filled(2, 6)[0].wanted(0) == 1


def test_generations_without_a_better_point_evaluate_more():
    model, candidates = filled(2, 6)
    wanted = []
    for _ in range(6 * PATIENCE):
        model.end()
        wanted.append(model.wanted(0))
    assert wanted[0] == 1
    assert np.all(np.diff(wanted) >= 0)
    assert wanted[-1] > 3
    model.add(candidates[0], candidates[0], -1.0)
    model.end()
    assert model.wanted(0) == 1


def test_it_ranks_a_quadratic_well_and_noise_badly():
    good, _ = filled()
    assert good.enough(1)
    assert good.info["model_tau"] == pytest.approx(1)
    assert good.info["model_evaluated"] == 1 / 6
    rng = np.random.default_rng(1)
    bad, _ = filled(5, 8, number=40, fun=lambda e: float(rng.normal()))
    assert not bad.enough(1)
    assert bad.info["model_tau"] < 0.8
    empty = Surrogate(Quadratic(), 2, 6)
    assert not empty.enough(1)
    assert empty.info["model_penalty"] == np.inf


def test_a_fit_through_all_points_is_not_trusted_for_that():
    """As many coefficients as points: noise is fitted, and ranked, exactly; values that are left out tell."""
    rng = np.random.default_rng(2)
    model, _ = filled(5, 8, number=10, fun=lambda e: float(rng.normal()))
    assert not model.enough(1)
    assert model.info["model_tau"] >= 0.8
    assert model.info["model_left_out"] < 0.5
    assert model.offer() is None


def test_a_function_of_three_steps_is_not_ranked_however_well_the_model_tells_them_apart():
    def steps(e):
        return float(np.searchsorted([6.0, 8.0], bowl(e)))

    model, _ = filled(2, 6, number=20, fun=steps)
    assert not model.enough(1)
    assert model.info["model_tau"] < 0.8
    values = model.archive.f
    assert set(values) == {0.0, 1.0, 2.0}
    assert kendalltau(values, model.predict(model.archive.e, model.archive.y)).statistic > 0.8  # scipy leaves ties out


def test_equal_values_are_not_ranked_and_keep_the_order():
    model, _ = filled(fun=lambda e: 7.0)
    assert model.order().tolist() == list(range(6))
    assert not model.enough(1)
    assert model.offer() is None
    f = np.array([7.0, *[np.nan] * 5])
    np.testing.assert_array_equal(model.values(f, np.arange(6) < 1), f)


def test_values_are_those_of_the_model_shifted_to_the_best_true_one():
    model, candidates = filled()
    truth = np.array([bowl(e) for e in candidates])
    f, evaluated = np.full(6, np.nan), np.array([True, True, True, False, False, False])
    f[:2], f[2] = truth[:2] + 7, np.nan
    values = model.values(f, evaluated)
    assert np.isnan(values[2])
    expected = truth - truth.min() + f[:2].min()
    np.testing.assert_allclose(np.delete(values, 2), np.delete(expected, 2), rtol=1e-7)
    f[2] = np.inf
    assert model.values(f, evaluated)[2] == np.inf
    everything = np.arange(6.0)
    assert model.values(everything, np.ones(6, bool)).tolist() == everything.tolist()


def test_it_offers_its_minimum():
    model, _ = filled(fun=lambda e: bowl(e) + 0.5 * e[0] * e[1])
    point, in_search_space = model.offer()
    A, b = np.array([[1.0, 0.25], [0.25, 2.0]]), np.array([0.3, 0.6])
    np.testing.assert_allclose(point, np.linalg.solve(A, b), atol=1e-6)
    assert not in_search_space
    assert filled(offer=False)[0].offer() is None
    assert Surrogate(Quadratic(), 2, 6).offer() is None


def test_the_bow_moves_the_archive_with_it():
    axis, bow, true = np.array([1.0, 0.0]), np.zeros(2), np.array([0.0, 0.4])

    def fun(y):
        return bowl(y - true * (y[0] ** 2 - 1) / np.sqrt(2))

    model, _ = filled(number=14, fun=fun)
    for _ in range(20):
        moved = model.prepare(lambda y, bow=bow: y - ((y[:, :1] ** 2 - 1) / np.sqrt(2)) * bow, (axis, bow))
        bow = moved.bow
        np.testing.assert_allclose(model.archive.e, model.archive.y - ((model.archive.y[:, :1] ** 2 - 1) / np.sqrt(2)) * bow)
    np.testing.assert_allclose(bow, true, atol=1e-4)
    np.testing.assert_allclose(model.offer()[0], 0.3, atol=1e-3)
    assert model.prepare(same, None) is None


@given(st.lists(st.floats(1e-3, 1e3), min_size=15, max_size=15), st.floats(-1e3, 1e3))
def test_a_model_of_ranks_does_the_same_for_every_increasing_map_of_the_objective(steps, first):
    rng = np.random.default_rng(1)
    e, candidates, axis = rng.normal(size=(16, 2)), rng.normal(size=(6, 2)), np.array([0.6, 0.8])
    plain = [bowl(each) + 0.5 * rng.normal() for each in e]
    mapped = np.cumsum([first, *steps])[np.argsort(np.argsort(plain))]
    found = []
    for f in (plain, mapped):
        model = Surrogate(Quadratic(targets="ranks"), 2, 6)
        for each, value in zip(e[:12], f[:12], strict=True):
            model.add(each, each, value)
        moved = model.prepare(same, (axis, np.zeros(2)))
        model.begin(candidates, candidates)
        for each, value in zip(e[12:], f[12:], strict=True):
            model.add(each, each, value)
        known = np.arange(6) < 2
        decided = model.enough(2), model.info
        order = np.argsort(model.values(np.where(known, f[12], np.nan), known)).tolist()
        found.append((moved.bow.tolist(), moved.precision, decided, model.order().tolist(), model.offer()[0].tolist(), order))
    assert found[0] == found[1]


def test_ranks_are_taken_by_itself_where_they_predict_better():
    for fun, expected in ((bowl, False), (lambda e: float(np.exp(20 * bowl(e))), True)):
        model, _ = filled(3, number=35, fun=fun)
        for _ in range(12):
            model.prepare(same, None)
        assert model.ranks == expected
        assert not filled(3, number=35, fun=fun, targets="values")[0].ranks


@pytest.mark.parametrize("targets", ["auto", "ranks"])
def test_it_goes_on_from_its_arrays_to_the_same_bits(targets):
    axis, bow = np.array([0.6, 0.8]), np.array([-0.08, 0.06])
    model, candidates = filled(bend=(axis, bow), number=14, targets=targets, fun=lambda e: bowl(e) ** 3 + e[0] ** 3)
    model.end()
    other = Surrogate(Quadratic(targets=targets), 2, 6)
    other.unpack({name: array.copy() for name, array in model.pack().items()})
    assert model.order().tolist() == other.order().tolist()
    for each in (model, other):
        each.add(candidates[1], candidates[1], 2.0)
        each.enough(1)
        each.end()
    assert model.info == other.info
    assert model.left_out == other.left_out
    assert (model.offer() is None) == (other.offer() is None) == (model.left_out < 0.5)
    model.left_out = other.left_out = 1.0
    assert model.offer()[0].tolist() == other.offer()[0].tolist()
    one, two = (each.prepare(same, (axis, bow)) for each in (model, other))
    assert one.bow.tolist() == two.bow.tolist()
    assert (one.precision, model.bend.evidence, model.wanted(0)) == (two.precision, other.bend.evidence, other.wanted(0))
    for name, array in model.pack().items():
        assert np.array_equal(array, other.pack()[name])


def test_a_model_without_points_goes_on_too():
    model, other = Surrogate(Quadratic(), 2, 6), Surrogate(Quadratic(), 2, 6)
    other.unpack(model.pack())
    assert other.form is None
    assert other.best == np.inf


def changed(name, place, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name].reshape(-1)[place] = value

    return change


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays: arrays.update(f=np.zeros(3)),
        lambda arrays: arrays.update(f=np.zeros(12, int)),
        lambda arrays: arrays.update(f=np.array(1.0)),
        lambda arrays: arrays.update(candidates=np.zeros((6, 3))),
        lambda arrays: arrays.update(places=np.zeros((5, 2))),
        lambda arrays: arrays.update(numbers=np.zeros(3)),
        lambda arrays: arrays.update(more=np.zeros(1)),
        lambda arrays: arrays.pop("e"),
        changed("f", 2, np.nan),
        changed("f", 2, np.inf),
        changed("e", 0, np.nan),
        changed("candidates", 0, np.inf),
        *(changed("numbers", i, np.nan) for i in range(10)),
        changed("numbers", 0, -1.0),
        changed("numbers", 2, -1.0),
        changed("numbers", 3, 99.0),
        changed("numbers", 6, -1.0),
    ],
)
def test_damaged_arrays_are_refused_and_change_nothing(damage):
    arrays, fresh = filled()[0].pack(), Surrogate(Quadratic(), 2, 6)
    damage(arrays)
    with pytest.raises(ValueError, match="the model"):
        fresh.unpack(arrays)
    assert len(fresh.archive) == 0
    assert fresh.generation == 0
