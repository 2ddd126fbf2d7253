"""A search with a model that is saved, killed and resumed goes on to the same bits."""

import shutil

import numpy as np
import pytest

from thalweg import Optimizer, Quadratic, minimize, resume
from thalweg.evaluate import Evaluator
from thalweg.storage.log import read_log

SETTINGS = {"method": "cma", "popsize": 6, "seed": 1, "model": "quadratic"}


def sphere(x):
    return float(x @ x)


def banana(x):
    return float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)


def optimizer(**more):
    return Optimizer([1.0, 2.0], **{**SETTINGS, **more})


def advance(es, number):
    """Ask and tell batches."""
    for _ in range(number):
        X = es.ask()
        es.tell(X, map(banana, X))
    return es


def picture(es):
    """All that must be equal for two searches to be at the same place."""
    return es.nfev, es.nit, es.failures, es.best.f, es.best.x.tolist(), es.mean.tolist(), es.std.tolist(), dict(es.info)


@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
@pytest.mark.parametrize("asked", [0, 1, 5])
def test_a_loaded_search_goes_on_to_the_same_bits(tmp_path, method, asked):
    """In the middle of a generation too: asked, and told in part."""
    es = Optimizer([1.0, 2.0], method=method, seed=3, popsize=6, model="quadratic")
    advance(es, 25)
    X = es.ask(asked) if asked else np.empty((0, 2))
    if asked > 1:
        es.tell(X[1:3], map(banana, X[1:3]))
        X = np.delete(X, [1, 2], axis=0)
    es.save(tmp_path / "run.ckpt")
    other = Optimizer.load(tmp_path / "run.ckpt")
    assert other.model == Quadratic()
    for each in (es, other):
        if len(X):
            each.tell(X, map(banana, X))
        advance(each, 25)
    assert picture(es) == picture(other)


@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
def test_every_moment_of_a_search_can_be_saved(tmp_path, method):
    es = optimizer(method=method, restarts=1, options={"tolfun": 1e-2})
    for i in range(30):
        es.save(tmp_path / "run.ckpt")
        es = Optimizer.load(tmp_path / "run.ckpt")
        if i == 7:
            es.inject([0.5, 0.5])
        X = es.ask()
        es.save(tmp_path / "run.ckpt")
        es = Optimizer.load(tmp_path / "run.ckpt")
        es.tell(X, map(banana, X))
    plain = optimizer(method=method, restarts=1, options={"tolfun": 1e-2})
    for i in range(30):
        if i == 7:
            plain.inject([0.5, 0.5])
        X = plain.ask()
        plain.tell(X, map(banana, X))
    assert picture(es) == picture(plain)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    minimize(sphere, [1.0, 2.0], **SETTINGS, max_evals=20, checkpoint=path)
    for model in (None, Quadratic(tau=0.5)):
        with pytest.raises(ValueError, match=r"belongs to another problem: its model is \{'name': 'quadratic'.*, here it is"):
            minimize(sphere, [1.0, 2.0], **{**SETTINGS, "model": model}, max_evals=40, checkpoint=path)


def test_damaged_arrays_of_the_model_are_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    advance(optimizer(), 5).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    for broken in (
        {"model.f": np.zeros(2)},
        {"model.f": np.full_like(arrays["model.f"], np.nan)},
        {"model.generation": np.zeros(1)},
        {"model.generation": np.array([1, 6, 1])},  # an optimum without a place
        {"model.generation": np.array([7, 0, 0])},
        {"model.numbers": np.zeros((2, 2))},
        {"model.z": np.zeros(1)},
    ):
        np.savez(tmp_path / "broken.npz", **(arrays | broken))
        with pytest.raises(ValueError, match="damaged"):
            Optimizer.load(tmp_path / "broken.npz")


def kill_at(number, evaluated, death=None):
    def fun(x):
        if len(evaluated) == number:
            death.strike()
        evaluated.append(x.tobytes())
        return banana(x)

    return fun


@pytest.mark.parametrize("number", [0, 3, 5, 6, 23, 40, 41, 42])
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
def test_a_killed_run_goes_on_from_the_log_to_the_same_bits(tmp_path, death, number, workers, method, monkeypatch):
    """In the middle of a batch of a generation, also while the model bends it; nothing is repeated, nothing lost."""
    monkeypatch.setattr(Evaluator, "capacity", workers)
    path, evaluated, settings = tmp_path / "run.ckpt", [], {**SETTINGS, "method": method}
    minimize(kill_at(number, evaluated, death), [1.0, 2.0], **settings, max_evals=60, checkpoint=path)
    death.restore()
    resumed = resume(path, kill_at(None, evaluated), trust=True)
    assert len(evaluated) == len(set(evaluated)) == 60
    straight, whole = [], tmp_path / "whole.ckpt"
    result = minimize(kill_at(None, straight), [1.0, 2.0], **settings, max_evals=60, checkpoint=whole)
    assert straight == evaluated
    assert (resumed.nfev, resumed.nit, resumed.info) == (result.nfev, result.nit, result.info)
    assert resumed.mean.tolist() == result.mean.tolist()
    rows, others = read_log(f"{path}.jsonl"), read_log(f"{whole}.jsonl")
    assert [row[:3] for row in rows] == [row[:3] for row in others]
    assert len({row[:3] for row in rows}) == 60


def test_an_old_checkpoint_and_a_longer_log_repeat_nothing(tmp_path):
    path, old, evaluated = tmp_path / "run.ckpt", tmp_path / "old.ckpt", []

    def copy(seen):
        if seen.nit == 3:
            shutil.copy(path, old)

    result = minimize(kill_at(None, evaluated), [1.0, 2.0], **SETTINGS, max_evals=50, checkpoint=path, callback=copy)
    shutil.copy(f"{path}.jsonl", f"{old}.jsonl")
    again = resume(old, kill_at(None, evaluated), trust=True)
    assert len(evaluated) == 50
    assert again.mean.tolist() == result.mean.tolist()


def test_an_interrupted_run_keeps_what_it_has_and_goes_on(tmp_path):
    path, evaluated = tmp_path / "run.ckpt", []

    def fun(x):
        if len(evaluated) == 3:
            raise KeyboardInterrupt
        evaluated.append(x.tobytes())
        return banana(x)

    result = minimize(fun, [1.0, 2.0], **SETTINGS, max_evals=40, checkpoint=path)
    assert result.nfev == 3
    assert "interrupt" in result.stop
    resumed = resume(path, kill_at(None, evaluated), trust=True)
    assert len(set(evaluated)) == len(evaluated) == 40
    assert resumed.mean.tolist() == minimize(banana, [1.0, 2.0], **SETTINGS, max_evals=40).mean.tolist()


@pytest.mark.parametrize("d", [3, 10])
def test_a_bent_model_in_the_middle_of_a_generation_is_that_of_the_saved_search(tmp_path, d):
    """The bow has moved since the archive was mapped: the fit that is made anew from the file has the same bits."""

    def chain(x):
        return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))

    es = Optimizer(np.zeros(d), method="gnn-cma", seed=3, model="quadratic")
    bent = 0
    while bent < 4:
        X = es.ask(1)
        bow = es.run.strategy.bow(es.run.packed)[1]
        if es.nfev > 12 * d and np.any(bow):
            bent += 1
            es.save(tmp_path / "run.ckpt")
            other = Optimizer.load(tmp_path / "run.ckpt")
            mine, theirs = es.pending.surrogate, other.pending.surrogate
            assert np.array_equal(other.run.strategy.bow(other.run.packed)[1], bow)
            for one, two in zip(mine._fit().data.e, theirs._fit().data.e, strict=True):
                assert np.array_equal(one, two)
            assert np.array_equal(mine._fit()(mine.candidates, mine.places), theirs._fit()(theirs.candidates, theirs.places))
        es.tell(X, map(chain, X))
