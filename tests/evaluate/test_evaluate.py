"""Ways to evaluate: processes that raise, die or hang, executors, maps."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thalweg.evaluate import Evaluator

POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [-1.0, 5.0]])
MODULE = """
import os, time
def total(x, factor=1.0):
    return factor * float(x.sum())
def fragile(x):
    if x[0] < 0:
        os._exit(3)
    return float(x.sum())
def sleepy(x):
    time.sleep(60 if x[0] < 0 else 0)
    return float(x.sum())
def raising(x):
    if x[0] < 0:
        raise Odd(1, 2)
    return float(x.sum())
class Odd(Exception):
    def __init__(self, a, b):  # does not survive pickling
        super().__init__("odd")
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that worker processes can import."""
    (tmp_path / "thalweg_test_objectives.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import thalweg_test_objectives

    return thalweg_test_objectives


def test_processes(module):
    with Evaluator(module.total, (2.0,), workers=2) as evaluate:
        assert evaluate(POINTS).tolist() == [2.0, 10.0, 8.0]
        assert evaluate(POINTS[:1]).tolist() == [2.0]


def test_minus_one_is_all_processors(module, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert Evaluator(module.total, workers=-1).backend.number == 3  # type: ignore[attr-defined]


def test_a_process_that_dies_costs_its_own_point_only(module):
    with Evaluator(module.fragile, workers=2) as evaluate:
        assert np.array_equal(evaluate(POINTS), [1.0, 5.0, np.nan], equal_nan=True)
        assert evaluate(POINTS[:2]).tolist() == [1.0, 5.0]
    assert evaluate.failures == 1
    assert evaluate.first_failure == "the process that evaluated the objective died"


def test_a_process_that_hangs_is_given_up(module):
    started = time.monotonic()
    with Evaluator(module.sleepy, workers=2) as evaluate:
        assert np.array_equal(evaluate(POINTS, timeout=4.0), [1.0, 5.0, np.nan], equal_nan=True)
    assert time.monotonic() - started < 20


def test_processes_that_cannot_start():
    def local(x):
        return 0.0

    local.__qualname__, local.__module__ = "nowhere_to_be_found", "json"  # pickled by a name that the other side lacks
    with pytest.raises(ValueError, match="cannot be pickled"):
        Evaluator(local, workers=2)


def test_an_exception_that_cannot_be_pickled_crosses_a_map(module):
    from multiprocessing import get_context

    with get_context("spawn").Pool(1) as pool, Evaluator(module.raising, workers=pool.map) as evaluate:
        assert np.array_equal(evaluate(POINTS), [1.0, 5.0, np.nan], equal_nan=True)
    assert evaluate.first_failure == "the objective raised Odd: odd"


def test_executor_keeps_the_order():
    def slow_first(x):
        time.sleep(0.05 if x[0] == 0 else 0)
        return x.sum()

    with ThreadPoolExecutor(3) as executor, Evaluator(slow_first, workers=executor) as evaluate:
        assert evaluate(POINTS).tolist() == [1.0, 5.0, 4.0]


def test_executor_that_was_shut_down():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="all 3 evaluations so far have failed"):
        Evaluator(np.sum, workers=executor)(POINTS)


def test_map():
    with Evaluator(lambda x, k: k / x[0], (6.0,), workers=map) as evaluate, np.errstate(divide="ignore"):
        assert evaluate(POINTS).tolist() == [np.inf, 3.0, -6.0]
    with pytest.raises(ValueError, match="one value per point, as map does: got 2 for 3 points"):
        Evaluator(np.sum, workers=lambda fun, points: [1.0, 2.0])(POINTS)


@pytest.mark.parametrize("vectorized", [False, True])
def test_failures_are_counted_and_the_first_is_told(vectorized):
    returns = iter([1.0, 2.0, None, None, "x", 5.0] if not vectorized else [[1.0, 2.0, None], None])
    evaluate = Evaluator(lambda x: next(returns), vectorized=vectorized)
    evaluate(POINTS)
    assert evaluate.failures == 1
    evaluate(POINTS)
    assert evaluate.failures == (3 if not vectorized else 4)
    assert evaluate.first_failure == "the objective returned None"
