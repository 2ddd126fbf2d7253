"""Ask and tell over several runs: the same as minimize, also after a file; points and reasons pass through."""

import numpy as np
import pytest

from thalweg.search.minimize import minimize
from thalweg.search.optimizer import Optimizer


def rastrigin(x):
    return float(10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)))


SETTINGS = {"method": "cma", "popsize": 4, "seed": 6, "restarts": 3, "options": {"tolfun": 1e-6}}


def make(**more):
    return Optimizer([3.0, 3.0], 0.3, **{**SETTINGS, **more})


def advance(es, generations=10**6):
    while not es.stop() and generations:
        X = es.ask()
        es.tell(X, [rastrigin(x) for x in X])
        generations -= 1
    return es


def same(one, other):
    for name in ("fun", "nfev", "nit", "success", "status", "message", "stop", "seed", "failures", "popsize", "restarts"):
        assert one[name] == other[name], name
    for name in ("x", "mean", "std"):
        assert np.array_equal(one[name], other[name]), name


@pytest.mark.parametrize("bipop", [False, True])
def test_by_hand_is_minimize(bipop):
    es = advance(make(bipop=bipop))
    same(es.result, minimize(rastrigin, [3.0, 3.0], 0.3, bipop=bipop, **SETTINGS))
    assert es.result.restarts >= 3
    assert (es.nfev, es.nit) == (es.result.nfev, es.result.nit)
    assert es.best.f == es.result.fun == rastrigin(es.best.x)
    assert 0 < es.best.nfev <= es.nfev


@pytest.mark.parametrize("bipop", [False, True])
def test_saved_in_any_run_it_goes_on_to_the_same_bits(tmp_path, bipop):
    path, whole = tmp_path / "run.npz", make(bipop=bipop, bounds=(-5, 5))
    runs = set()
    while not whole.stop():
        advance(whole, 1)
        if whole.nit % 20 == 0:
            whole.save(path)
            again = Optimizer.load(path)
            same(again.result, whole.result)
            assert again.best[1:] == whole.best[1:]
            runs.add(again.campaign.runs)
            if whole.campaign.runs == 2:
                last = again
    assert {0, 2} <= runs
    same(advance(last).result, whole.result)


def test_the_end_of_a_run_is_no_end_of_all():
    es, ended = make(), []
    while not es.stop():
        advance(es, 1)
        if es.run.stop():
            ended.append((es.popsize, dict(es.stop()), es.result.stop))
    assert [popsize for popsize, _, _ in ended] == [4, 8, 16, 32]
    assert [bool(stop) for _, stop, _ in ended] == [False, False, False, True]
    assert all(reasons for _, _, reasons in ended)
    X = es.ask()  # stop only advises
    es.tell(X, [rastrigin(x) for x in X])
    assert es.popsize == 32


def test_points_that_wait_go_on_to_the_next_run():
    es = make()
    while not es.run.stop():
        advance(es, 1)
    es.inject([[0.0, 0.0]])
    X = es.ask()
    assert es.popsize == 8
    assert X[0].tolist() == [0.0, 0.0]
    es.tell(X, [rastrigin(x) for x in X])
    assert es.best.f == 0
    assert es.best.nfev == es.nfev - 7


def test_drawn_starts_must_be_given_again(tmp_path):
    path, x0 = tmp_path / "run.npz", lambda draw: draw.uniform(-1, 1, 2)
    es = Optimizer(x0, 0.3, **SETTINGS)
    es.save(path)
    with pytest.raises(ValueError, match="x0"):
        Optimizer.load(path)
    assert np.array_equal(Optimizer.load(path, x0=x0).ask(), es.ask())


def test_files_of_another_make(tmp_path):
    path = tmp_path / "run.npz"
    make(bipop=True).save(path)
    with pytest.raises(ValueError, match="its bipop is True, here it is False"):
        minimize(rastrigin, [3.0, 3.0], 0.3, checkpoint=path, **SETTINGS)
