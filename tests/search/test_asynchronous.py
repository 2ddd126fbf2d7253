"""The asynchronous loop: workers that never wait, budgets to the point, and continuing to where a run was."""

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thalweg import minimize, resume
from thalweg.storage.log import read_log

SETTINGS = {"method": "cma", "popsize": 6, "seed": 1, "asynchronous": True}


def sphere(x):
    return float(x @ x)


def slow(x, scale=0.003):
    """The sphere, in a time that depends on where it is asked: log-normal, the same in each run."""
    time.sleep(scale * np.random.default_rng(abs(hash(x.tobytes())) % 2**32).lognormal())
    return sphere(x)


@pytest.mark.parametrize("workers", [1, 2])
def test_it_finds_the_minimum(workers):
    result = minimize(lambda x: float(x @ x), [1.0, 2.0], workers=workers, ftarget=1e-8, max_evals=3000, **SETTINGS)
    assert result.success
    assert result.nfev < 1000


def test_one_worker_is_never_late_and_gives_what_the_other_loop_gives():
    one, other = (minimize(sphere, [1.0, 2.0], **{**SETTINGS, "asynchronous": a}, max_evals=120) for a in (True, False))
    assert one.x.tolist() == other.x.tolist()
    assert (one.nfev, one.nit) == (other.nfev, other.nit) == (120, 20)


def test_the_budget_is_kept_to_the_point():
    with ThreadPoolExecutor(4) as pool:
        result = minimize(slow, [1.0, 2.0], workers=pool, max_evals=50, **SETTINGS)
    assert result.nfev == 50
    assert result.stop == {"max_evals": 50}


def test_no_worker_waits_for_another():
    """One evaluation goes on until thirty others have finished: whole generations would wait for it for ever."""
    enough, lock, done = threading.Event(), threading.Lock(), []

    def fun(x):
        with lock:
            done.append(x)
            first = len(done) == 1
        if first:
            assert enough.wait(60)
        elif len(done) > 30:
            enough.set()
        return sphere(x)

    with ThreadPoolExecutor(3) as pool:
        result = minimize(fun, [1.0, 2.0], workers=pool, max_evals=60, **SETTINGS)
    assert result.nfev == 60
    assert result.failures == 0


def test_a_run_that_was_killed_comes_to_where_it_was(tmp_path, caplog):
    """A checkpoint of the third generation and a log of the tenth: as after a kill, if checkpoints were rare."""
    path, old, evaluated = tmp_path / "run.ckpt", tmp_path / "old.ckpt", []

    def fun(x):
        evaluated.append(x.tobytes())
        return slow(x)

    def copy(seen):
        if seen.nit == 3:
            shutil.copy(path, old)
        if seen.nit == 10:
            shutil.copy(f"{path}.jsonl", f"{old}.jsonl")
            raise StopIteration

    with ThreadPoolExecutor(3) as pool:
        first = minimize(fun, [3.0, -2.0], workers=pool, checkpoint=path, callback=copy, **SETTINGS)
        rows = read_log(f"{old}.jsonl")
        evaluated.clear()
        starts = []
        second = resume(old, fun, workers=pool, asynchronous=True, max_evals=len(rows) + 10, callback=starts.append)
    assert first.nit == 10
    assert len(rows) >= 60
    assert not {row.x.tobytes() for row in rows} & set(evaluated)
    assert "was not asked for" not in caplog.text
    assert second.nfev == len(rows) + 10
    assert starts[0].nit > 10  # what the log holds was repeated in one go
    after = read_log(f"{old}.jsonl")
    assert len({(row.run, row.generation, row.index) for row in after}) == len(after) == second.nfev
    assert second.fun <= min(row.f for row in rows)


def test_a_finished_run_is_repeated_from_its_log_without_an_evaluation(tmp_path):
    path, old, evaluated = tmp_path / "run.ckpt", tmp_path / "old.ckpt", []

    def fun(x):
        evaluated.append(x)
        return sphere(x)

    def copy(seen):
        if seen.nit == 2:
            shutil.copy(path, old)

    first = minimize(fun, [1.0, 2.0], ftarget=1e-3, checkpoint=path, callback=copy, **SETTINGS)
    shutil.copy(f"{path}.jsonl", f"{old}.jsonl")
    evaluated.clear()
    second = resume(old, fun, asynchronous=True)
    assert not evaluated
    assert (second.x.tolist(), second.nfev, second.stop) == (first.x.tolist(), first.nfev, first.stop)


def test_a_value_of_an_ended_run_that_came_after_the_last_checkpoint_counts(tmp_path, monkeypatch):
    """The first evaluation ends only after a restart, with the best value; then the run is killed."""
    monkeypatch.setattr("thalweg.search.loop.CHECKPOINT_SHARE", np.inf)
    path, old = tmp_path / "run.ckpt", tmp_path / "old.ckpt"
    restarted, lock, evaluated = threading.Event(), threading.Lock(), []

    def fun(x):
        with lock:
            evaluated.append(x.tolist())
            first = len(evaluated) == 1
        if first:
            assert restarted.wait(60)
        return -100.0 if first else sphere(x)

    def kill(seen):
        if seen.restarts and not restarted.is_set():
            shutil.copy(path, old)
            restarted.set()
        if seen.fun == -100:
            shutil.copy(f"{path}.jsonl", f"{old}.jsonl")
            raise StopIteration

    with ThreadPoolExecutor(2) as pool:
        settings = {**SETTINGS, "workers": pool, "restarts": 1, "options": {"tolx": 0.3}}
        minimize(fun, [1.0, 2.0], checkpoint=path, callback=kill, **settings)
        known = [row.x.tolist() for row in read_log(f"{old}.jsonl")]
        evaluated[1:] = []
        second = resume(old, fun, workers=pool, asynchronous=True, max_evals=len(known) + 6, trust=True)
    assert second.fun == -100
    assert second.nfev == len(known) + 6
    assert not [x for x in evaluated[1:] if x in known]


def test_failures_rank_last_and_nothing_but_failures_is_an_error():
    def sometimes(x):
        return None if x[0] > 1.5 else sphere(x)

    result = minimize(sometimes, [1.0, 2.0], max_evals=60, **SETTINGS)
    assert 0 < result.failures < 60
    with pytest.raises(RuntimeError, match="evaluations so far have failed, the first one with ZeroDivisionError"):
        minimize(lambda x: 1 / 0, [1.0, 2.0], max_evals=60, **SETTINGS)


def test_ctrl_c_returns_the_best_so_far(tmp_path):
    def press(seen):
        if seen.nit == 4:
            raise KeyboardInterrupt

    result = minimize(sphere, [1.0, 2.0], checkpoint=tmp_path / "run.ckpt", callback=press, **SETTINGS)
    assert not result.success
    assert "interrupt" in result.stop
    assert resume(tmp_path / "run.ckpt", sphere, asynchronous=True, max_evals=48).nfev == 48


def test_restarts():
    def wavy(x):
        return float(20 + x @ x - 10 * np.cos(2 * np.pi * x).sum())

    with ThreadPoolExecutor(4) as pool:
        result = minimize(wavy, [3.0, 3.0], 0.5, workers=pool, restarts=4, max_evals=1500, **SETTINGS)
    assert result.restarts > 0
    assert result.nfev <= 1500


def test_who_takes_whole_generations_cannot():
    with pytest.raises(ValueError, match="asynchronous=True needs workers that take single points"):
        minimize(lambda X: np.sum(X**2, 1), [1.0, 2.0], vectorized=True, **SETTINGS)
