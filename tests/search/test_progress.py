"""The progress line."""

import io
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from thalweg.search.minimize import minimize
from thalweg.search.progress import Progress, clock, describe, time_left
from thalweg.search.stopping import Budget


class Terminal(io.StringIO):
    def isatty(self):
        return True


def result(nfev):
    return OptimizeResult(fun=1.0 / nfev, nfev=nfev, nit=nfev // 10, sigma=0.5)


def test_a_terminal_gets_one_line_rewritten():
    stream = Terminal()
    progress = Progress(enabled=True, budget=Budget(timeout=100.0), stream=stream)
    assert progress.due()
    progress.show(result(10), 10.0)
    assert not progress.due()
    progress.last -= 0.11
    assert progress.due()
    progress.show(result(30), 12.0)
    progress.show(result(40), 13.0, final=True)
    text = stream.getvalue()
    assert text.count("\r") == 3
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "1:27 left" in text


def test_elsewhere_plain_lines():
    stream = io.StringIO()
    progress = Progress(enabled=True, budget=Budget(max_iter=100), stream=stream)
    progress.show(result(10), 10.0)
    progress.last -= 9.0
    assert not progress.due()
    progress.show(result(500), 12.0, final=True)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert "\r" not in stream.getvalue()
    assert lines[1] == "f 2.000000e-03 | 500 evaluations | 41.7/s | sigma 5.0e-01 | 0:12 left"


def test_failures_are_told_where_there_are_any():
    seen = result(100)
    seen.failures = 0
    assert "failed" not in describe(seen, 1.0, Budget())
    seen.failures = 3
    assert describe(seen, 1.0, Budget()).endswith("sigma 5.0e-01 | 3 failed")


def test_a_model_shows_its_share():
    seen = OptimizeResult(fun=1.0, nfev=10, nit=2, sigma=0.5, failures=0, info={"model_evaluated": 0.25})
    assert describe(seen, 1.0, Budget()).endswith("sigma 5.0e-01 | 25% of a generation evaluated")


def test_the_first_limit_counts():
    assert time_left(result(100), 10.0, Budget()) is None
    assert time_left(result(100), 10.0, Budget(max_evals=300, max_iter=20, timeout=100.0)) == 10.0
    assert time_left(result(100), 10.0, Budget(max_evals=50)) == 0.0


def test_long_times_have_hours_and_days():
    assert [clock(seconds) for seconds in (0, 59.99, 3599, 3600, 86_399, 86_400)] == [
        "0:00",
        "0:59",
        "59:59",
        "1:00:00",
        "23:59:59",
        "1 d 0:00:00",
    ]


def test_minimize_shows_progress_on_stderr(capsys):
    minimize(lambda x: float(np.sum(x**2)), [1.0, 2.0], method="cma", seed=0, max_iter=3, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "18 evaluations" in err.splitlines()[-1]


class Always(Progress):
    """Notes what it is shown, after each evaluation and generation."""

    def __init__(self):
        super().__init__(enabled=True, budget=Budget())
        self.shown = []

    def due(self):
        return True

    def show(self, result, elapsed, *, final=False):
        self.shown.append((result.nfev, result.nit, result.failures, result.fun))


def half(x):
    if x[0] > 1:
        raise ValueError("no")
    return float(np.sum(x**2))


@pytest.mark.parametrize("engine", ["serial", "executor", "map", "asynchronous", "model", "log"])
def test_it_moves_with_each_evaluation(engine, tmp_path):
    values, shows = [], Always()

    def fun(x):
        values.append(np.nan)
        values[-1] = half(x)
        return values[-1]

    settings = {"seed": 0, "method": "cma", "max_evals": 17, "progress": shows}
    with ThreadPoolExecutor(1) as pool:
        further = {
            "serial": {},
            "executor": {"workers": pool},
            "map": {"workers": map},
            "asynchronous": {"workers": pool, "asynchronous": True},
            "model": {"model": "quadratic"},
            "log": {"log": tmp_path / "run.jsonl"},
        }[engine]
        result = minimize(fun, [1.0, 2.0], **settings, **further)
    assert len(values) == result.nfev == 17
    assert {nfev for nfev, *_ in shows.shown} - {0} == set(range(1, 18))
    for nfev, _, failures, best in shows.shown[engine == "asynchronous" :]:
        assert failures == np.sum(np.isnan(values[:nfev]))
        assert best == np.nanmin([np.inf, *values[:nfev]])
    assert [nit for _, nit, *_ in shows.shown] == sorted(nit for _, nit, *_ in shows.shown)


def test_a_vectorized_objective_is_not_taken_apart():
    shows = Always()
    minimize(lambda X: (X**2).sum(1), [1.0, 2.0], seed=0, method="cma", max_iter=2, vectorized=True, progress=shows)
    assert [nfev for nfev, *_ in shows.shown] == [6, 12, 12]


def test_what_is_evaluated_but_not_told_is_forgotten_after_an_interrupt():
    shows = Always()

    def fun(x):
        if len(shows.shown) == 9:
            raise KeyboardInterrupt
        return float(np.sum(x**2))

    result = minimize(fun, [1.0, 2.0], seed=0, method="cma", progress=shows)
    assert shows.shown[-1][0] == result.nfev == 8
