"""A search that starts from known points: the state, the result, restarts, checkpoints, models, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg
from thalweg import Integer, Known, Optimizer, Real, Space, minimize, resume
from thalweg.search.warm_start import warm_start

AXES = np.array([1.0, 3.0, 10.0])


def f(x):
    return float(np.sum(AXES * (x - 1) ** 2))


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(0).uniform(-4, 4, (60, 3))
    return X, np.array([f(x) for x in X])


def optimizer(**more):
    return Optimizer([2.0] * 3, 0.5, **{"method": "cma", "popsize": 6, "seed": 1, **more})


def advance(es, number):
    for _ in range(number):
        X = es.ask()
        es.tell(X, map(f, X))
    return es


def frame(es):
    latent = getattr(es.state, "latent", es.state)
    return latent.mean, latent.sigma * latent.root


@pytest.mark.parametrize(
    "method", ["cma", "gnn-cma", pytest.param("gnn-sep-cma", marks=pytest.mark.check), "sep-cma", "xnes", "lra-cma"]
)
def test_a_strategy_starts_with_the_moments_of_the_best(table, method):
    X, F = table
    es = optimizer(method=method, known=(X, F))
    start = warm_start(X[np.argsort(F)], 0.5, 0.1, 0.001)
    mean, root = frame(es)
    covariance = start.root @ start.root.T
    np.testing.assert_allclose(mean, start.mean, rtol=1e-12)
    np.testing.assert_allclose(es.mean, start.mean, rtol=1e-12)
    np.testing.assert_allclose(es.std, start.std, rtol=1e-12)
    np.testing.assert_allclose(
        np.diag(root**2) if root.ndim == 1 else root @ root.T,
        np.diag(np.diag(covariance)) if root.ndim == 1 else covariance,
        rtol=1e-9,
        atol=1e-12,
    )
    e, y, _ = es.run.strategy.ask(es.state)
    np.testing.assert_allclose(es.run.strategy.invert(es.state, y), e, atol=1e-9)  # the flow's frame has moved with it
    np.testing.assert_allclose(es.ask(), y, atol=1e-12)


@pytest.mark.parametrize("method", ["pges", pytest.param("joint-nes", marks=pytest.mark.check), "pycma"])
def test_other_methods_start_with_mean_and_size_at_least(table, method):
    if method == "pycma":
        pytest.importorskip("cma")
    es = optimizer(method=method, known=Known(*table, smoothing=0.1))
    start = warm_start(table[0][np.argsort(table[1])], 0.5, 0.1, 0.1)
    mean, std = (np.asarray(part) for part in es.run.strategy.spread(es.state))
    np.testing.assert_allclose(mean, start.mean, rtol=1e-6)
    assert np.exp(np.mean(np.log(std))) == pytest.approx(start.size, rel=0.5)
    assert advance(es, 2).nit == 2


def test_the_best_known_point_is_the_result_until_there_is_a_better_one(table):
    X, F = table
    es = optimizer(known=(X, F))
    assert es.result.fun == F.min()
    assert es.result.x.tolist() == X[np.argmin(F)].tolist()
    assert es.nfev == 0
    found = minimize(f, [2.0] * 3, 0.5, method="cma", known=(np.ones((1, 3)), [0.0]), seed=1)
    assert found.fun == 0
    assert found.success
    assert found.nfev > 0
    assert found.x.tolist() == [1, 1, 1]
    found = minimize(f, [2.0] * 3, 0.5, method="cma", known=(X, F), seed=1, ftarget=1e-9)
    assert found.success
    assert found.fun <= 1e-9


def test_values_of_a_similar_function_are_no_result(table):
    X, F = table
    es = optimizer(known=Known(X, F - 100, similar=True), model="quadratic", ftarget=-50)
    assert np.isinf(es.best.f)
    assert not es.stop()
    assert len(es.pending.surrogate.archive) == 0
    assert np.abs(es.mean - 2).max() > 0.1


def test_a_target_that_is_known_costs_nothing(table):
    found = minimize(f, [2.0] * 3, 0.5, method="cma", known=table, ftarget=1e9)
    assert found.nfev == 0
    assert found.success
    assert found.fun == table[1].min()


def test_only_ranks_matter_for_the_start(table):
    X, F = table
    assert optimizer(known=(X, F)).ask().tolist() == optimizer(known=(X[::-1], np.exp(F[::-1] / 9))).ask().tolist()


def test_a_model_starts_with_the_known_points(table):
    X, F = table
    es = optimizer(known=(X, F), model="quadratic")
    archive = es.pending.surrogate.archive
    assert archive.f.tolist() == np.sort(F)[: archive.capacity].tolist()
    one, two = (minimize(f, [2.0] * 3, 0.5, model="quadratic", known=known, seed=1, ftarget=1e-9) for known in (None, table))
    assert two.success
    assert two.nfev < 0.7 * one.nfev


@pytest.mark.parametrize("model", [None, "quadratic"])
@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
def test_a_saved_search_goes_on_to_the_same_bits(tmp_path, table, method, model):
    es = optimizer(known=table, method=method, model=model)
    for number in (0, 3):
        advance(es, number).save(tmp_path / "run.ckpt")
        again = Optimizer.load(tmp_path / "run.ckpt")
        assert again.best.f == es.best.f
        assert again.best.x.tolist() == es.best.x.tolist()
        assert advance(again, 3).mean.tolist() == advance(es, 3).mean.tolist()


def test_minimize_resumes_without_the_known_points(tmp_path, table):
    def run(path, budget):
        return minimize(f, [2.0] * 3, 0.5, method="cma", known=table, seed=1, max_evals=budget, checkpoint=path)

    whole = run(tmp_path / "a", 140)
    run(tmp_path / "b", 70)
    again = resume(tmp_path / "b", f, max_evals=140)
    assert (again.fun, again.nfev, again.x.tolist()) == (whole.fun, whole.nfev, whole.x.tolist())
    run(tmp_path / "c", 70)
    assert run(tmp_path / "c", 140).fun == whole.fun  # the same call again


def test_restarts_begin_as_without_known_points(table):
    es, plain = (optimizer(known=known, restarts=2, options={"tolfun": 1e-3}) for known in (table, None))
    for each in (es, plain):
        while each.campaign.runs == 0:
            advance(each, 1)
    assert es.run.start.x0.tolist() == plain.run.start.x0.tolist() == [2.0] * 3
    assert frame(es)[1].shape == (3, 3)
    assert es.best.f <= table[1].min()


def test_known_none_is_today(table):
    assert advance(optimizer(known=None), 5).mean.tolist() == advance(optimizer(), 5).mean.tolist()


def test_the_log_of_an_earlier_run(tmp_path):
    path = tmp_path / "run.jsonl"
    first = minimize(f, [2.0] * 3, 0.5, method="cma", seed=1, max_evals=70, log=path)
    rows = thalweg.read_log(path)
    by_name, by_rows = (optimizer(known=known).ask().tolist() for known in (str(path), rows))
    by_hand = optimizer(known=([row.x for row in rows], [row.f for row in rows])).ask().tolist()
    assert by_name == by_rows == by_hand
    assert optimizer(known=path).best.f == first.fun


def test_points_by_name_in_a_space():
    space = Space(rate=Real(1e-4, 1.0, log=True), width=Integer(1, 100))
    points = [{"rate": 10.0 ** -(1 + i % 3), "width": 20 + i} for i in range(12)]
    F = [abs(np.log10(p["rate"]) + 2) + abs(p["width"] - 25) for p in points]
    es = Optimizer(space, method="cma", seed=1, known=(points, F))
    assert es.result.point == points[int(np.argmin(F))]
    vectors = [[p["rate"], p["width"]] for p in points]
    assert es.ask().tolist() == Optimizer(space, method="cma", seed=1, known=(vectors, F)).ask().tolist()


def test_without_a_start_the_best_known_point_is_x0(table):
    X, F = table
    es = Optimizer(known=(X, F), method="cma", seed=1)
    assert es.first.tolist() == X[np.argmin(F)].tolist()
    narrow = Optimizer(known=(X, F), bounds=(-2, 2.5), method="cma", seed=1)
    assert np.all(np.abs(narrow.first - 0.25) <= 2.25)


def test_failures_and_points_outside_are_left_out(table, caplog):
    X, F = table
    more = np.concatenate([X, [[0.0, 0, 0], [9, 9, 9], [1, 1, 1]]]), [*F, np.nan, -1e9, None]
    one, two = (optimizer(known=known, bounds=(-5, 5)) for known in (more, table))
    assert one.ask().tolist() == two.ask().tolist()
    assert one.best.f == F.min()
    assert "1 of 63 known points lie outside" in caplog.text


@pytest.mark.parametrize(
    ("known", "error", "words"),
    [
        (3, TypeError, "known must be points and values"),
        ([[1, 2, 3]], TypeError, "known must be points and values"),
        (([[1, 2, 3]], None), TypeError, "known has points without values"),
        (([[1, 2, 3]], [1, 2]), ValueError, "known has 1 points and 2 values"),
        (([1, 2, 3], [1, 2, 3]), ValueError, "X of known must be points of shape"),
        (([[1, 2]], [1]), ValueError, "known has points of 2 coordinates, but the search has 3"),
        (([[1, 2, 3]], [np.nan]), ValueError, "known has no finite value"),
        (([["a", "b", "c"]], [1]), TypeError, "X of known must be an array"),
        (([{"a": 1}], [1]), TypeError, "X of known has mappings"),
        (([[1, 2, 3]], 7), TypeError, "F of known must be a sequence"),
        ("nowhere.jsonl", ValueError, "known names a log 'nowhere.jsonl'"),
    ],
)
def test_bad_input_is_one_sentence(known, error, words):
    with pytest.raises(error, match=words):
        optimizer(known=known)


@given(share=st.one_of(st.floats(max_value=0), st.floats(min_value=1.0, exclude_min=True), st.just(float("nan"))))
def test_a_share_outside_is_refused(share):
    with pytest.raises(ValueError, match="share must be"):
        Known([[1.0]], [1.0], share=share)


@given(value=st.sampled_from([0.0, -1.0, float("inf"), float("nan")]))
def test_a_smoothing_that_is_no_width_is_refused(value):
    with pytest.raises(ValueError, match="smoothing must be"):
        Known([[1.0]], [1.0], smoothing=value)


def test_similar_is_a_flag():
    with pytest.raises(TypeError, match="similar must be True or False"):
        Known([[1.0]], [1.0], similar=1)  # pyright: ignore[reportArgumentType]
