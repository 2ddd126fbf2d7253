"""A search with a model and many workers: batches, and points that nobody waits for."""

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from zlib import crc32

import numpy as np
import pytest

from thalweg import Optimizer, minimize, resume
from thalweg.storage.log import read_log

SETTINGS = {"method": "cma", "popsize": 6, "seed": 1, "model": "quadratic"}


def banana(x):
    return float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)


def test_a_batch_has_a_point_for_every_worker():
    together, lock, running = [], threading.Lock(), []

    def fun(x):
        with lock:
            running.append(1)
            together.append(len(running))
        time.sleep(0.01)
        with lock:
            running.pop()
        return banana(x)

    with ThreadPoolExecutor(4) as pool:
        result = minimize(fun, [1.0, 2.0], **SETTINGS, max_evals=40, workers=pool)
    assert result.nfev == 40
    assert together.count(4) >= 5


def test_a_vectorized_objective_gets_the_batch():
    sizes = []

    def fun(X):
        sizes.append(len(X))
        return [banana(x) for x in X]

    result = minimize(fun, [1.0, 2.0], **SETTINGS, max_evals=40, vectorized=True)
    assert result.nfev == sum(sizes) == 40
    assert sizes[0] == 5
    assert 1 in sizes
    assert result.x.tolist() == minimize(banana, [1.0, 2.0], **SETTINGS, max_evals=40).x.tolist()


def test_the_callback_sees_generations_and_the_end():
    seen = []
    result = minimize(
        banana, [1.0, 2.0], **SETTINGS, max_evals=40, callback=lambda r: seen.append((r.nit, r.info["model_tau"]))
    )
    assert [nit for nit, _ in seen] == [*range(1, result.nit + 1), result.nit]  # the budget ends within a generation


def slow(x, scale=0.002):
    """The banana, in a time that depends on where it is asked: log-normal, the same in each run."""
    time.sleep(scale * np.random.default_rng(crc32(x.tobytes())).lognormal())
    return banana(x)


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_the_asynchronous_loop_waits_for_nobody_and_keeps_the_budget(tmp_path, workers):
    path = tmp_path / "run.jsonl"
    with ThreadPoolExecutor(workers) as pool:
        result = minimize(slow, [1.0, 2.0], **SETTINGS, max_evals=60, workers=pool, asynchronous=True, log=path)
    rows = read_log(path)
    assert result.nfev == len(rows) == len({row[:3] for row in rows}) == 60
    assert result.fun == min(row.f for row in rows)
    assert result.fun < 0.2 * banana([1.0, 2.0])  # how far it comes depends on who ends first


def test_the_asynchronous_loop_comes_to_where_it_was(tmp_path, caplog):
    path, old, evaluated = tmp_path / "run.ckpt", tmp_path / "old.ckpt", []

    def fun(x):
        evaluated.append(x.tobytes())
        return slow(x)

    def copy(seen):
        if seen.nit == 3:
            shutil.copy(path, old)
        if seen.nit == 20:
            shutil.copy(f"{path}.jsonl", f"{old}.jsonl")
            raise StopIteration

    with ThreadPoolExecutor(8) as pool:
        minimize(fun, [1.0, 2.0], **SETTINGS, checkpoint=path, callback=copy, workers=pool, asynchronous=True)
    rows = read_log(f"{old}.jsonl")
    done = {row.x.tobytes() for row in rows}
    evaluated.clear()
    with ThreadPoolExecutor(8) as pool:
        result = resume(old, fun, max_evals=len(rows) + 30, workers=pool, asynchronous=True)
    assert not caplog.records
    assert not done & set(evaluated)
    assert result.nfev == len(rows) + 30
    assert len(evaluated) >= 30


def test_a_point_that_is_never_told_holds_nothing_up():
    es = Optimizer([1.0, 2.0], **SETTINGS)
    es.ask(2)
    for i in range(40):
        X = es.ask()
        es.tell(X, np.random.default_rng(i).normal(size=len(X)))  # noise: all values are needed
    assert es.nit >= 5
    assert len(es.open_points) == 2
