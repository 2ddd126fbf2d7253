"""The stop criteria of many runs of one make side by side, a stretch of generations at a time.

The criteria are those of `stopping`; what is here is the memory of `StopTests` for all runs at once, in arrays (runs,
generations), since a call of Python for each generation of each run would take longer than the generation itself.
"""

from typing import Any, NamedTuple

import numpy as np

from thalweg.search.stopping import MEMORY, Seen, Tolerances, criteria, may_stagnate, remembered, stagnates, stagnation_time


class Stretch(NamedTuple):
    """What is recorded of some generations, each of shape (runs, generations)."""

    best: np.ndarray
    """The smallest value, failures as inf; so the others."""
    place: np.ndarray
    """Where in the generation it is."""
    median: np.ndarray
    high: np.ndarray
    """The value at `stopping.flat_place` in ascending order."""
    worst: np.ndarray
    largest: np.ndarray
    moved: np.ndarray
    still: np.ndarray
    condition: np.ndarray
    finite: np.ndarray


class Verdict(NamedTuple):
    """What came of it."""

    made: np.ndarray
    """How many of the generations belong to the run, (runs,)."""
    ended: np.ndarray
    """Whether it ended there, (runs,)."""
    best_f: np.ndarray
    """Best value so far after each generation, (runs, generations)."""
    best_nfev: np.ndarray
    """Evaluations it took to the best point, (runs, generations)."""
    reasons: dict[int, dict[str, float]]
    """Of the runs which ended by a criterion of theirs."""


class ManyStopTests:
    """`StopTests` for many runs at once. Stretches are whole fives of generations, and a run begins with one."""

    def __init__(self, d: int, popsize: int, tolerances: Tolerances, runs: int) -> None:
        self.d, self.popsize, self.tolerances = d, popsize, tolerances
        self.window = remembered(d, popsize)
        self.stagnation = stagnation_time(tolerances, d, popsize)
        self.sigma0 = np.ones(runs)
        self.nit = np.zeros(runs, int)
        self.recent = np.full((runs, self.window - 1), np.nan)
        """Best values of the last generations, newest last; NaN before the first."""
        self.flat, self.failed = np.zeros(runs, int), np.zeros(runs, int)
        self.best_f, self.best_nfev = np.full(runs, np.inf), np.zeros(runs, int)
        self.bests: list[list[float]] = [[] for _ in range(runs)]
        """Best value of every fifth generation, newest last."""
        self.medians: list[list[float]] = [[] for _ in range(runs)]

    def begin(self, places: np.ndarray, sigma0: np.ndarray) -> None:
        """Forget the runs at these places and begin others there."""
        self.sigma0[places], self.nit[places], self.recent[places] = sigma0, 0, np.nan
        self.flat[places], self.failed[places], self.best_f[places], self.best_nfev[places] = 0, 0, np.inf, 0
        for i in places.tolist():
            self.bests[i], self.medians[i] = [], []

    def take(self, places: np.ndarray) -> "ManyStopTests":
        """The runs at these places alone."""
        taken = ManyStopTests(self.d, self.popsize, self.tolerances, len(places))
        for name in ("sigma0", "nit", "recent", "flat", "failed", "best_f", "best_nfev"):
            setattr(taken, name, getattr(self, name)[places])
        taken.bests, taken.medians = ([list(history[i]) for i in places.tolist()] for history in (self.bests, self.medians))
        return taken

    def observe(self, now: Stretch, longest: np.ndarray, ftarget: np.ndarray) -> Verdict:
        """Take a stretch into account: a run ends by a criterion, in generation `longest` or at its target.

        Where `longest` is 0 there is no run, and what is said about it means nothing. A target of NaN is none.
        """
        generations = now.best.shape[1]
        nit = self.nit[:, None] + np.arange(1, generations + 1)
        best_f, best_nfev = self._bests(now, nit)
        known = np.concatenate([self.recent, now.best], 1)
        windows = np.lib.stride_tricks.sliding_window_view(known, self.window, axis=1)
        flat, failed = self._in_a_row(now)
        stagnant = self._stagnant(now, nit, nit * self.popsize - best_nfev, longest > 0)
        with np.errstate(invalid="ignore"):  # inf - inf is NaN, as it should be
            seen = Seen(
                recent=np.minimum(nit, self.window),
                range_now=now.worst - now.best,
                range_recent=np.fmax.reduce(windows, -1) - np.fmin.reduce(windows, -1),
                largest=now.largest,
                moved=now.moved,
                still=now.still,
                flat=flat,
                stagnates=stagnant,
                condition=now.condition,
                failed=failed,
            )
            tests = criteria(self.tolerances, self.sigma0[:, None], self.stagnation, seen)
        converged = np.logical_or.reduce([holds for _, holds, _ in tests]) | ~now.finite
        over = converged | (nit >= longest[:, None]) | (best_f <= ftarget[:, None])
        ended = over.any(1)
        made = np.where(ended, over.argmax(1) + 1, generations)
        reasons = {
            i: _reasons(tests, now.finite, nit, i, g)
            for i, g in zip(np.flatnonzero(ended).tolist(), (made[ended] - 1).tolist(), strict=True)
        }
        self._remember(now, known, flat, failed, best_f, best_nfev)
        return Verdict(made, ended, best_f, best_nfev, reasons)

    def _bests(self, now: Stretch, nit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        so_far = np.minimum.accumulate(np.concatenate([self.best_f[:, None], now.best], 1), 1)
        found = np.where(now.best < so_far[:, :-1], (nit - 1) * self.popsize + now.place + 1, 0)
        found = np.maximum.accumulate(np.concatenate([self.best_nfev[:, None], found], 1), 1)
        return so_far[:, 1:], found[:, 1:]

    def _in_a_row(self, now: Stretch) -> tuple[np.ndarray, np.ndarray]:
        """Generations in a row with flat values, and without a finite one."""
        equal, usable = now.best == now.high, np.isfinite(now.best)
        flat, failed = np.empty(now.best.shape, int), np.empty(now.best.shape, int)
        flat_now, failed_now = self.flat, self.failed
        for g in range(now.best.shape[1]):
            failed[:, g] = failed_now = np.where(usable[:, g], 0, failed_now + 1)
            flat[:, g] = flat_now = np.where(usable[:, g], np.where(equal[:, g], flat_now + 1, 0), flat_now)
        return flat, failed

    def _stagnant(self, now: Stretch, nit: np.ndarray, since_best: np.ndarray, going: np.ndarray) -> np.ndarray:
        possible = may_stagnate(self.d, self.popsize, self.stagnation, nit, since_best) & going[:, None]
        stagnant = np.zeros(nit.shape, bool)
        for i, g in zip(*(axis.tolist() for axis in np.nonzero(possible)), strict=True):
            bests, medians = (
                [*history[i], *new[i, 4 : g + 1 : 5].tolist()][-MEMORY:]
                for history, new in ((self.bests, now.best), (self.medians, now.median))
            )
            stagnant[i, g] = stagnates(self.stagnation, bests, medians)
        return stagnant

    def _remember(self, now: Stretch, known: np.ndarray, *rows: np.ndarray) -> None:
        self.nit += now.best.shape[1]
        self.recent = known[:, -(self.window - 1) :]
        self.flat, self.failed, self.best_f, self.best_nfev = (row[:, -1] for row in rows)
        for histories, new in ((self.bests, now.best), (self.medians, now.median)):
            for history, values in zip(histories, new[:, 4::5].tolist(), strict=True):
                history.extend(values)
                del history[:-MEMORY]


def _reasons(tests: list[tuple[str, Any, Any]], finite: np.ndarray, nit: np.ndarray, i: int, g: int) -> dict[str, float]:
    """The criteria that hold for run i in generation g, each with its threshold."""
    if not finite[i, g]:
        return {"nonfinite": int(nit[i, g])}
    return {name: value[i, g].item() if np.ndim(value) else value for name, holds, value in tests if holds[i, g]}
