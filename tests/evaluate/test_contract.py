"""What every engine has to do alike: values in order, failures, retries, deaths, timeouts, interrupts."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from thalweg._common.outcome import Failure, Outcome
from thalweg.evaluate import ENGINES, Evaluator, Interrupted

FINE, RAISES, GARBAGE, DIES, HANGS, NOT_A_NUMBER = range(6)


def points(*rows: tuple[float, int, int]) -> np.ndarray:
    """Each with its value, what happens there, and how often until it ends well."""
    return np.array(rows, float)


def awkward(folder: Path):
    """An objective that does at a point what the point says; by value, as a test's module cannot be imported elsewhere."""
    fine, raises, garbage, dies, not_a_number = FINE, RAISES, GARBAGE, DIES, NOT_A_NUMBER

    def fun(x, factor=1.0):
        value, what, times = x.tolist()
        with (folder / str(value)).open("ab") as calls:
            calls.write(b".")
            if what == fine or calls.tell() > times:
                return factor * value
        x[:] = 99.0
        if what == raises:
            raise KeyError("broken here")
        if what == garbage:
            return "text"
        if what == not_a_number:
            return np.nan
        if what == dies:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
        return 0.0

    return fun


def calls(folder: Path) -> dict[float, int]:
    return {float(path.name): path.stat().st_size for path in folder.iterdir()}


def for_engines(*names: str):
    marked = [pytest.param(name, marks=pytest.mark.check) if name in CLUSTERS else name for name in names]
    return pytest.mark.parametrize("workers", marked, indirect=True)


CLUSTERS = ("ray", "dask")
"""Those that take seconds to start."""
APART = ("processes", "ray", "dask")
"""Those whose workers are processes that are replaced."""
FURTHER = tuple(name for name in ENGINES if name not in APART)
"""Those that the registry has gained."""
ALL = ("serial", "map", "threads", "pool", *APART, *FURTHER)


@for_engines(*ALL)
def test_values_failures_and_retries(workers, tmp_path):
    X = points((1, FINE, 0), (2, RAISES, 9), (3, GARBAGE, 9), (4, RAISES, 1), (5, NOT_A_NUMBER, 9), (6, FINE, 0))
    seen: dict[int, Outcome] = {}
    with Evaluator(awkward(tmp_path), (10.0,), workers, retries=2) as evaluate:
        known = {5: Outcome(-1.0)}
        found = evaluate(X, known=known, record=lambda i, outcome: seen.update({i: outcome}))
        assert np.array_equal(found, [10, np.nan, np.nan, 40, np.nan, -1], equal_nan=True)
        assert X[1].tolist() == [2, RAISES, 9]  # whatever the objective writes into its argument
        assert evaluate(points((7, FINE, 0))).tolist() == [70]
    assert calls(tmp_path) == {1: 1, 2: 3, 3: 3, 4: 2, 5: 1, 7: 1}
    assert {i: outcome.attempts for i, outcome in seen.items()} == {0: 1, 1: 3, 2: 3, 3: 2, 4: 1}
    assert seen[1].error == "the objective raised KeyError: 'broken here'"
    assert seen[2].error == "the objective returned 'text'"
    assert seen[4].error is None
    assert all(outcome.worker and 0 <= outcome.seconds < 1 for outcome in seen.values())
    assert evaluate.failures == 2


@for_engines("serial", "map", "processes", "threads", "pool", "dask", *FURTHER)
def test_all_failing_is_one_error_with_the_first_traceback(workers, tmp_path):
    with (
        Evaluator(awkward(tmp_path), (), workers) as evaluate,
        pytest.raises(RuntimeError, match="all 2 evaluations so far have failed, the first one with KeyError") as error,
    ):
        evaluate(points((1, RAISES, 9), (2, RAISES, 9)))
    cause = error.value.__cause__
    assert isinstance(cause, KeyError)
    here = cause.__traceback__ is not None and cause.__traceback__.tb_next is not None
    assert here or 'raise KeyError("broken here")' in cause.__notes__[0]


@for_engines(*APART)
def test_a_worker_that_dies_costs_its_point_alone(workers, tmp_path):
    seen: dict[int, Outcome] = {}
    with Evaluator(awkward(tmp_path), (), workers, retries=1) as evaluate:
        X = points((1, FINE, 0), (2, DIES, 1), (3, FINE, 0), (4, DIES, 9), (5, FINE, 0))
        found = evaluate(X, record=lambda i, outcome: seen.update({i: outcome}))
        assert np.array_equal(found, [1, 2, 3, np.nan, 5], equal_nan=True)
        assert evaluate(points((6, FINE, 0), (7, FINE, 0), (8, FINE, 0))).tolist() == [6, 7, 8]
    assert seen[3].error is not None
    assert seen[3].error.startswith("the worker that evaluated the objective died")
    assert calls(tmp_path) == {1: 1, 2: 2, 3: 1, 4: 2, 5: 1, 6: 1, 7: 1, 8: 1}


@for_engines(*APART)
def test_an_evaluation_that_takes_too_long(workers, tmp_path):
    """Two retries: Dask may have put the second point behind the fourth, on a worker that is then killed."""
    limit = 0.5 if workers == 2 else 1.0
    with Evaluator(awkward(tmp_path), (), workers, retries=2, eval_timeout=limit) as evaluate:
        started = time.monotonic()
        X = points((1, FINE, 0), (2, HANGS, 1), (3, FINE, 0), (4, HANGS, 9), (5, FINE, 0))
        assert np.array_equal(evaluate(X), [1, 2, 3, np.nan, 5], equal_nan=True)
        assert time.monotonic() - started < 50
    assert evaluate.first_failure == f"the evaluation took longer than eval_timeout = {limit:g} seconds"
    assert calls(tmp_path) == {1: 1, 2: 2, 3: 1, 4: 3, 5: 1}


@for_engines(*APART)
def test_ctrl_c_keeps_what_was_finished(workers, tmp_path):
    seen: dict[int, Outcome] = {}

    def press() -> None:
        while len(seen) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    with Evaluator(awkward(tmp_path), (), workers) as evaluate:
        thread = threading.Thread(target=press)
        thread.start()
        with pytest.raises(Interrupted) as interrupt:
            evaluate(points((1, FINE, 0), (2, HANGS, 9), (3, FINE, 0)), record=lambda i, outcome: seen.update({i: outcome}))
        thread.join()
        assert np.array_equal(interrupt.value.values, [1, np.nan, 3], equal_nan=True)


@for_engines("serial", "processes", "threads", "dask", *FURTHER)
def test_point_by_point(workers, tmp_path):
    with Evaluator(awkward(tmp_path), (), workers) as evaluate:
        assert evaluate.finished() == []
        for point_id in "abc":
            evaluate.start(point_id, points((ord(point_id), FINE, 0))[0])
        evaluate.start("d", points((0, GARBAGE, 9))[0])
        found: dict[str, Outcome] = {}
        while len(found) < 4:
            found.update(evaluate.finished(timeout=30.0))
        assert evaluate.capacity == (1 if workers == 1 else 2)
    assert {point_id: outcome.f for point_id, outcome in found.items() if point_id != "d"} == {"a": 97, "b": 98, "c": 99}
    assert isinstance(found["d"].value, Failure)
    assert evaluate.failures == 1
