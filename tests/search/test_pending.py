"""Points told in portions, in any order and late: what counts, what teaches, and that nothing depends on who is quicker."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.search import pending
from thalweg.search.optimizer import Optimizer


def make(**more):
    return Optimizer((1.0, -2.0), 1.0, **{"method": "cma", "popsize": 6, "seed": 3, **more})


def sphere(X):
    return np.sum(np.asarray(X) ** 2, 1)


def generation(es):
    X = es.ask()
    es.tell(X, sphere(X))


@settings(max_examples=20)
@given(st.permutations(range(6)), st.lists(st.integers(1, 5), max_size=4, unique=True))
def test_a_generation_in_portions_is_a_generation(order, cuts):
    whole, portions = make(), make()
    for _ in range(2):
        X = whole.ask()
        whole.tell(X, sphere(X))
        Y = portions.ask()
        assert np.array_equal(X, Y)
        for part in np.split(np.array(order), sorted(cuts)):
            portions.tell(Y[part], sphere(Y[part]))
    assert np.array_equal(whole.ask(), portions.ask())
    assert whole.nit == portions.nit == 2
    assert whole.best.f == portions.best.f
    assert whole.nfev == portions.nfev == 12


@pytest.mark.parametrize("method", ["gnn-cma", "xnes", "pycma", "cmaes"])
def test_portions_for_other_methods(method):
    whole, portions = make(method=method), make(method=method)
    for _ in range(2):
        generation(whole)
        X = portions.ask()
        portions.tell(X[4:], sphere(X[4:]))
        portions.tell(X[:4], sphere(X[:4]))
    assert np.array_equal(whole.ask(), portions.ask())


def test_points_by_the_piece_are_those_of_the_generation():
    whole, pieces = make(), make()
    X = whole.ask()
    Y = np.concatenate([pieces.ask(2), pieces.ask(1), pieces.ask(3)])
    assert np.array_equal(X, Y)
    more = pieces.ask(8)  # more than a generation has
    assert len({x.tobytes() for x in np.concatenate([Y, more])}) == 14
    assert [point.place for point in pieces.open_points] == [(0, i) for i in range(14)]
    with pytest.raises(ValueError, match="number must be at least 1, got 0"):
        pieces.ask(0)


def test_every_popsize_values_move_the_search_on():
    es = make()
    X = es.ask(14)
    es.tell(X[:5], sphere(X[:5]))
    assert (es.nit, es.nfev) == (0, 5)
    es.tell(X[5:], sphere(X[5:]))
    assert (es.nit, es.nfev) == (2, 14)
    assert es.best.f == sphere(X).min()
    assert len(es.pending.told) == 2


@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
def test_the_draw_of_a_late_point_is_between_then_and_now(method):
    es = make(method=method)
    for _ in range(3):
        generation(es)
    early = es.ask(3)
    points = es.open_points
    others = es.ask(6)
    es.tell(others, sphere(others))
    assert es.nit == 4
    now, density = es.run.steps.locate(es.state, np.tile(early, (2, 1)))
    assert not np.allclose(now[:3], [point.e for point in points])
    expected = [0.7 * point.e + 0.3 * e for point, e in zip(points, now[:3], strict=True)]
    np.testing.assert_allclose(es.pending.draws(es.state, points, es.nit), expected, rtol=1e-12)
    # the density is that of the distribution that has drawn them, and has changed since
    squares = [np.sum(point.e**2) for point in points]
    differences = np.diff([point.log_density for point in points])
    np.testing.assert_allclose(differences, -np.diff(squares) / 2, atol=1e-9)
    assert not np.allclose(density[:3], [point.log_density for point in points])
    es.tell(early, sphere(early))
    assert es.nfev == 27


def test_what_has_faded_counts_but_teaches_nothing(monkeypatch):
    es = make()
    late = es.ask(5)
    for _ in range(3):
        X = es.ask(6)
        es.tell(X, sphere(X))
    monkeypatch.setattr(pending, "FADED", -100.0)  # whatever is late
    es.tell(late, [-1.0, 2.0, None, 4.0, 5.0])
    assert (es.best.f, es.best.x.tolist(), es.nfev, es.failures) == (-1.0, late[0].tolist(), 23, 1)
    X = es.ask(5)
    es.tell(X, sphere(X))
    assert es.nit == 3
    assert len(es.pending.told) == 5  # the late ones are gone, and six are needed
    X = es.ask(1)
    es.tell(X, sphere(X))
    assert es.nit == 4


def test_far_behind_is_faded():
    es = make()
    late = es.ask(6)
    for _ in range(60):
        X = es.ask(6)
        es.tell(X, sphere(X))
    assert es.sigma < 1e-3
    before = es.nit
    es.tell(late, sphere(late))
    assert es.nit == before
    assert es.nfev == 61 * 6


def test_what_is_no_open_point():
    es = make()
    X = es.ask(6)
    es.tell(X[:2], sphere(X[:2]))
    for wrong in (X[:1], X[2:3] + 10.0, X[[3, 3]]):
        with pytest.raises(ValueError, match="not a point that ask has returned"):
            es.tell(wrong, np.zeros(len(wrong)))
    with pytest.raises(ValueError, match=r"F must hold one value for each of the 4 points of X, got 3"):
        es.tell(X[2:], [1.0, 2.0, 3.0])
    assert es.nfev == 2
    es.tell(X[2:], sphere(X[2:]))
    assert es.nit == 1


def test_points_that_nobody_tells_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(pending, "MOST", 20)
    es = make()
    first = es.ask(10)
    for _ in range(3):
        es.ask(10)
    assert len(es.open_points) == 20
    with pytest.raises(ValueError, match="not a point that ask has returned"):
        es.tell(first[:1], [1.0])


def test_late_points_of_an_ended_run_count():
    es = Optimizer((3.0, 3.0), 0.5, method="cma", restarts=3, seed=1, max_evals=400, options={"tolfun": 1e2})
    late = es.ask(2)
    while not es.campaign.runs:
        X = es.ask(3)
        es.tell(X, sphere(X))
    before, X = es.nfev, es.ask(1)
    with pytest.raises(ValueError, match="not a point that ask has returned"):
        es.tell(np.concatenate([late, X + 1]), [-9.0, -9.0, 1.0])  # nothing of it counts, and nothing is lost
    assert es.nfev == before
    es.tell(np.concatenate([late[:1], X, late[1:]]), [-5.0, 1.0, None])
    assert es.nfev == before + 3
    assert es.result.fun == -5.0
    assert es.result.x.tolist() == late[0].tolist()
    assert es.result.failures == 1
    assert not es.late.open
    with pytest.raises(ValueError, match="tell each point once"):
        es.tell(late[:1], [1.0])


def test_a_checkpoint_holds_pending_points(tmp_path):
    es = Optimizer((1.0, -2.0), 1.0, method="cma", popsize=6, seed=3)
    late = es.ask(3)
    for _ in range(2):
        X = es.ask(7)
        es.tell(X, sphere(X))
    es.save(tmp_path / "run.ckpt")
    again = Optimizer.load(tmp_path / "run.ckpt")
    assert [[point.place for point in each.open_points] for each in (es, again)] == [[(0, 0), (0, 1), (0, 2)]] * 2
    for each in (es, again):
        each.tell(late, sphere(late))
    assert np.array_equal(es.ask(6), again.ask(6))
    assert (es.nit, es.nfev) == (again.nit, again.nfev)


def asynchronous(es, fun, workers, rng, target):
    """The evaluations that it takes when as many workers are always busy, each for a log-normal time."""
    due = []
    while es.best.f > target and es.nfev < 20_000:
        while len(due) < workers:
            due.append((rng.lognormal() + (due[0][0] if due else 0.0), es.ask(1)))
        due.sort(key=lambda each: each[0])
        _, X = due.pop(0)
        es.tell(X, fun(X))
    return es.nfev


def test_late_points_cost_little():
    """Eight workers at N = 10; docs/parallel.md has the measurement with its spread."""
    ratios = []
    for seed in range(6):
        settings = {"method": "cma", "seed": seed, "max_evals": 20_000}
        one, other = (Optimizer(np.full(5, 2.0), 1.0, popsize=10, **settings) for _ in range(2))
        while one.best.f > 1e-8:
            generation(one)
        ratios.append(asynchronous(other, sphere, 8, np.random.default_rng(seed), 1e-8) / one.nfev)
    assert np.mean(ratios) < 1.15
