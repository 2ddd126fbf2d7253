"""A search with a model: which points are asked, what is told, and that nothing is lost on the way."""

from math import sqrt

import numpy as np
import pytest

from thalweg import GNNES, METHODS, Optimizer, Quadratic, minimize

SETTINGS = {"method": "cma", "popsize": 6, "seed": 1, "model": "quadratic"}


def sphere(x):
    return float(x @ x)


def banana(x):
    return float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)


def optimizer(**more):
    return Optimizer([1.0, 2.0], **{**SETTINGS, **more})


def advance(es, number=1, fun=banana, until=None):
    """Ask and tell batches, or go on until a generation is complete."""
    for _ in range(number if until is None else 10_000):
        if until is not None and es.nit >= until:
            return es
        X = es.ask()
        es.tell(X, [fun(x) for x in X])
    return es


def picture(es):
    """All that must be equal for two searches to be at the same place."""
    return es.nfev, es.nit, es.failures, es.best.f, es.best.x.tolist(), es.mean.tolist(), es.std.tolist(), dict(es.info)


# ---- what it is for


@pytest.mark.parametrize("seed", range(3))
def test_a_rotated_ellipsoid_takes_few_evaluations(seed):
    rng = np.random.default_rng(seed)
    Q, shift, axes = np.linalg.qr(rng.normal(size=(5, 5)))[0], rng.uniform(-1, 1, 5), 10 ** (6 * np.arange(5) / 4)
    ask = {"method": "cma", "model": "quadratic", "seed": seed, "ftarget": 1e-8, "max_evals": 200}
    result = minimize(lambda x: float(axes @ (Q @ (x - shift)) ** 2), np.zeros(5), **ask)
    assert result.success
    assert result.nfev <= 45
    assert result.info["model_separable"] == result.info["model_ranks"] == 0
    assert result.info["model_tau"] > 0.8
    assert result.info["model_evaluated"] == 1 / 8


@pytest.mark.parametrize("method", [name for name in METHODS if not name.startswith("joint")])
def test_every_method_with_a_frame_takes_a_model(method):
    result = minimize(sphere, [0.4, 0.3], 0.5, method=method, model="quadratic", seed=2, ftarget=1e-6, max_evals=400)
    assert result.success
    assert result.nfev < 100


@pytest.mark.parametrize("method", [name for name in METHODS if name.startswith("joint")])
def test_joint_methods_take_a_model_too(method):
    result = minimize(sphere, [0.4, 0.3], 0.5, method=method, model="quadratic", seed=2, max_evals=20)
    assert result.nfev == 20
    assert result.fun < 0.1


def test_a_strategy_that_cannot_place_points_is_refused():
    class NoPlace:
        traceable = True
        init = ask = tell = population = invert = log_prob = spread = lambda self, *_: 4

    with pytest.raises(ValueError, match=r"model needs a method that maps its standard draws to points"):
        Optimizer([1.0, 2.0], method=NoPlace(), model="quadratic")


def test_wrong_models_are_named():
    with pytest.raises(ValueError, match="model 'cubic' is unknown"):
        optimizer(model="cubic")
    with pytest.raises(TypeError, match="model must be None, a name"):
        minimize(sphere, [1.0], model=7)


def test_settings_may_be_given():
    always = minimize(banana, [1.0, 2.0], **{**SETTINGS, "model": Quadratic(tau=1.0)}, max_evals=90)
    rarely = minimize(banana, [1.0, 2.0], **{**SETTINGS, "model": Quadratic(tau=-1.0)}, max_evals=90)
    assert always.nit < rarely.nit


# ---- ask


def test_batches_begin_with_what_the_first_test_needs_and_grow_by_half():
    es = Optimizer(np.zeros(2), method="cma", popsize=20, seed=1, model="quadratic")
    rng, sizes = np.random.default_rng(0), []
    while es.nit == 0:
        X = es.ask()
        sizes.append(len(X))
        es.tell(X, rng.normal(size=len(X)))  # noise cannot be ranked
    assert sizes == [5, 3, 4, 6, 2]  # 5, 8, 12, 18, 20 in all
    assert es.nfev == 20
    assert es.info["model_evaluated"] == 1
    assert len(es.ask()) == 1


def test_all_values_known_give_the_generation_of_a_search_without_a_model():
    """As long as the model never ranks well the first generation is told as it is."""
    values = np.random.default_rng(0).normal(size=6)
    es, plain = optimizer(), optimizer(model=None)
    candidates = [point.x for point in sorted(es.ask_points(6), key=lambda point: point.index)]
    X = plain.ask()
    assert np.array_equal(candidates, X)
    for each in (es, plain):
        each.tell(X, values)
    assert es.nit == plain.nit == 1
    assert es.mean.tolist() == plain.mean.tolist()
    assert es.std.tolist() == plain.std.tolist()


def test_candidates_come_in_the_order_of_the_model():
    es = advance(optimizer(), until=10, fun=sphere)
    X = es.ask(6)
    assert sorted(map(sphere, X)) == pytest.approx([sphere(x) for x in X])


def test_any_number_can_be_asked_and_what_goes_beyond_the_candidates_teaches_the_model():
    es, again = advance(optimizer(), until=3), advance(optimizer(), until=3)
    points = es.ask_points(9)
    assert sorted(point.index for point in points) == list(range(9))
    assert np.array_equal([point.x for point in points], again.ask(9))
    known, nit = len(es.pending.surrogate.archive), es.nit
    further = [point.x for point in points if point.index >= 6]
    es.tell(further, map(banana, further))
    assert len(es.pending.surrogate.archive) == min(known + 3, es.pending.surrogate.capacity)
    assert es.nit == nit
    with pytest.raises(ValueError, match="number must be at least 1"):
        es.ask(0)


def test_asking_again_gives_other_points():
    es = optimizer()
    X = np.concatenate([es.ask(), es.ask(), es.ask(), es.ask()])
    assert len(np.unique(X, axis=0)) == len(X)
    es.tell(X, map(banana, X))
    assert es.nfev == len(X)
    assert es.nit == 1


def test_no_more_points_than_the_budget_leaves():
    es = optimizer(max_evals=7)
    asked = []
    while not es.stop():
        X = es.ask()
        asked.append(len(X))
        es.tell(X, np.random.default_rng(len(asked)).normal(size=len(X)))
    assert es.nfev == 7
    assert es.stop() == {"max_evals": 7}


# ---- tell


def test_order_and_portions_of_a_batch_do_not_matter():
    one, other = optimizer(), optimizer()
    for _ in range(40):
        X = one.ask()
        assert np.array_equal(other.ask(), X)
        one.tell(X, map(banana, X))
        for x in X[::-1]:
            other.tell(x[None], [banana(x)])
        assert picture(one) == picture(other)


def test_a_late_value_counts_and_enters_the_model_but_not_the_generation():
    es = advance(optimizer(), until=12, fun=sphere)
    X = es.ask(4)
    nit = es.nit
    es.tell(X[:1], [sphere(X[0])])
    assert es.nit == nit + 1  # it does not wait for the other three
    mean, known, nfev = es.mean.tolist(), es.pending.surrogate.archive.y.copy(), es.nfev
    es.tell(X[1:2], [-3.0])
    assert (es.nfev, es.best.f, es.mean.tolist()) == (nfev + 1, -3.0, mean)
    es.ask()
    assert np.array_equal(es.pending.surrogate.archive.y[0], X[1])
    assert len(es.pending.surrogate.archive) <= len(known) + 1
    with pytest.raises(ValueError, match="is not a point that ask has returned"):
        es.tell(X[1:2], [0.0])


def test_a_late_value_does_the_same_before_and_after_the_next_generation_begins():
    found = []
    for early in (True, False):
        es = advance(optimizer(), until=12, fun=sphere)
        X = es.ask(4)
        while es.nit == 12:
            es.tell(X[:1], [sphere(X[0])])
            X = X[1:]
        if not early:
            Y = es.ask()
        es.tell(X[:1], [sphere(X[0])])
        if early:
            Y = es.ask()
        es.tell(Y, map(sphere, Y))
        found.append(picture(advance(es, until=20, fun=sphere)))
    assert found[0] == found[1]


@pytest.mark.parametrize("failure", [None, np.nan, np.inf, "text"])
def test_failures_count_and_never_enter_the_model(failure):
    es = optimizer()
    failed = 0
    for i in range(60):
        X = es.ask()
        F = [failure if (i + j) % 3 == 0 else banana(x) for j, x in enumerate(X)]
        failed += sum(f is failure for f in F)
        es.tell(X, F)
    assert np.all(np.isfinite(es.pending.surrogate.archive.f))
    assert es.failures == (failed if failure in (None, "text") else 0)
    assert np.all(np.isfinite(es.mean))
    assert es.best.f < 1


def test_a_generation_of_failures_alone_is_told_as_such():
    es = optimizer()
    while es.nit == 0:
        X = es.ask()
        es.tell(X, [None] * len(X))
    assert (es.nfev, es.failures) == (6, 6)
    assert len(es.pending.surrogate.archive) == 0
    assert advance(es, until=60, fun=sphere).best.f < 1e-3


def test_candidates_that_failed_rank_last(monkeypatch):
    es = advance(optimizer(), until=10, fun=sphere)
    told = []
    monkeypatch.setattr(es.run, "learn", lambda drawn, f, rows: told.append(f))
    X = es.ask(2)
    es.tell(X, [None, sphere(X[1])])
    assert np.isnan(told[0]).sum() == 1
    assert np.isfinite(told[0]).sum() == 5


# ---- bounds, injected points, restarts


def test_bounds_hold_and_the_model_works_in_the_search_space():
    seen = []

    def fun(x):
        seen.append(x.copy())
        return sphere(x - np.array([1.0, 0.5]))

    result = minimize(fun, [2.0, 2.0], 0.5, bounds=[(1.0, 3.0), (0.0, 3.0)], **SETTINGS, ftarget=1e-8, max_evals=400)
    assert result.success
    assert np.all(np.array(seen) >= [1.0, 0.0])
    assert np.all(np.array(seen) <= 3.0)


def test_injected_points_come_first_and_are_always_evaluated():
    es = advance(optimizer(), until=10, fun=sphere)
    given = es.best.x + np.array([[0.01, 0.0], [0.0, 0.01], [0.02, 0.0]])
    es.inject(given)
    X = es.ask()
    assert np.array_equal(X, given)
    assert len(es.injected) == 0
    es.tell(X[:1], [sphere(X[0])])
    assert es.nit == 10  # waits for the other two
    es.tell(X[1:], map(sphere, X[1:]))
    assert len(es.pending.told) == 3 or es.nit == 11


def test_the_model_learns_a_far_injected_point_where_it_was_evaluated():
    es = optimizer(sigma0=0.1)
    far = np.array([50.0, -20.0])
    es.inject(far)
    es.tell(es.ask(1), [7.0])
    surrogate = es.pending.surrogate
    assert surrogate.archive.y[0].tolist() == far.tolist()
    np.testing.assert_allclose(surrogate.archive.e[0], [490.0, -220.0])
    assert np.linalg.norm(surrogate.candidates[0]) < 4  # its place in the generation is nearer


def test_a_generation_of_injected_points_alone_has_no_place_for_the_optimum():
    es = advance(optimizer(), until=10, fun=sphere)
    es.ask()
    assert es.pending.offered
    advance(es, until=11, fun=sphere)
    given = es.best.x + 0.01 * np.random.default_rng(1).normal(size=(6, 2))
    es.inject(given)
    X = es.ask()
    assert np.array_equal(X, given)
    assert not es.pending.offered
    es.tell(X, map(sphere, X))
    assert es.nit == 12


def test_the_optimum_of_the_model_has_the_first_place_of_the_next_generation():
    es = advance(optimizer(), until=6, fun=lambda x: sphere(x - 0.2))
    es.ask()
    assert np.linalg.norm(es.pending.candidates[0].x - 0.2) < 1e-6
    np.testing.assert_allclose(es.run.steps.invert(es.run.packed, es.pending.candidates[0].y), es.pending.candidates[0].e)


def test_an_optimum_that_is_far_away_gives_its_direction():
    es = Optimizer(np.zeros(2), 1e-3, method="cma", model=Quadratic(targets="values"), seed=1)
    advance(es, until=4, fun=lambda x: sphere(x - 100))
    es.ask()
    point, offer = es.pending.candidates[0], es.pending.surrogate.offer()
    assert es.pending.offered
    towards = es.pending.to_standard(offer[0][None])[0] if offer[1] else offer[0]
    assert np.linalg.norm(towards) > sqrt(2)
    np.testing.assert_allclose(point.e / np.linalg.norm(point.e), towards / np.linalg.norm(towards), rtol=1e-6)
    assert np.linalg.norm(point.e) < 5


def test_each_run_has_a_model_of_its_own():
    es = optimizer(restarts=1, options={"tolfun": 1e-3, "tolx": 1e-3})
    first, late = es.pending.surrogate, es.ask(1)
    while not es.campaign.runs:
        X = es.ask()
        if not es.campaign.runs:
            es.tell(X, map(sphere, X))
    assert es.pending.surrogate is not first
    assert es.pending.surrogate.popsize == 12
    assert len(es.pending.surrogate.archive) == 0
    nfev = es.nfev
    es.tell(late, [-5.0])
    assert (es.nfev, es.best.f) == (nfev + 1, -5.0)
    assert len(es.pending.surrogate.archive) == 0
    es.tell(X, map(sphere, X))
    assert len(es.pending.surrogate.archive) == len(X)


def test_without_a_model_there_is_none():
    es = Optimizer([1.0, 2.0], method=GNNES(), seed=1)
    X = es.ask()
    es.tell(X, map(banana, X))
    assert not any(name.startswith("model") for name in es.info)
    with pytest.raises(ValueError, match="with a model no generation can be abandoned"):
        optimizer().abandon(X, [1.0] * len(X))
