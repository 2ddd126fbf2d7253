"""The panel: its rows before the first generation and after many, and the history of the best value."""

import io
import time

import pytest

pytest.importorskip("rich")

from rich.console import Console
from scipy.optimize import OptimizeResult

from thalweg.cli.live import Display, ValueHistory, sparkline
from thalweg.search.stopping import Budget


def result(nfev: int, **fields) -> OptimizeResult:
    common = {"fun": 1 / nfev, "nit": nfev // 10, "popsize": 10, "sigma": 0.5, "restarts": 0, "failures": 0}
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
    assert rows == {"best f": "waiting for the first generation", "workers": "2 processes", "time": "1:01 elapsed"}


def test_after_some_generations():
    display = make(Budget(max_evals=4000, ftarget=1e-9))
    display._began -= 10.0
    display.callback(result(990))
    display.callback(result(1000, failures=3, first_failure="no\n licence [bold]", restarts=2))
    rows = seen(display)
    assert rows["best f"] == "1.000000e-03"
    assert rows[""][:2] == "█▁"
    assert rows["evaluations"] == "1,000 of 4,000, 2/s"  # 980 were there before
    assert rows["generation"] == "100, 10 points, restart 2"
    assert rows["sigma"] == "5.00e-01"
    assert rows["failures"] == "3, the first: no licence [bold]"
    assert rows["time"] in ("0:10 elapsed, 0:29 left", "0:10 elapsed, 0:30 left")
    assert "until f is at most 1e-09" in str(display.panel().subtitle)


def test_it_ticks_between_generations():
    display = make(Budget(timeout=100.0))
    display.callback(result(10))
    display._began -= 5.0
    display._end -= 5.0
    assert seen(display)["time"] == "0:05 elapsed, 1:34 left"


def test_a_terminal_shows_it_and_it_goes_away():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    with Display("f", "this process", Budget(), console=console) as display:
        display.callback(result(10, fun=0.125))
        end = time.monotonic() + 10
        while "1.250000e-01" not in stream.getvalue() and time.monotonic() < end:
            time.sleep(0.05)
    assert "1.250000e-01" in stream.getvalue()
    assert stream.getvalue().rstrip().endswith("\x1b[2K")


def test_a_long_history_keeps_few_values():
    history = ValueHistory(capacity=100)
    for i in range(10_000):
        history.add(-i)
    assert len(history.values) <= 101
    assert history.values[0] == 0
    assert history.values[-1] == -9_999
    assert sorted(history.values, reverse=True) == history.values


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([float("inf"), 1.0], "▁"),
        ([100.0, 10.0, 1.0], "█▅▁"),
        ([2.0, 1.0, 0.0], "█▅▁"),
        ([5.0] * 100, "▁" * 40),
    ],
)
def test_sparkline(values, line):
    assert sparkline(values) == line
