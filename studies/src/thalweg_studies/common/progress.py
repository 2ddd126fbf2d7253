"""Progress of the work: how much is finished, and an estimate of the time left."""

import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, NamedTuple

from thalweg_studies.common.study import Study, Unit


class Progress(NamedTuple):
    """The state of the work at one moment."""

    done: int
    """Finished units, those of earlier runs and those that failed included."""
    total: int
    """The number of all units."""
    share: float
    """The finished part by cost, from 0 to 1, with the known part of unfinished units."""
    seconds_left: float | None
    """The estimated time left; None before anything is finished."""


OnProgress = Callable[[Progress], object]
"""Called whenever a unit is finished, and every second if several processes work or units tell their progress."""


def silent(progress: Progress) -> None:
    """Ignore the progress, for calls without a display."""


class Meter(Generic[Unit]):
    """Counts finished units and reports the progress."""

    def __init__(self, study: Study[Unit, Any], units: Sequence[Unit], pending: Sequence[Unit], report: OnProgress) -> None:
        self._begun, self._report = study.begun, report
        self._cost = {unit: study.cost(unit) for unit in units}
        self._pending = dict.fromkeys(pending)
        self._lock = threading.Lock()
        self._before = self._remaining()
        self._start = time.monotonic()

    def pending(self, units: Sequence[Unit]) -> list[Unit]:
        """Return those of the units that are not finished."""
        return [unit for unit in units if unit in self._pending]

    def finish(self, unit: Unit) -> None:
        """Count a unit as finished."""
        with self._lock:
            self._pending.pop(unit, None)

    def report(self) -> None:
        """Report the progress at this moment."""
        with self._lock:
            left, everything = self._remaining(), sum(self._cost.values()) or 1.0
            finished, total = self._before - left, len(self._cost)
            seconds = None if left and not finished else (time.monotonic() - self._start) * left / (finished or 1.0)
            self._report(Progress(total - len(self._pending), total, 1 - left / everything, seconds))

    def _remaining(self) -> float:
        return sum(self._cost[unit] * (1 - (self._begun(unit) or 0.0)) for unit in self._pending)


@contextmanager
def every_second(do: Callable[[], None]) -> Generator[None]:
    """Call a function every second, in a thread, until the context ends."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(1.0):
            do()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
