"""Copies of a search: whatever is copied, and however, goes on to the same bits."""

import copy
import io
import pickle
import subprocess
import sys

import cloudpickle
import jax
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

import thalweg
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.latents.cmaes import CMAES


def pickled(es):
    return pickle.loads(pickle.dumps(es))


WAYS = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": pickled}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def rosenbrock(x):
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def make(x0=(0.0, 0.5), sigma0=0.7, **more):
    return Optimizer(x0, sigma0, **{"method": "cma", "popsize": 6, "seed": 4, **more})


def advance(es, generations, fun=rosenbrock):
    for _ in range(generations):
        X = es.ask()
        es.tell(X, [fun(x) for x in X])
    return es


def assert_same(one, other):
    assert np.array_equal(one.ask(), other.ask())
    assert (one.nfev, one.nit, one.failures, one.best.f) == (other.nfev, other.nit, other.failures, other.best.f)
    assert np.array_equal(one.best.x, other.best.x)
    assert one.result.message == other.result.message
    assert np.array_equal(one.history.fun, other.history.fun)


SETTINGS = {
    "cma": {"max_evals": 1000, "ftarget": -1.0, "options": {"tolx": 1e-9}},
    "gnn-cma": {"method": "gnn-cma"},
    "object": {"method": CMAES(active=False, popsize=6), "popsize": None, "bounds": [(-3, 3), (None, 4)]},
    "model": {"model": "quadratic", "method": "gnn-cma"},
    "integers": {"bounds": [(-3, 3), (-4, 4)], "integers": [1], "scale": [1, 0.5], "sigma0": None, "x0": (0.0, 1.0)},
}


@ways
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_copy_goes_on_to_the_same_bits(way, setting):
    es = advance(make(**SETTINGS[setting]), 4)
    es.inject([0.5, 1.0])
    X = es.ask(5)
    assert not es.stop()
    es.tell(X[:1], [rosenbrock(X[0])])
    other = way(es)
    for each in (es, other):
        each.tell(X[1:], [rosenbrock(x) for x in X[1:]])
    assert_same(advance(es, 4), advance(other, 4))


@ways
def test_a_whole_generation_that_is_out_comes_along(way):
    es = advance(make(), 2)
    X = es.ask()
    other = way(es)
    es.tell(X, [rosenbrock(x) for x in X])
    assert other.nit == 2
    other.tell(X, [rosenbrock(x) for x in X])
    assert_same(es, other)


@ways
def test_a_copy_leaves_the_original_alone(way):
    es, untouched = advance(make(), 3), advance(make(), 3)
    advance(way(es), 3)
    assert_same(es, untouched)


def drawn(rng):
    return rng.uniform(-2, 2, 2)


@ways
def test_restarts_with_points_of_ended_runs(way):
    es = make(drawn, restarts=3, options={"tolfun": 1.0})
    X = es.ask(7)
    while es.campaign.runs == 0:
        Y = es.ask(6)
        es.tell(Y, [0.0] * 6)
        es.ask(1)
    assert not es.stop()
    other = way(es)
    for each in (es, other):
        each.tell(X[:1], [-1.0])
    assert es.best.f == other.best.f == -1.0
    assert_same(advance(es, 3), advance(other, 3))


def on_the_circle(x):
    return x[0] ** 2 + x[1] ** 2 - 1


@ways
def test_constraints(way):
    es = make(constraints=NonlinearConstraint(on_the_circle, -np.inf, 0))

    def step(each):
        X = each.ask()
        each.tell(X, [rosenbrock(x) for x in X], [[on_the_circle(x)] for x in X])

    for _ in range(3):
        step(es)
    other = way(es)
    for each in (es, other):
        step(each)
    assert_same(es, other)


@ways
def test_a_space_and_a_callback_reason(way):
    space = thalweg.Space(rate=thalweg.Real(1e-3, 1.0, log=True), layers=thalweg.Integer(1, 8), gamma=thalweg.Fixed(0.5))
    es = advance(Optimizer(space, method="cma", popsize=6, seed=1), 2, fun=np.sum)
    es.halt("callback")
    other = way(es)
    assert other.stop() == es.stop() == {"callback": 2}
    assert other.result.point == es.result.point


def test_lambdas_need_cloudpickle():
    es = advance(make(lambda rng: rng.uniform(-1, 1, 2)), 1)
    assert_same(cloudpickle.loads(cloudpickle.dumps(es)), es)


def test_copies_share_what_the_user_has_given():
    es = make(drawn, method=CMAES(popsize=6), popsize=None)
    other = copy.copy(es)
    assert other.method is es.method
    assert other.x0 is es.x0
    assert other.run is not es.run


def test_pickles_are_read_in_double_precision_whatever_the_flag():
    es = advance(make(), 3)
    data = pickle.dumps(es)
    with jax.enable_x64(False):
        assert_same(pickle.loads(data), es)


def test_a_pickle_goes_on_in_another_process(tmp_path):
    es = advance(make(), 3)
    (tmp_path / "es.pickle").write_bytes(pickle.dumps(es))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).ask().tolist())"
    words = [sys.executable, "-c", code, str(tmp_path / "es.pickle")]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == str(es.ask().tolist())


def test_the_clock_goes_on():
    es = make(timeout=1e6)
    es.started -= 100.0
    for way in WAYS.values():
        assert 100.0 <= way(es).elapsed < 160.0


@pytest.mark.parametrize("method", ["pycma", "cmaes"])
def test_third_party_objects_copy_too(method):
    pytest.importorskip({"pycma": "cma"}.get(method, method))
    es = advance(make(method=method), 2)
    other = copy.deepcopy(es)
    assert_same(advance(es, 2), advance(other, 2))


def test_buffers_hold_checkpoints():
    es, buffer = advance(make(), 3), io.BytesIO()
    es.save(buffer)
    buffer.seek(0)
    assert_same(Optimizer.load(buffer), es)


def test_what_is_no_file_is_refused(tmp_path):
    es = make()
    with pytest.raises(TypeError, match="open for bytes"):
        es.save(io.StringIO())
    with pytest.raises(TypeError, match="open for bytes"):
        es.save(3)
    with pytest.raises(TypeError, match="open for bytes"):
        Optimizer.load(io.StringIO("text"))
    with pytest.raises(ValueError, match=r"seek\(0\)"):
        Optimizer.load(io.BytesIO())
    with pytest.raises(ValueError, match="checkpoint in BytesIO was not written by Thalweg"):
        Optimizer.load(io.BytesIO(b"something else"))


def test_repr_says_how_far_the_search_is():
    es = make()
    assert repr(es) == "<Optimizer cma, d = 2, 0 generations, 0 evaluations, no value yet>"
    X = es.ask()
    es.tell(X, np.arange(6) + 0.5)
    assert repr(es) == "<Optimizer cma, d = 2, 1 generation, 6 evaluations, best 0.5>"
    assert "CMAES(" in repr(make(method=CMAES()))
