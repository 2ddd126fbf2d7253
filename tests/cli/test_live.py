"""The panel: its rows before the first value and after many, and its line of the best value."""

import io
import time

import numpy as np
import pytest

pytest.importorskip("rich")

from rich.console import Console
from scipy.optimize import OptimizeResult

import thalweg
from thalweg.cli.live import Display
from thalweg.search.history import History
from thalweg.search.stopping import Budget
from thalweg.space import SpaceMap


def result(nfev: int, **fields) -> OptimizeResult:
    history = History(SpaceMap(), 2)
    for n in range(10, nfev + 1, 10):
        history.add((0, n // 10, n, 0, 1 / n, 0.5, 1.0, 1.0), {}, np.zeros(2), np.ones(2))
    common = {"history": history, "nfev_before": 0} | {
        "fun": 1 / nfev,
        "nit": nfev // 10,
        "popsize": 10,
        "sigma": 0.5,
        "restarts": 0,
        "failures": 0,
    }
    return OptimizeResult(nfev=nfev, **{"first_failure": None} | common | fields)


def seen(display: Display) -> dict[str, str]:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(display.panel())
    lines = [line.removeprefix("│ ").rstrip("│ ") for line in console.export_text().splitlines()[1:-1]]
    return {line[:11].strip(): line[13:] for line in lines}


def make(budget: Budget, **arguments) -> Display:
    return Display("f, cma, d = 2", "2 processes", budget, console=Console(file=io.StringIO(), width=90), **arguments)


def test_before_the_first_generation():
    rows = seen(make(Budget(max_evals=100), elapsed=61.0))
    assert rows == {"best f": "waiting for the first value", "workers": "2 processes", "time": "1:01 elapsed"}


def test_after_some_generations():
    display = make(Budget(max_evals=4000, ftarget=1e-9))
    display._began -= 10.0
    display.show(result(1000, nfev_before=980, failures=3, first_failure="no\n licence [bold]", restarts=2), 10.0)
    rows = seen(display)
    assert rows["best f"] == "1.000000e-03"
    assert rows[""][0] + rows[""][-1] == "█▁"
    assert rows["evaluations"] == "1,000 of 4,000, 2/s"  # 980 were there before
    assert rows["generation"] == "100, 10 points, restart 2"
    assert rows["sigma"] == "5.00e-01"
    assert rows["failures"] == "3, the first: no licence [bold]"
    assert rows["time"] in ("0:10 elapsed, 0:29 left", "0:10 elapsed, 0:30 left")
    assert "until f is at most 1e-09" in str(display.panel().subtitle)


def test_it_ticks_between_generations():
    display = make(Budget(timeout=100.0))
    display.show(result(10), 0.0)
    display._began -= 5.0
    display._end -= 5.0
    assert seen(display)["time"] == "0:05 elapsed, 1:34 left"


def test_it_moves_within_a_generation():
    display, counts = make(Budget(max_evals=5)), []

    def slow(x):
        counts.append(seen(display).get("evaluations", "none").split(",")[0])
        time.sleep(0.1)
        return float(x @ x)

    thalweg.minimize(slow, [1.0, 2.0], method="cma", seed=1, popsize=5, max_evals=5, progress=display)
    assert counts == ["none", *(f"{n} of 5" for n in range(1, 5))]


def test_a_terminal_shows_it_and_it_goes_away():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    with Display("f", "this process", Budget(), console=console) as display:
        display.show(result(10, fun=0.125), 0.0)
        end = time.monotonic() + 10
        while "1.250000e-01" not in stream.getvalue() and time.monotonic() < end:
            time.sleep(0.05)
    assert "1.250000e-01" in stream.getvalue()
    assert stream.getvalue().rstrip().endswith("\x1b[2K")
