"""The stop criteria of many runs of one strategy side by side, a chunk of generations at a time.

The criteria are those of `search.stopping`; what is here is the memory of `StopTests` for all runs at once, in arrays (runs,
generations), since a call of Python for each generation of each run would take longer than the generation itself.
"""

from typing import Any, NamedTuple

import numpy as np

from thalweg.search.stopping import Observed, Tolerance, Tolerances
from thalweg.search.stopping.resolution import early_level, early_values, no_longer_fall, settled_limit
from thalweg.search.stopping.stagnation import may_stagnate, stagnates, stagnation_time
from thalweg.search.stopping.stop_tests import MEMORY, recent_generations
from thalweg.search.stopping.trouble import LARGEST


class ChunkSummary(NamedTuple):
    """The input of the tests for a chunk of generations; each field has shape (runs, generations)."""

    best: np.ndarray
    """Smallest value of the generation; failures count as inf, here and below."""
    place: np.ndarray
    """Index of that value in the generation."""
    median: np.ndarray
    high: np.ndarray
    """Value of rank `flat_rank` in ascending order."""
    worst: np.ndarray
    largest: np.ndarray
    step: np.ndarray
    still: np.ndarray
    condition: np.ndarray
    finite: np.ndarray


class Verdict(NamedTuple):
    """The outcome of a chunk."""

    made: np.ndarray
    """Number of generations that belong to the run, (runs,)."""
    ended: np.ndarray
    """True where the run ended with the last of them, (runs,)."""
    best_f: np.ndarray
    """Best value so far after each generation, (runs, generations)."""
    best_nfev: np.ndarray
    """Evaluations until the best point was found, (runs, generations)."""
    reasons: dict[int, dict[str, float]]
    """Criteria by which runs ended, with their thresholds, by the index of the run."""


class ManyStopTests:
    """`StopTests` for many runs at once. Chunks are multiples of five generations, and a run begins with one."""

    def __init__(self, d: int, popsize: int, tolerances: Tolerances, runs: int, *, discrete: bool = False) -> None:
        self.d, self.popsize, self.tolerances, self.discrete = d, popsize, tolerances, discrete
        self.window = recent_generations(d, popsize)
        self.stagnation = stagnation_time(tolerances.tolstagnation, d, popsize)
        self.sigma0 = np.ones(runs)
        self.nit = np.zeros(runs, int)
        self.recent = np.full((runs, self.window - 1), np.nan)
        """Best values of the last generations, newest last; NaN before the first."""
        self.flat, self.failed = np.zeros(runs, int), np.zeros(runs, int)
        self.best_f, self.best_nfev = np.full(runs, np.inf), np.zeros(runs, int)
        self.early = np.full(runs, -np.inf)
        """Level of the values early in each run."""
        self.bests: list[list[float]] = [[] for _ in range(runs)]
        """Best value of every fifth generation, newest last."""
        self.medians: list[list[float]] = [[] for _ in range(runs)]
        """Median value of every fifth generation, newest last."""

    def begin(self, lanes: np.ndarray, sigma0: np.ndarray) -> None:
        """Forget the runs in these lanes and begin others there."""
        self.sigma0[lanes], self.nit[lanes], self.recent[lanes] = sigma0, 0, np.nan
        self.early[lanes] = -np.inf
        self.flat[lanes], self.failed[lanes], self.best_f[lanes], self.best_nfev[lanes] = 0, 0, np.inf, 0
        for i in lanes.tolist():
            self.bests[i], self.medians[i] = [], []

    def take(self, lanes: np.ndarray) -> "ManyStopTests":
        """Return the tests of the runs in these lanes alone."""
        taken = ManyStopTests(self.d, self.popsize, self.tolerances, len(lanes), discrete=self.discrete)
        for name in ("sigma0", "nit", "recent", "flat", "failed", "best_f", "best_nfev", "early"):
            setattr(taken, name, getattr(self, name)[lanes])
        taken.bests, taken.medians = ([list(history[i]) for i in lanes.tolist()] for history in (self.bests, self.medians))
        return taken

    def observe(self, now: ChunkSummary, longest: np.ndarray, ftarget: np.ndarray, cut: np.ndarray | None = None) -> Verdict:
        """Take a chunk into account: a run ends by a criterion, in generation `longest` or at its target.

        Where `longest` is 0 there is no run, and the verdict means nothing. A target of NaN is none. Where `cut` is true only
        a part of generation `longest` was evaluated: no criterion looks at it.
        """
        generations = now.best.shape[1]
        nit = self.nit[:, None] + np.arange(1, generations + 1)
        best_f, best_nfev = self._bests(now, nit)
        known = np.concatenate([self.recent, now.best], 1)
        windows = np.lib.stride_tricks.sliding_window_view(known, self.window, axis=1)
        flat, failed = self._in_a_row(now)
        stagnant = self._stagnant(now, nit, nit * self.popsize - best_nfev, longest > 0)
        with np.errstate(invalid="ignore"):  # inf - inf is NaN, as it should be
            progress = self._early(now, nit) - best_f
            range_now, range_recent = now.worst - now.best, np.fmax.reduce(windows, -1) - np.fmin.reduce(windows, -1)
            settled = (nit >= self.window) & (np.maximum(range_now, range_recent) <= settled_limit(progress, best_f))
            settled[settled] = no_longer_fall(windows[settled])
            seen = Observed(
                nit=nit,
                best_f=best_f,
                sigma0=self.sigma0[:, None],
                remembered=np.minimum(nit, self.window),
                range_now=range_now,
                range_recent=range_recent,
                progress=progress,
                settled=settled,
                largest=now.largest,
                step=now.step,
                still=now.still,
                flat=flat,
                patience=self.window if self.discrete else 0,
                stagnates=stagnant,
                stagnation=self.stagnation,
                condition=now.condition,
                failed=failed,
            )
            held = [(each, value, each.holds(seen, value)) for each, value in self.tolerances.tests()]
        whole = np.ones(nit.shape, bool) if cut is None else ~cut[:, None] | (nit < longest[:, None])
        tests = [(each, value, np.broadcast_to(holds, nit.shape) & whole) for each, value, holds in held]
        broken = ~(now.finite & (now.largest < LARGEST)) & whole
        converged = np.logical_or.reduce([holds for _, _, holds in tests]) | broken
        over = converged | (nit >= longest[:, None]) | (best_f <= ftarget[:, None])
        ended = over.any(1)
        made = np.where(ended, over.argmax(1) + 1, generations)
        reasons = {
            i: _reasons(tests, seen, broken, i, g)
            for i, g in zip(np.flatnonzero(ended).tolist(), (made[ended] - 1).tolist(), strict=True)
        }
        self._remember(now, known, flat, failed, best_f, best_nfev)
        return Verdict(made, ended, best_f, best_nfev, reasons)

    def _bests(self, now: ChunkSummary, nit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        so_far = np.minimum.accumulate(np.concatenate([self.best_f[:, None], now.best], 1), 1)
        found = np.where(now.best < so_far[:, :-1], (nit - 1) * self.popsize + now.place + 1, 0)
        found = np.maximum.accumulate(np.concatenate([self.best_nfev[:, None], found], 1), 1)
        return so_far[:, 1:], found[:, 1:]

    def _early(self, now: ChunkSummary, nit: np.ndarray) -> np.ndarray:
        """Return the level of early values, where a run is old enough."""
        number = early_values(self.window)
        for i in np.flatnonzero((nit[:, 0] <= 5 * number) & (5 * number <= nit[:, -1])).tolist():
            self.early[i] = early_level([*self.bests[i], *now.best[i, 4::5].tolist()][:number])
        return np.where(nit >= 5 * number, self.early[:, None], -np.inf)

    def _in_a_row(self, now: ChunkSummary) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of consecutive generations with flat values, and without a finite one."""
        equal, usable = now.best == now.high, now.best < np.inf
        flat, failed = np.empty(now.best.shape, int), np.empty(now.best.shape, int)
        flat_now, failed_now = self.flat, self.failed
        for g in range(now.best.shape[1]):
            failed[:, g] = failed_now = np.where(usable[:, g], 0, failed_now + 1)
            flat[:, g] = flat_now = np.where(usable[:, g], np.where(equal[:, g], flat_now + 1, 0), flat_now)
        return flat, failed

    def _stagnant(self, now: ChunkSummary, nit: np.ndarray, since_best: np.ndarray, going: np.ndarray) -> np.ndarray:
        possible = may_stagnate(self.d, self.popsize, self.stagnation, nit, since_best) & going[:, None]
        stagnant = np.zeros(nit.shape, bool)
        for i, g in zip(*(axis.tolist() for axis in np.nonzero(possible)), strict=True):
            bests, medians = (
                [*history[i], *new[i, 4 : g + 1 : 5].tolist()][-MEMORY:]
                for history, new in ((self.bests, now.best), (self.medians, now.median))
            )
            stagnant[i, g] = stagnates(self.stagnation, bests, medians)
        return stagnant

    def _remember(self, now: ChunkSummary, known: np.ndarray, *rows: np.ndarray) -> None:
        self.nit += now.best.shape[1]
        self.recent = known[:, -(self.window - 1) :]
        self.flat, self.failed, self.best_f, self.best_nfev = (row[:, -1] for row in rows)
        for histories, new in ((self.bests, now.best), (self.medians, now.median)):
            for history, values in zip(histories, new[:, 4::5].tolist(), strict=True):
                history.extend(values)
                del history[:-MEMORY]


def _reasons(
    tests: list[tuple[Tolerance, float | None, Any]], seen: Observed, broken: np.ndarray, i: int, g: int
) -> dict[str, float]:
    """Return the criteria that hold for run i in generation g, each with its threshold."""
    if broken[i, g]:
        return {"nonfinite": int(seen.nit[i, g])}
    held = [(each.name, each.threshold(seen, value)) for each, value, holds in tests if holds[i, g]]
    return {name: value[i, g].item() if np.ndim(value) else value for name, value in held}
