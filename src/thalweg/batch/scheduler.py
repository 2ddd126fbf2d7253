"""Many problems with their restarts, side by side on one device.

Runs of the same population share a compiled program with a fixed number of lanes: a lane group. The device makes a chunk of
generations in all lanes of a group, the host decides which runs have ended and when, and sends their problems on to the group
of their next run. Problems do not affect one another: each does what `minimize` does with the same seed.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

import jax
import numpy as np

from thalweg.batch.chunk import BLOCK, NEVER, ChunkRecord, LaneState, Refill, blank, run_chunk, take
from thalweg.batch.device_loop import Setup
from thalweg.batch.stop_tests import ChunkSummary, ManyStopTests, Verdict
from thalweg.compiled.keys import seed_words
from thalweg.compiled.steps import axis_lengths, covariance_condition
from thalweg.search.campaign import Best, Campaign, Start
from thalweg.search.stopping import Tolerances
from thalweg.space import SpaceMap
from thalweg.strategies.registry import with_popsize
from thalweg.strategies.strategy import Array, Strategy

NARROWER = 4
"""Groups have all lanes, a quarter of all, and so on: few programs to compile, and few lanes that stand empty."""
NARROWEST = 16
"""Minimal number of lanes; fewer are not worth a program of their own."""
ENDLESS = 2**40


class RunSummary(NamedTuple):
    """One finished run of a problem."""

    popsize: int
    sigma0: float
    """The first standard deviation, in the space's units."""
    nfev: int
    nit: int
    fun: float
    stop: dict[str, float]


@dataclass
class Task:
    """One problem on its way through its runs."""

    x0: Any
    campaign: Campaign
    runs: list[RunSummary] = field(default_factory=list[RunSummary])
    start: Start | None = None
    """Beginning of the present run; None once the last one has ended."""

    def begin(self, space: SpaceMap) -> None:
        """Begin the next run."""
        self.start = self.campaign.start(self.x0, space)
        space.check(self.start.x0, "x0")

    def end(self, nfev: int, nit: int, best: Best, reasons: dict[str, float], space: SpaceMap) -> None:
        """Take account of the end of the present run, and begin the next one if one follows."""
        start, campaign = self.present, self.campaign
        used_up = campaign.spent(nfev, nit, campaign.overall(best).f, 0.0)
        stop = reasons | campaign.run_budget(start).spent(nfev, nit, best.f, 0.0) | used_up
        self.runs.append(RunSummary(start.popsize, start.sigma0, nfev, nit, best.f, stop))
        self.campaign = campaign.after(nfev, nit, 0, best, success=False)
        self.start = None
        if campaign.follows(stop, used_up):
            self.begin(space)

    @property
    def present(self) -> Start:
        """The beginning of the present run."""
        if self.start is None:
            raise RuntimeError("this problem has no further run")
        return self.start


class BatchSettings(NamedTuple):
    """Settings that all lane groups share."""

    strategy: Strategy
    fun: Callable[..., Array]
    vectorized: bool
    d: int
    """Dimension of the search."""
    coordinates: int
    """Number of coordinates of the objective's argument: more than d where some are fixed."""
    tolerances: Tolerances
    generations: int
    """Generations of a chunk."""
    lanes: int
    """Maximal number of runs side by side."""
    busy: int
    """Number of points below which the device takes as long as for this number."""
    space: SpaceMap
    tables: tuple[Any, Any, Any]
    """Arguments of the objective and targets, a row for each problem, and the space, on the device."""


class LaneTable(NamedTuple):
    """The host's table of the run in each lane."""

    row: np.ndarray
    """Number of its problem; -1 where there is none."""
    longest: np.ndarray
    """Maximal number of generations, of which the last may be a part of one; 0 where there is no run."""
    allowed: np.ndarray
    """Evaluations that the budget leaves for the run."""
    words: np.ndarray
    x0: np.ndarray
    """Start in R^d."""
    best_x: np.ndarray

    @classmethod
    def empty(cls, lanes: int, d: int, coordinates: int) -> "LaneTable":
        """Return a table without runs."""
        words, points, none = np.zeros((lanes, 2), np.uint32), np.zeros((lanes, d)), np.zeros(lanes, int)
        return cls(np.full(lanes, -1), none, none.copy(), words, points, np.zeros((lanes, coordinates)))


class LaneGroup:
    """The lanes of runs with one population."""

    def __init__(self, settings: BatchSettings, tasks: Sequence[Task], popsize: int) -> None:
        self.settings, self.tasks, self.popsize = settings, tasks, popsize
        self.strategy = with_popsize(settings.strategy, popsize)
        self.waiting: deque[int] = deque()
        """Numbers of problems whose next run has this population."""
        self.table = LaneTable.empty(0, settings.d, settings.coordinates)
        self.tests = ManyStopTests(
            settings.d, popsize, settings.tolerances, 0, discrete=bool(np.any(settings.space.whole_numbers))
        )
        self.lanes: LaneState | None = None

    @property
    def load(self) -> int:
        """Number of problems that are here or wait to be."""
        return int((self.table.row >= 0).sum()) + len(self.waiting)

    @property
    def width(self) -> int:
        """Number of lanes."""
        return len(self.table.row)

    def advance(self, hits: np.ndarray) -> tuple[list[int], int]:
        """Make a chunk; return the problems whose run has ended, and the number of generations that were needed."""
        self._resize()
        fresh = self._fill()
        setup, table, space = self._setup(self.width), self.table, self.settings.space
        args, targets, device_space = self.settings.tables
        left = np.clip(table.allowed - self.tests.nit * self.popsize, 0, NEVER).astype(np.int32)
        refill = Refill(fresh, table.words, table.x0, self.tests.sigma0, np.maximum(table.row, 0), left)
        self.lanes, record = run_chunk(setup, self.lanes, jax.device_put(refill), args, targets, device_space)
        seen, condition, found = jax.device_get((record.observations, record.condition, record.hits))
        record = ChunkRecord(seen, condition, record.scale, found)
        before, nit = self.tests.best_nfev, self.tests.nit.copy()
        going = np.flatnonzero(table.row >= 0)
        goals = np.array([self._goal(row) for row in table.row.tolist()], float)  # None is NaN, which nothing reaches
        cut = table.longest * self.popsize > table.allowed
        verdict = self.tests.observe(self._summary(record), table.longest, goals, cut)
        last = verdict.made - 1
        improved = going[verdict.best_nfev[going, last[going]] > before[going]]
        when = (verdict.best_nfev[improved, last[improved]] - 1) // self.popsize - nit[improved]
        table.best_x[improved] = seen.x[when, improved]
        self._record_hits(hits, going, found, nit, verdict)
        ended = going[verdict.ended[going]]
        rows = table.row[ended].tolist()
        for i, row in zip(ended.tolist(), rows, strict=True):
            g = int(last[i])
            made, best = int(nit[i]) + g + 1, Best(table.best_x[i].copy(), float(verdict.best_f[i, g]), 0)
            nfev = min(made * self.popsize, int(table.allowed[i]))
            self.tasks[row].end(nfev, nfev // self.popsize, best, verdict.reasons[i], space)
        table.row[ended], table.longest[ended] = -1, 0
        return rows, int(verdict.made[going].sum())

    def _goal(self, row: int) -> float | None:
        return self.tasks[row].campaign.budget.ftarget if row >= 0 else None

    def _setup(self, lanes: int) -> Setup:
        settings = self.settings
        return Setup(self.strategy, settings.fun, settings.generations, settings.vectorized, lanes)

    def _resize(self) -> None:
        settings, lanes = self.settings, self.settings.lanes
        while lanes > NARROWEST and lanes * self.popsize > settings.busy and -(-lanes // NARROWER) >= self.load:
            lanes = -(-lanes // NARROWER)
        if lanes == self.width:
            return
        going = np.flatnonzero(self.table.row >= 0)
        if self.lanes is None or len(going) == 0:
            self.lanes = blank(self._setup(lanes), settings.d)
            self.table = LaneTable.empty(lanes, settings.d, settings.coordinates)
            discrete = bool(np.any(settings.space.whole_numbers))
            self.tests = ManyStopTests(settings.d, self.popsize, settings.tolerances, lanes, discrete=discrete)
            return
        places = np.concatenate([going, np.full(lanes - len(going), going[0])])
        self.lanes = take(self.lanes, jax.device_put(places))
        self.table, self.tests = LaneTable(*(part[places] for part in self.table)), self.tests.take(places)
        self.table.row[len(going) :], self.table.longest[len(going) :] = -1, 0

    def _fill(self) -> np.ndarray:
        """Begin runs in the empty lanes; return for each lane whether a run begins there."""
        free = np.flatnonzero(self.table.row < 0)[: len(self.waiting)]
        sigma0 = np.ones(len(free))
        for k, i in enumerate(free.tolist()):
            row = self.waiting.popleft()
            start, campaign = self.tasks[row].present, self.tasks[row].campaign
            self.table.row[i] = row
            self.table.allowed[i] = min((campaign.budget.max_evals or inf) - campaign.nfev, ENDLESS)
            generations = -(-campaign.evaluations_left(start) // self.popsize)
            self.table.longest[i] = min(generations, campaign.run_budget(start).max_iter or ENDLESS)
            self.table.words[i] = seed_words(start.seed)
            self.table.x0[i] = self.settings.space.to_search(start.x0)
            self.table.best_x[i], sigma0[k] = start.x0, start.sigma0
        self.tests.begin(free, sigma0)
        fresh = np.zeros(self.width, bool)
        fresh[free] = True
        return fresh

    def _summary(self, record: ChunkRecord) -> ChunkSummary:
        """Return the record as the stop tests want it."""
        limit = self.settings.tolerances.tolconditioncov or 0
        condition = np.full((self.width, self.settings.generations), np.nan)
        if record.condition is not None and limit > 0:
            doubtful = np.argwhere(~(record.condition <= limit) & (self.table.row >= 0))
            scale = np.asarray(record.scale) if len(doubtful) else np.empty(0)
            for block, i in doubtful.tolist():
                condition[i, (block + 1) * BLOCK - 1] = covariance_condition(axis_lengths(scale[block, i]))
        names = [name for name in ChunkSummary._fields if name != "condition"]
        columns = {name: np.swapaxes(getattr(record.observations, name), 0, 1) for name in names}
        return ChunkSummary(condition=condition, **columns)

    def _record_hits(self, hits: np.ndarray, going: np.ndarray, found: np.ndarray, nit: np.ndarray, verdict: Verdict) -> None:
        """Record which targets were reached, and after how many evaluations."""
        rows = self.table.row[going]
        base = np.array([self.tasks[row].campaign.nfev for row in rows]) + nit[going] * self.popsize
        first = np.where(found[going] <= verdict.made[going, None] * self.popsize, base[:, None] + found[going], inf)
        hits[rows] = np.minimum(hits[rows], first)


def run_tasks(settings: BatchSettings, tasks: Sequence[Task], targets: np.ndarray) -> tuple[int, float, np.ndarray]:
    """Bring all problems to their ends; return the number of chunks, the share of wasted generations, and the hits."""
    groups: dict[int, LaneGroup] = {}
    hits = np.full(targets.shape, inf)
    chunks = made = needed = 0
    ended = list(range(len(tasks)))
    for task in tasks:
        task.begin(settings.space)
    while True:
        for row in ended:
            if (start := tasks[row].start) is not None:
                groups.setdefault(start.popsize, LaneGroup(settings, tasks, start.popsize)).waiting.append(row)
        # the group for which most problems wait: the others fill up meanwhile
        group = max(groups.values(), key=lambda group: group.load)
        if group.load == 0:
            return chunks, 1 - needed / made, hits
        ended, useful = group.advance(hits)
        chunks, made, needed = chunks + 1, made + group.width * settings.generations, needed + useful
