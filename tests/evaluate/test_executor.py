"""Executors, which cannot stop an evaluation that runs."""

import os
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from thalweg import minimize
from thalweg.evaluate import Evaluator
from thalweg.storage.log import read_log

POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [-1.0, 5.0]])


def test_the_order_is_that_of_the_points():
    with (
        ThreadPoolExecutor(3) as executor,
        Evaluator(lambda x: time.sleep(0.05 * (x[0] == 0)) or x.sum(), (), executor) as evaluate,
    ):
        assert evaluate(POINTS).tolist() == [1.0, 5.0, 4.0]


def test_an_executor_that_was_shut_down():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="workers is an executor"):
        Evaluator(np.sum, workers=executor)(POINTS)


def test_an_executor_whose_process_dies():
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        evaluate = Evaluator(lambda x: os._exit(3) if x[0] < 0 else 1.0, (), executor)
        assert np.array_equal(evaluate(POINTS), [1.0, 1.0, np.nan], equal_nan=True)
        assert evaluate.first_failure is not None
        assert evaluate.first_failure.startswith("a worker of the executor died")
        with pytest.raises(RuntimeError, match="workers is an executor"):
            evaluate(POINTS)


def test_a_run_whose_executor_broke_continues_with_a_healthy_one(tmp_path):
    path = tmp_path / "run.ckpt"

    def fun(x):
        if 0.0 < x[0] < 0.5:
            os._exit(3)
        return float(x @ x)

    given = {"method": "cma", "seed": 1, "popsize": 6, "max_evals": 24, "checkpoint": path}
    failed = []
    for _ in range(24):  # each call loses the points that were out when the worker died, and no others
        with ProcessPoolExecutor(1, get_context("spawn")) as executor:
            try:
                result = minimize(fun, [1.0, 2.0], workers=executor, **given)
                break
            except RuntimeError as error:
                failed.append(str(error))
    assert failed
    assert all(text.startswith("workers is an executor that takes no more points") for text in failed)
    rows = read_log(f"{path}.jsonl")
    assert [row[1:3] for row in rows] == [divmod(i, 6) for i in range(24)]
    assert [row.error is not None for row in rows] == [0.0 < row.x[0] < 0.5 for row in rows]
    assert (result.nfev, result.failures) == (24, sum(row.error is not None for row in rows))


def test_stuck_threads_take_away_room_and_never_all_of_it():
    release, calls = threading.Event(), []

    def fun(x):
        calls.append(x[0])
        if x[0] < 0:
            release.wait(60)
        return x[0]

    with ThreadPoolExecutor(2) as executor, Evaluator(fun, (), executor, eval_timeout=0.25) as evaluate:
        found = evaluate(np.array([[-1.0], [1.0], [2.0], [3.0]]))
        assert np.array_equal(found, [np.nan, 1, 2, 3], equal_nan=True)
        assert evaluate.engine.room(9) == 1
        assert np.isnan(evaluate(np.array([[-2.0]]))).all()
        assert np.isnan(evaluate(np.array([[4.0], [5.0]]))).all()  # both are stuck
        release.set()
        while evaluate.engine.room(9) < 2 or evaluate.engine.stuck:
            time.sleep(0.01)
        assert evaluate(np.array([[6.0]])).tolist() == [6.0]
    assert calls == [-1, 1, 2, 3, -2, 6]


class Unknown(Executor):
    """Says nothing about its workers; it has none."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_executor_of_unknown_size():
    assert Evaluator(np.sum, (), Unknown())(POINTS).tolist() == [1.0, 5.0, 4.0]
