"""Ctrl-C at any moment: a result, whatever was going on; the user's handlers and forked processes as they were."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from thalweg import minimize
from thalweg._common.interrupts import Guard, check, interruptible, undisturbed
from thalweg.storage import archive
from thalweg.storage.log.lines import LinesLog

GIVEN = {"method": "cma", "seed": 1, "popsize": 6, "max_evals": 24}


def press():
    signal.raise_signal(signal.SIGINT)


def sphere(x):
    return x @ x


@pytest.fixture(autouse=True)
def _handler_is_restored():
    before = signal.getsignal(signal.SIGINT)
    yield
    assert signal.getsignal(signal.SIGINT) is before
    assert Guard.present is None


def once(function):
    """Press Ctrl-C at the begin of the first call."""
    called = []

    def wrapped(*args, **kwargs):
        called.append(0)
        if len(called) == 1:
            press()
        return function(*args, **kwargs)

    return wrapped


@pytest.mark.parametrize(
    ("owner", "name"), [(archive, "write"), (LinesLog, "append"), (LinesLog, "close"), (LinesLog, "__init__")]
)
def test_while_files_are_written(tmp_path, monkeypatch, owner, name):
    path = tmp_path / "run.ckpt"
    whole = minimize(sphere, [1.0, 2.0], **GIVEN)
    monkeypatch.setattr(owner, name, once(getattr(owner, name)))
    result = minimize(sphere, [1.0, 2.0], checkpoint=path, **GIVEN)
    assert ("interrupt" in result.stop) == (name != "close")
    assert sorted(os.listdir(tmp_path)) == ["run.ckpt", "run.ckpt.jsonl"]
    monkeypatch.undo()
    again = minimize(sphere, [1.0, 2.0], checkpoint=path, **GIVEN)
    assert (again.fun, again.nfev) == (whole.fun, 24)
    assert np.array_equal(again.x, whole.x)


@pytest.mark.parametrize("catches", [False, True])
def test_while_the_best_point_is_evaluated_again(tmp_path, catches):
    def fun(x):
        try:
            press()
        except KeyboardInterrupt:
            if not catches:
                raise
        return 0.25

    path = tmp_path / "run.ckpt"
    whole = minimize(sphere, [1.0, 2.0], checkpoint=path, **GIVEN)
    before = path.read_bytes()
    with pytest.raises(KeyboardInterrupt):
        minimize(fun, [1.0, 2.0], checkpoint=path, **GIVEN)
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["run.ckpt", "run.ckpt.jsonl"]
    again = minimize(sphere, [1.0, 2.0], checkpoint=path, **GIVEN)
    assert (again.fun, again.nfev) == (whole.fun, 24)


@pytest.mark.parametrize("error", [KeyboardInterrupt, BaseException])
def test_an_objective_that_catches_it_has_the_run_ended_all_the_same(error):
    def fun(x):
        calls.append(x)
        try:
            if len(calls) == 3:
                press()
        except error:
            return 0.25
        return sphere(x)

    calls = []
    result = minimize(fun, [1.0, 2.0], **GIVEN)
    assert result.stop == {"interrupt": 0}
    assert (len(calls), result.nfev, result.fun) == (3, 3, 0.25)


def test_a_second_one_leaves_an_objective_that_goes_on():
    def fun(x):
        press_at.append(time.monotonic())
        try:
            press()
        except KeyboardInterrupt:
            time.sleep(0.6)
            press()
        return 1 / 0

    press_at = []
    assert minimize(fun, [1.0, 2.0], **GIVEN).stop == {"interrupt": 0}
    assert len(press_at) == 1


def test_a_run_inside_an_objective_ends_both():
    def inner(x):
        if len(outer_calls) == 2:
            press()
        return sphere(x)

    def outer(x):
        outer_calls.append(x)
        return minimize(inner, x, **GIVEN).fun

    outer_calls = []
    result = minimize(outer, [1.0, 2.0], **GIVEN)
    assert "interrupt" in result.stop
    assert len(outer_calls) == 2


def test_a_handler_of_the_user_stays():
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, _: seen.append(number))
    try:
        result = minimize(once(sphere), [1.0, 2.0], **GIVEN)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]
    assert result.stop == {"max_evals": 24}


@pytest.mark.parametrize("name", ["signal", "getsignal"])
def test_before_the_handler_is_there_nothing_stays(monkeypatch, name):
    monkeypatch.setattr(signal, name, once(getattr(signal, name)))
    with pytest.raises(KeyboardInterrupt):
        minimize(sphere, [1.0, 2.0], **GIVEN)
    monkeypatch.undo()
    assert minimize(once(sphere), [1.0, 2.0], **GIVEN).stop == {"interrupt": 0}


def test_sections():
    reached = []
    with Guard():
        press()
        with undisturbed(), interruptible():
            reached.append("held back")
        with pytest.raises(KeyboardInterrupt), interruptible():
            reached.append("never")
        with pytest.raises(KeyboardInterrupt):
            check()
        thread = threading.Thread(target=lambda: (check(), interruptible().__enter__(), reached.append("thread")))
        thread.start()
        thread.join()
    check()
    with interruptible():
        reached.append("after")
    assert reached == ["held back", "thread", "after"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_forked_process_is_interrupted_as_usual():
    def fun(x):
        child = os.fork()
        if child == 0:
            try:
                press()
            except KeyboardInterrupt:
                os._exit(7)
            os._exit(8)
        return float(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX warns of forks
        assert minimize(fun, [1.0, 2.0], **GIVEN | {"max_evals": 6}).fun == 7.0
