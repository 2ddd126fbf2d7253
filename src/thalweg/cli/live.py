"""Progress on a terminal: a panel that shows a run and moves with the evaluations, and bars."""

import time
from collections.abc import Iterable
from math import isfinite, log10
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from thalweg.search import progress
from thalweg.search.progress import clock, pace, time_left
from thalweg.search.stopping import Budget

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 40
"""Width of the line that shows the history of the best value, in characters."""


class Display(progress.Progress):
    """A context manager that shows the panel and removes it at the end; pass it to `minimize` as `progress`.

    `elapsed` holds the seconds that a continued run had taken before.
    """

    def __init__(self, title: str, workers: str, budget: Budget, console: Console, elapsed: float = 0.0) -> None:
        super().__init__(enabled=True, budget=budget)
        self.period = 0.1
        self.title = title
        self.workers = workers
        self.elapsed = elapsed
        self.latest: OptimizeResult | None = None
        self._console = console
        self._began = time.monotonic()
        self._rate = ""
        self._end: float | None = None
        """The expected end of the run by the monotonic clock; None without a budget."""
        self._live = Live(console=self._console, get_renderable=self.panel, refresh_per_second=4, transient=True)

    def __enter__(self) -> "Display":
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, result: "OptimizeResult", elapsed: float, *, final: bool = False) -> None:
        """Take a result."""
        self.last = now = time.monotonic()
        left = time_left(result, elapsed, self.budget)
        self._rate = pace(result.nfev - result.nfev_before, now - self._began)
        self._end = None if left is None else now + left
        self.latest = result

    def panel(self) -> Panel:
        """Return the panel as it looks now."""
        now = time.monotonic()
        times = f"{clock(self.elapsed + now - self._began)} elapsed"
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="dim", min_width=len("evaluations"))
        rows.add_column()
        latest = self.latest
        if latest is None:
            rows.add_row("best f", "waiting for the first value")
        else:
            rows.add_row("best f", Text(f"{latest.fun:.6e}", style="bold"))
            if len(latest.history) > 1 and self._console.encoding.startswith("utf"):
                rows.add_row("", Text(sparkline(latest.history.fun, min(WIDTH, self._width - 20)), style="cyan"))
            limit = "" if self.budget.max_evals is None else f" of {self.budget.max_evals:,}"
            rows.add_row("evaluations", f"{latest.nfev:,}{limit}, {self._rate}")
            limit = "" if self.budget.max_iter is None else f" of {self.budget.max_iter:,}"
            again = f", restart {latest.restarts}" if latest.restarts else ""
            rows.add_row("generation", f"{latest.nit:,}{limit}, {latest.popsize} points{again}")
            rows.add_row("sigma", f"{latest.sigma:.2e}")
            if latest.failures:
                first = " ".join((latest.first_failure or "").split())
                failures = Text(f"{latest.failures:,}" + (f", the first: {first}" if first else ""), style="yellow")
                failures.no_wrap, failures.overflow = True, "ellipsis"
                rows.add_row("failures", failures)
            times += "" if self._end is None else f", {clock(max(0.0, self._end - now))} left"
        rows.add_row("workers", self.workers)
        rows.add_row("time", times)
        hint = None if self.budget.ftarget is None else f"until f is at most {self.budget.ftarget:g}"
        return Panel(
            rows, title=escape(self.title), title_align="left", subtitle=hint, subtitle_align="left", width=self._width
        )

    @property
    def _width(self) -> int:
        return min(self._console.width, 80)


def progress_bars() -> Progress:
    """Return bars on stderr that vanish when the work is done, and that show nothing in a pipe.

    The line of a task holds its description, a bar, its field `note`, and the time since its start.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(complete_style="cyan", finished_style="green"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def sparkline(values: Iterable[float], width: int = WIDTH) -> str:
    """Draw values as a line of blocks, high for high values; on a logarithmic scale if all are positive.

    >>> sparkline([1e4, 1e3, 1e2, 1e1, 1e0])
    '█▆▅▃▁'
    >>> sparkline([3.0, 3.0])
    '▁▁'
    """
    finite = [float(value) for value in values if isfinite(value)]
    if not finite:
        return ""
    columns = min(width, len(finite))
    shown = [finite[(i + 1) * len(finite) // columns - 1] for i in range(columns)]
    heights = [log10(value) for value in shown] if min(shown) > 0 else shown
    low, high = min(heights), max(heights)
    scale = (len(BLOCKS) - 1) / (high - low) if high > low else 0.0
    return "".join(BLOCKS[round((height - low) * scale)] for height in heights)
