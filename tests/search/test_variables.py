"""Variables as people have them: of very different sizes, without a start, in boxes that the search must not outgrow."""

import numpy as np
import pytest

from thalweg.search.minimize import minimize, resume
from thalweg.search.optimizer import Optimizer
from thalweg.storage.log import read_log

WIDTHS = np.array([1e-3, 1.0, 1e3])
BOUNDS = [(0.0, width) for width in WIDTHS]
CENTRE = np.array([0.37, 0.61, 0.23])


def decades(x):
    """A sphere in the units of the bounds: its Hessian in x has twelve decades."""
    return float(np.sum((np.asarray(x) / WIDTHS - CENTRE) ** 2))


def by_hand(u):
    return float(np.sum((np.asarray(u) - CENTRE) ** 2))


@pytest.mark.parametrize("method", ["cma", pytest.param("gnn-cma", marks=pytest.mark.check)])
def test_twelve_decades_cost_no_more_than_scaling_by_hand(method):
    settings = {"method": method, "ftarget": 1e-9, "max_evals": 5000}
    ours = [minimize(decades, bounds=BOUNDS, seed=seed, **settings) for seed in range(5)]
    theirs = [minimize(by_hand, bounds=[(0, 1)] * 3, seed=seed, **settings) for seed in range(5)]
    assert all(result.success for result in ours)
    assert sum(result.nfev for result in ours) <= 1.1 * sum(result.nfev for result in theirs)


@pytest.mark.parametrize("model", [None, "quadratic"])
def test_units_in_exact_proportions_give_the_same_search(model):
    """Every point is the same multiple, to the last bit, whatever the variables are measured in."""
    factors = np.array([2.0**-10, 1.0, 2.0**10])
    settings = {"method": "gnn-cma", "seed": 3, "max_iter": 25, "model": model}
    runs = []
    for scale in (np.ones(3), factors):
        seen = []

        def fun(x, scale=scale, seen=seen):
            seen.append(x)
            return by_hand(x / scale)

        result = minimize(fun, 0.4 * scale, 0.2 * scale, bounds=[(0.0, s) for s in scale], **settings)
        runs.append((np.array(seen) / scale, result.std / scale, result.mean / scale, result.x / scale))
    for plain, scaled in zip(*runs, strict=True):
        assert np.array_equal(plain, scaled)


def test_what_users_see_is_in_their_units():
    sigma0 = np.array([1e-3, 1.0, 1e3])
    es = Optimizer(sigma0, sigma0, method="cma", seed=1)
    np.testing.assert_allclose(es.std, sigma0)
    np.testing.assert_allclose(es.mean, sigma0)
    assert es.sigma == pytest.approx(1.0)
    X = np.concatenate([es.ask() for _ in range(60)])
    np.testing.assert_allclose(X.std(0), sigma0, rtol=0.2)
    es.tell(X := es.ask(), [by_hand(x / sigma0) for x in X])
    np.testing.assert_allclose(es.result.std, es.std)
    np.testing.assert_allclose(es.result.mean, es.mean)
    assert np.all((es.std / sigma0 > 0.3) & (es.std / sigma0 < 3))
    assert es.result.info["sigma"] == es.result.sigma == es.sigma


def test_stop_criteria_compare_with_the_unit_of_each_coordinate():
    """Steps of 1e-4 in the third coordinate are tiny: tolx is relative to its own sigma0."""
    result = minimize(lambda x: decades(x) * 1e9, bounds=BOUNDS, method="cma", seed=1, options={"tolx": 1e-6, "tolfun": 0.0})
    assert result.stop == {"tolx": 1e-6}
    assert np.all(result.std < 1e-6 * 0.3 * WIDTHS)
    assert np.max(result.std) > 1e-5


def test_without_a_start_it_is_the_middle():
    for bounds, expected in ((BOUNDS, WIDTHS / 2), ([(0, None), (None, None), (-4, 4)], [1.0, 0.0, 0.0])):
        es = Optimizer(bounds=bounds, method="cma", seed=1)
        assert es.first.tolist() == list(expected)


def test_restarts_begin_anywhere_in_the_box_with_the_same_units():
    es = Optimizer(bounds=BOUNDS, method="cma", seed=1, restarts=2, options={"tolx": 1.0})
    starts = []
    while not es.stop():
        X = es.ask()
        if len(starts) <= es.campaign.runs:
            starts.append(es.run.start.x0)
            np.testing.assert_allclose(es.std, 0.3 * WIDTHS)
        es.tell(X, [decades(x) for x in X])
    assert len(starts) == 3
    assert np.all((np.array(starts) > 0) & (np.array(starts) < WIDTHS))
    assert np.all(np.ptp(np.array(starts) / WIDTHS, axis=0) > 0.01)


@pytest.mark.parametrize("model", [None, pytest.param("quadratic", marks=pytest.mark.check)])
def test_a_resumed_run_is_the_uninterrupted_one(tmp_path, model):
    settings = {"bounds": BOUNDS, "seed": 2, "restarts": 1, "model": model, "options": {"tolfun": 1e-3}}
    whole = minimize(decades, **settings, max_evals=300)
    path = tmp_path / "run.ckpt"
    minimize(decades, **settings, max_evals=90, checkpoint=path)
    again = resume(path, decades, max_evals=300)
    assert again.nfev == whole.nfev
    assert again.x.tolist() == whole.x.tolist()
    assert again.std.tolist() == whole.std.tolist()
    assert np.all(np.array([row.x for row in read_log(f"{path}.jsonl")]) <= WIDTHS)
    with pytest.raises(
        ValueError, match=r"another problem: its sigma0 is \[0.0003, 0.3, 300.0\], here it is \[0.1, 1.0, 9.0\]"
    ):
        minimize(decades, WIDTHS / 2, [0.1, 1.0, 9.0], **settings, checkpoint=path)


@pytest.mark.parametrize("method", ["cma", "gnn-cma", "sep-cma"])
def test_the_spread_stays_within_the_box(method):
    """Flat values inside the box let a step-size wander; over mirrored images it would grow for ever."""
    rng = np.random.default_rng(0)
    es = Optimizer([0.5, 0.5], 0.9, bounds=[(0, 1), (0, 2)], method=method, seed=1, options={"tolflatfitness": 1e9})
    widest = 0.0
    for _ in range(40):
        es.tell(X := es.ask(), np.abs(X[:, 0] - 0.5) + 9 * rng.random(len(X)) - 20 * np.linalg.norm(X - es.mean, axis=1))
        assert np.all(es.std <= np.array([0.25, 0.5]) * (1 + 1e-12))
        widest = max(widest, float(np.max(es.std / [0.25, 0.5])))
    assert widest == pytest.approx(1.0)


def test_a_resumed_run_after_a_squeeze(tmp_path):
    settings = {"x0": [1.0, 1.0], "sigma0": 3.0, "bounds": (0, 1), "seed": 3}
    path = tmp_path / "run.npz"
    whole, part = Optimizer(**settings), Optimizer(**settings)
    for i in range(8):
        whole.tell(X := whole.ask(), (X**2).sum(1))
        assert np.all(whole.std <= 0.25 + 1e-12)
        if i < 3:
            part.tell(X := part.ask(), (X**2).sum(1))
    part.save(path)
    back = Optimizer.load(path)
    for _ in range(5):
        back.tell(X := back.ask(), (X**2).sum(1))
    assert np.array_equal(back.ask(), whole.ask())
    assert np.array_equal(back.std, whole.std)


def test_sigma0_wider_than_the_box_still_finds_the_minimum():
    for seed in range(4):
        fun = lambda x: float(np.sum((x / 1e-3 - 0.37) ** 2))  # noqa: E731
        result = minimize(fun, [5e-4, 5e-4], 1.0, bounds=(0, 1e-3), method="cma", seed=seed, ftarget=1e-9, max_evals=2000)
        assert result.success
