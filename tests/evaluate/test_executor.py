"""Executors, which cannot stop an evaluation that runs."""

import os
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from thalweg.evaluate import Evaluator

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
    with pytest.raises(RuntimeError, match="all 3 evaluations so far have failed"):
        Evaluator(np.sum, workers=executor)(POINTS)


def test_an_executor_whose_process_dies():
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        evaluate = Evaluator(lambda x: os._exit(3) if x[0] < 0 else 1.0, (), executor)
        assert np.array_equal(evaluate(POINTS), [1.0, 1.0, np.nan], equal_nan=True)
        assert np.isnan(evaluate(POINTS)).all()
    assert evaluate.first_failure is not None
    assert evaluate.first_failure.startswith("the executor is broken")


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
