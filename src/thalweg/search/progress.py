"""A line of progress: rewritten in place on a terminal, a new line every ten seconds elsewhere.

It moves with the evaluations, at most ten times a second.
"""

import shutil
import sys
import time
from typing import TYPE_CHECKING, TextIO

from thalweg.search.stopping import Budget

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


class Progress:
    """Shows the progress of a run on stderr, if enabled. It is asked after each evaluation whether to show the run again.

    >>> Progress(enabled=False, budget=Budget()).due()
    False
    """

    def __init__(self, *, enabled: bool, budget: Budget, stream: TextIO | None = None) -> None:
        self.enabled = enabled
        self.budget = budget
        self.stream = sys.stderr if stream is None else stream
        self.terminal = self.stream.isatty()
        self.period = 0.1 if self.terminal else 10.0
        self.last = -float("inf")
        self.shown = ""

    def due(self) -> bool:
        """Return whether it is enabled and has shown nothing in its last period."""
        return self.enabled and time.monotonic() - self.last >= self.period

    def show(self, result: "OptimizeResult", elapsed: float, *, final: bool = False) -> None:
        """Show a result, whether it is due or not."""
        self.last = time.monotonic()
        line = describe(result, elapsed, self.budget)
        if self.terminal:
            line = line[: max(20, shutil.get_terminal_size().columns - 1)]
            self.stream.write("\r" + line.ljust(len(self.shown)) + ("\n" if final else ""))
        else:
            self.stream.write(line + "\n")
        self.stream.flush()
        self.shown = line


def describe(result: "OptimizeResult", elapsed: float, budget: Budget) -> str:
    """Return the line: best value, evaluations, rate, step-size, failures if there are any, and the time left by the budget.

    >>> from scipy.optimize import OptimizeResult
    >>> describe(OptimizeResult(fun=0.25, nfev=500, nit=50, sigma=0.1), 2.0, Budget(max_evals=1000))
    'f 2.500000e-01 | 500 evaluations | 250/s | sigma 1.0e-01 | 0:02 left'
    """
    rate = pace(result.nfev, elapsed)
    parts = [f"f {result.fun:.6e}", f"{result.nfev} evaluation{'s' * (result.nfev != 1)}", rate, f"sigma {result.sigma:.1e}"]
    if not result.get("feasible", True):
        parts.append(f"violation {result.violation:.1e}")
    if result.get("failures"):
        parts.append(f"{result.failures} failed")
    if "model_evaluated" in (info := result.get("info", {})):
        parts.append(f"{info['model_evaluated']:.0%} of a generation evaluated")
    left = time_left(result, elapsed, budget)
    if left is not None:
        parts.append(f"{clock(left)} left")
    return " | ".join(parts)


def time_left(result: "OptimizeResult", elapsed: float, budget: Budget) -> float | None:
    """Return the seconds until the first limit is reached at the pace so far; None where there is no limit."""
    left: list[float] = []
    if budget.max_evals is not None and result.nfev:
        left.append(elapsed * (budget.max_evals / result.nfev - 1))
    if budget.max_iter is not None and result.nit:
        left.append(elapsed * (budget.max_iter / result.nit - 1))
    if budget.timeout is not None:
        left.append(budget.timeout - elapsed)
    return max(0.0, min(left)) if left else None


def pace(count: int, seconds: float) -> str:
    """Return a rate per second as text.

    >>> pace(12_345, 4.0), pace(7, 60.0)
    ('3,086/s', '0.117/s')
    """
    rate = count / seconds if seconds > 0 else 0.0
    return f"{rate:,.0f}/s" if rate >= 100 else f"{rate:.3g}/s"


def clock(seconds: float) -> str:
    """Return a duration as minutes and seconds, with hours and days where there are any.

    >>> clock(61.9), clock(7322), clock(200_000)
    ('1:01', '2:02:02', '2 d 7:33:20')
    """
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if not hours:
        return f"{minute}:{second:02d}"
    return (f"{days} d " if days else "") + f"{hour}:{minute:02d}:{second:02d}"
