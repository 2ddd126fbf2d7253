"""An objective that never returns a number is an error in the first generation; one that sometimes does not, costs points."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thalweg.search.minimize import minimize

FAST = {"method": "cma", "popsize": 6, "seed": 1, "max_evals": 18}


def sometimes(x):
    return None if x[0] > 1 else float(x @ x)


@contextlib.contextmanager
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


WORKERS = {
    "serial": lambda: contextlib.nullcontext(1),
    "map": lambda: contextlib.nullcontext(map),
    "threads": threads,
    "processes": lambda: contextlib.nullcontext(2),
}


@pytest.mark.parametrize("more", [{}, {"retries": 1}, {"asynchronous": True}, {"log": "run.jsonl"}], ids=str)
@pytest.mark.parametrize("workers", WORKERS)
def test_a_forgotten_return(workers, more, tmp_path, monkeypatch):
    if workers == "map" and "asynchronous" in more:
        pytest.skip("a map takes whole generations")
    monkeypatch.chdir(tmp_path)
    with (
        WORKERS[workers]() as pool,
        pytest.raises(TypeError, match=r"the objective returned None and no number at any of .* points: a `return` is missing"),
    ):
        minimize(lambda x: {}.get(float(x[0])), [1.0, 2.0], workers=pool, **more, **FAST)


@pytest.mark.parametrize("returned", [None, [None] * 6, np.full(6, None), ["a"] * 6])
def test_a_whole_generation_without_a_number(returned):
    with pytest.raises(TypeError, match=r"the objective returned .* and no number at any of the first 6 points"):
        minimize(lambda X: returned, [1.0, 2.0], vectorized=True, **FAST)


@pytest.mark.parametrize("returned", ["text", 1j, {}, np.ones(3), object()], ids=type)
def test_other_things_than_numbers(returned):
    with pytest.raises(TypeError, match=r"the objective returned .* and no number at any of the first 6 points: return one"):
        minimize(lambda x: returned, [1.0, 2.0], **FAST)


def test_some_points_without_a_number_cost_these():
    result = minimize(sometimes, [1.0, 2.0], **FAST)
    assert 0 < result.failures < result.nfev == 18
    assert np.isfinite(result.fun)


def test_no_number_later_on_is_no_error():
    calls = []

    def fun(x):
        calls.append(x)
        return float(x @ x) if len(calls) <= 6 else None

    assert minimize(fun, [1.0, 2.0], **FAST).failures == 12


def test_exceptions_and_no_numbers_together_are_the_error_of_exceptions():
    calls = []

    def fun(x):
        calls.append(x)
        if len(calls) == 4:
            raise KeyError("broken")

    with pytest.raises(RuntimeError, match="all 6 evaluations so far have failed"):
        minimize(fun, [1.0, 2.0], **FAST)


def test_nan_is_a_number():
    assert minimize(lambda x: np.nan, [1.0, 2.0], **FAST).failures == 0
