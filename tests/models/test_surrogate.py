"""The model at work: its archive, its kinds, its tests, and its values (Hansen 2019)."""

import numpy as np
import pytest

from thalweg.models import Quadratic, Surrogate, make_model, pack_model, unpack_model
from thalweg.models.archive import Archive
from thalweg.models.features import DIAGONAL, FULL, LINEAR


def bowl(e):
    return float((e - 0.3) @ np.diag(np.arange(1.0, len(e) + 1)) @ (e - 0.3) + 5)


def filled(d=2, popsize=6, number=9, fun=bowl, seed=0):
    """Return a model that has learned values of points in the standard frame, and candidates that have none."""
    rng = np.random.default_rng(seed)
    model = Surrogate(Quadratic(), d, popsize)
    model.begin(np.zeros((popsize, d)), np.zeros((popsize, d)), lambda y: y)
    for e in rng.normal(size=(number, d)):
        model.add(e, e, fun(e))
    candidates = rng.normal(size=(popsize, d))
    model.begin(candidates, candidates, lambda y: y)
    return model, candidates


@pytest.mark.parametrize(("d", "diagonal", "full", "limit"), [(2, 8, 9, 12), (5, 17, 31, 42), (10, 31, 97, 132)])
def test_kinds_come_with_the_points_and_the_archive_has_a_limit(d, diagonal, full, limit):
    rng = np.random.default_rng(d)
    model = Surrogate(Quadratic(), d, 6)
    assert model.capacity == limit
    for number in range(1, limit + 10):
        e = rng.normal(size=d)
        model.add(e, e, bowl(e))
        assert model.kind == (FULL if number >= full else DIAGONAL if number >= diagonal else LINEAR)
        assert len(model.archive) == min(number, limit)
        assert np.array_equal(model.archive.y[0], e)


def test_a_large_population_makes_a_large_archive():
    assert Surrogate(Quadratic(), 2, 50).capacity == 50
    assert Surrogate(Quadratic(size=3.0), 2, 6).capacity == 18


def test_no_failure_and_no_point_twice_enters_the_archive():
    archive = Archive(2, 10)
    e = np.array([1.0, 2.0])
    assert archive.add(e, e, 3.0)
    assert not archive.add(e, e, 4.0)
    for f in (np.nan, np.inf, -np.inf):
        assert not archive.add(e + 1, e + 1, f)
    assert not archive.add(np.array([np.nan, 0.0]), e + 1, 1.0)
    assert archive.f.tolist() == [3.0]


def test_a_new_frame_moves_all_points_and_drops_those_without_a_place():
    archive = Archive(1, 10)
    for y in (1.0, 2.0, 3.0):
        archive.add(np.array([y]), np.array([y]), y)
    archive.begin(lambda y: np.where(y == 2, np.nan, 10 * y))
    assert archive.e[:, 0].tolist() == [30.0, 10.0]
    assert archive.fresh == 0


def test_points_of_a_generation_are_sorted_whatever_the_order_in_which_they_come():
    found = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        archive = Archive(1, 10)
        archive.add(np.array([9.0]), np.array([9.0]), 9.0)
        archive.begin(lambda y: y)
        for i in order:
            archive.add(np.array([i * 1.0]), np.array([i * 1.0]), [2.0, 1.0, 1.0, 5.0][i])
        archive.sort_fresh()
        found.append((archive.y[:, 0].tolist(), archive.f.tolist()))
    assert found[0] == found[1] == ([1.0, 2.0, 0.0, 3.0, 9.0], [1.0, 1.0, 2.0, 5.0, 9.0])


def test_candidates_are_ordered_by_the_model():
    model, candidates = filled()
    assert model.order().tolist() == np.argsort([bowl(e) for e in candidates]).tolist()
    fresh = Surrogate(Quadratic(), 2, 4)
    fresh.begin(candidates[:4], candidates[:4], lambda y: y)
    assert fresh.order().tolist() == [0, 1, 2, 3]


def test_how_many_candidates_are_wanted():
    first, later = Surrogate(Quadratic(), 5, 100), filled(5, 100)[0]
    assert first.wanted(0) == 5
    assert [later.wanted(k) for k in (0, 3, 5, 8, 12, 90)] == [3, 5, 8, 12, 18, 100]
    assert filled(2, 6)[0].wanted(0) == 1


def test_it_ranks_a_quadratic_well_and_noise_badly():
    good, _ = filled(number=12)
    assert good.enough(1)
    assert good.info == {"model_tau": pytest.approx(1.0), "model_evaluated": 1 / 6, "model_kind": 2.0}
    rng = np.random.default_rng(1)
    bad, _ = filled(5, 8, number=40, fun=lambda e: float(rng.normal()))
    assert not bad.enough(1)
    assert bad.info["model_tau"] < 0.85
    assert not Surrogate(Quadratic(), 2, 6).enough(1)


def test_values_are_those_of_the_model_shifted_to_the_best_true_one():
    model, candidates = filled()
    truth = np.array([bowl(e) for e in candidates])
    f, evaluated = np.full(6, np.nan), np.array([True, True, True, False, False, False])
    f[:2], f[2] = truth[:2] + 7, np.nan
    values = model.values(f, evaluated)
    assert np.isnan(values[2])
    expected = truth - truth.min() + f[:2].min()
    np.testing.assert_allclose(np.delete(values, 2), np.delete(expected, 2), rtol=1e-9)
    f[2] = np.inf
    assert model.values(f, evaluated)[2] == np.inf
    everything = np.arange(6.0)
    assert model.values(everything, np.ones(6, bool)).tolist() == everything.tolist()


def test_it_offers_its_minimum():
    model, _ = filled()
    np.testing.assert_allclose(model.offer(), 0.3, atol=1e-8)
    silent = Surrogate(Quadratic(offer=False), 2, 6)
    silent.unpack(model.pack())
    assert silent.offer() is None
    assert Surrogate(Quadratic(), 2, 6).offer() is None


def test_it_goes_on_from_its_arrays_to_the_same_bits():
    model, candidates = filled()
    other = Surrogate(Quadratic(), 2, 6)
    other.unpack({name: array.copy() for name, array in model.pack().items()})
    for each in (model, other):
        each.add(candidates[1], candidates[1], 2.0)
        each.enough(1)
    assert model.info == other.info
    assert model.offer().tolist() == other.offer().tolist()
    assert model.order().tolist() == other.order().tolist()


@pytest.mark.parametrize(
    "broken",
    [
        {"f": np.zeros(3)},
        {"f": np.zeros(9, int)},
        {"state": np.array([7, 0])},
        {"state": np.array([0, 99])},
        {"candidates": np.zeros((6, 3))},
        {"more": np.zeros(1)},
    ],
)
def test_arrays_of_another_kind_are_refused(broken):
    model, _ = filled()
    with pytest.raises(ValueError, match="the model"):
        Surrogate(Quadratic(), 2, 6).unpack(model.pack() | broken)


def test_models_by_name_and_by_settings():
    assert make_model(None) is None
    assert make_model("quadratic") == Quadratic()
    assert make_model(Quadratic(tau=0.5)) == Quadratic(tau=0.5)
    assert unpack_model(pack_model(Quadratic(weight=3))) == Quadratic(weight=3.0)
    with pytest.raises(ValueError, match=r"model 'cubic' is unknown; the names are 'quadratic'"):
        make_model("cubic")
    with pytest.raises(TypeError, match=r"model must be None, a name or thalweg\.Quadratic\(\.\.\.\), got 3"):
        make_model(3)
    with pytest.raises(ValueError, match="tau must be a number from -1 to 1, got 2"):
        Quadratic(tau=2)
    for strange in ({"name": "cubic"}, {"name": "quadratic"}, pack_model(Quadratic()) | {"more": 1}):
        with pytest.raises(ValueError, match="is no model"):
            unpack_model(strange)
