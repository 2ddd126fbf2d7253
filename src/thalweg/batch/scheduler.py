"""Problems on their way through their restarts, side by side.

Runs of the same population share a compiled program with a fixed number of slots: a group. The device makes a stretch of
generations of all slots of a group, the host decides which runs have ended and when, and sends their problems on to the group
of their next run. A problem knows nothing of the others: what it does is what `minimize` does with the same seed.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

import jax
import numpy as np

from thalweg._common.checks import shortened
from thalweg.batch.chunk import BLOCK, Begin, Going, Record, blank, run_stretch, take
from thalweg.batch.device_loop import Static
from thalweg.batch.stopping import ManyStopTests, Stretch, Verdict
from thalweg.compiled import steps as stepping
from thalweg.search.campaign import FINAL, Schedule, Start
from thalweg.search.stopping import Budget, Tolerances, default_max_iter, spent
from thalweg.space.box import Box
from thalweg.strategies.registry import with_popsize
from thalweg.strategies.strategy import Array, Strategy

NARROWER = 4
"""Slots come in widths of all, a quarter of all, and so on: few programs to compile, and few slots that stand empty."""
NARROWEST = 16
"""Fewer slots are not worth a program of their own."""
ENDLESS = np.iinfo(np.int64).max // 2


class Course(NamedTuple):
    """One of the runs of a problem."""

    popsize: int
    sigma0: float
    nfev: int
    nit: int
    fun: float
    stop: dict[str, float]


@dataclass
class Problem:
    """A function with its restarts: what is left of the runs that have ended, and the beginning of the present one."""

    x0: Any
    schedule: Schedule
    ftarget: float | None
    x: Any = None
    fun: float = inf
    nfev: int = 0
    courses: list[Course] = field(default_factory=list[Course])
    start: Start | None = None


class Common(NamedTuple):
    """What all groups share."""

    strategy: Strategy
    fun: Callable[..., Array]
    vectorized: bool
    d: int
    budget: Budget
    """Of each problem, over all its runs."""
    restarts: int
    tolerances: Tolerances
    generations: int
    """Of a stretch."""
    width: int
    """How many runs side by side at most."""
    busy: int
    """Fewer points side by side take the device as long."""
    box: Box | None
    tables: tuple[Any, Any, Any]
    """Arguments of the objective and targets, a row for each problem, and the box, on the device."""


class Runs(NamedTuple):
    """What the host knows of the run in each slot."""

    row: np.ndarray
    """The number of its problem; -1 where there is none."""
    longest: np.ndarray
    """In generations; 0 where there is none."""
    words: np.ndarray
    x0: np.ndarray
    """In the unbounded search space."""
    best_x: np.ndarray

    @classmethod
    def none(cls, width: int, d: int) -> "Runs":
        """Empty slots."""
        words, points = np.zeros((width, 2), np.uint32), np.zeros((width, d))
        return cls(np.full(width, -1), np.zeros(width, int), words, points, points.copy())


class Group:
    """The runs with one population."""

    def __init__(self, common: Common, problems: Sequence[Problem], popsize: int) -> None:
        self.common, self.problems, self.popsize = common, problems, popsize
        self.strategy = with_popsize(common.strategy, popsize)
        limited = common.budget.limited and not common.restarts
        self.limit = None if limited else default_max_iter(common.d, popsize)
        self.waiting: deque[int] = deque()
        """Numbers of problems whose next run has this population."""
        self.runs, self.tests = Runs.none(0, common.d), ManyStopTests(common.d, popsize, common.tolerances, 0)
        self.slots: Going | None = None

    @property
    def load(self) -> int:
        """How many problems want to go on here."""
        return int((self.runs.row >= 0).sum()) + len(self.waiting)

    @property
    def width(self) -> int:
        """How many slots there are."""
        return len(self.runs.row)

    def advance(self, hits: np.ndarray) -> tuple[list[int], int]:
        """Make a stretch; returns the problems whose run has ended, and how many generations were needed."""
        self._resize()
        fresh = self._fill()
        static, runs = self._static(self.width), self.runs
        args, targets, box = self.common.tables
        begin = Begin(fresh, runs.words, runs.x0, self.tests.sigma0, np.maximum(runs.row, 0))
        self.slots, record = run_stretch(static, self.slots, jax.device_put(begin), args, targets, box)
        glances, condition, found = jax.device_get((record.glances, record.condition, record.hits))
        record = Record(glances, condition, record.scale, found)
        before, nit = self.tests.best_nfev, self.tests.nit.copy()
        goals = np.array([self.problems[row].ftarget for row in runs.row], float)  # None is NaN, which nothing reaches
        verdict = self.tests.observe(self._stretch(record), runs.longest, goals)
        going = np.flatnonzero(runs.row >= 0)
        last = verdict.made - 1
        improved = going[verdict.best_nfev[going, last[going]] > before[going]]
        when = (verdict.best_nfev[improved, last[improved]] - 1) // self.popsize - nit[improved]
        runs.best_x[improved] = record.glances.x[when, improved]
        self._note(hits, going, record.hits, nit, verdict)
        ended = going[verdict.ended[going]]
        rows = runs.row[ended].tolist()
        for i, row in zip(ended.tolist(), rows, strict=True):
            g = int(last[i])
            self._finish(
                self.problems[row], int(nit[i]) + g + 1, float(verdict.best_f[i, g]), runs.best_x[i], verdict.reasons[i]
            )
        runs.row[ended], runs.longest[ended] = -1, 0
        return rows, int(verdict.made[going].sum())

    def _static(self, width: int) -> Static:
        common = self.common
        return Static(self.strategy, common.fun, common.generations, common.vectorized, width)

    def _resize(self) -> None:
        width = self.common.width
        while width > NARROWEST and width * self.popsize > self.common.busy and -(-width // NARROWER) >= self.load:
            width = -(-width // NARROWER)
        if width == self.width:
            return
        going = np.flatnonzero(self.runs.row >= 0)
        if self.slots is None or len(going) == 0:
            self.slots = blank(self._static(width), self.common.d)
            self.runs = Runs.none(width, self.common.d)
            self.tests = ManyStopTests(self.common.d, self.popsize, self.common.tolerances, width)
            return
        places = np.concatenate([going, np.full(width - len(going), going[0])])
        self.slots = take(self.slots, jax.device_put(places))
        self.runs, self.tests = Runs(*(part[places] for part in self.runs)), self.tests.take(places)
        self.runs.row[len(going) :], self.runs.longest[len(going) :] = -1, 0

    def _fill(self) -> np.ndarray:
        """Begin runs in the empty slots; returns in which."""
        free = np.flatnonzero(self.runs.row < 0)[: len(self.waiting)]
        sigma0 = np.ones(len(free))
        for k, i in enumerate(free.tolist()):
            row = self.waiting.popleft()
            problem = self.problems[row]
            start = begun(problem)
            left = min((self.common.budget.max_evals or inf) - problem.nfev, start.max_evals or inf)
            self.runs.row[i] = row
            self.runs.longest[i] = min(-(-left // self.popsize), self.limit or ENDLESS)
            self.runs.words[i] = stepping.seed_words(start.seed)
            self.runs.x0[i] = start.x0 if self.common.box is None else self.common.box.out_of(start.x0)
            self.runs.best_x[i], sigma0[k] = start.x0, start.sigma0
        self.tests.begin(free, sigma0)
        fresh = np.zeros(self.width, bool)
        fresh[free] = True
        return fresh

    def _stretch(self, record: Record) -> Stretch:
        """The record as the stop tests want it."""
        condition = np.full((self.width, self.common.generations), np.nan)
        bound = record.condition if self.common.tolerances.tolconditioncov > 0 else None
        if bound is not None:
            doubtful = np.argwhere(~(bound <= self.common.tolerances.tolconditioncov) & (self.runs.row >= 0))
            scale = np.asarray(record.scale) if len(doubtful) else np.empty(0)
            for block, i in doubtful.tolist():
                condition[i, (block + 1) * BLOCK - 1] = stepping.covariance_condition(scale[block, i])
        columns = {name: np.swapaxes(getattr(record.glances, name), 0, 1) for name in Stretch._fields if name != "condition"}
        return Stretch(condition=condition, **columns)

    def _note(self, hits: np.ndarray, going: np.ndarray, found: np.ndarray, nit: np.ndarray, verdict: Verdict) -> None:
        """Write down which targets were reached, and when."""
        rows = self.runs.row[going]
        base = np.array([self.problems[row].nfev for row in rows]) + nit[going] * self.popsize
        first = np.where(found[going] <= verdict.made[going, None] * self.popsize, base[:, None] + found[going], inf)
        hits[rows] = np.minimum(hits[rows], first)

    def _finish(self, problem: Problem, nit: int, fun: float, x: np.ndarray, reasons: dict[str, float]) -> None:
        """The end of a run."""
        start, nfev, common = begun(problem), nit * self.popsize, self.common
        alone = Budget(max_evals=start.max_evals, max_iter=self.limit)
        if fun < problem.fun:
            problem.fun, problem.x = fun, x.copy()
        elif problem.x is None:
            problem.x = start.x0
        problem.nfev += nfev
        total = Budget(max_evals=common.budget.max_evals, ftarget=problem.ftarget)
        used_up = spent(total, problem.nfev, 0, problem.fun, 0.0)
        stop = reasons | spent(alone, nfev, nit, fun, 0.0) | used_up
        problem.courses.append(Course(self.popsize, start.sigma0, nfev, nit, fun, stop))
        problem.schedule = problem.schedule.after(nfev)
        over = bool(used_up) or not stop.keys().isdisjoint(FINAL) or problem.schedule.doubled >= common.restarts
        problem.start = None if over else begin(problem, common.box)


def begin(problem: Problem, box: Box | None) -> Start:
    """The beginning of the problem's next run."""
    start = problem.schedule.start(problem.x0, box)
    if box is not None and not np.all(box.contains(start.x0)):
        raise ValueError(f"x0 must lie inside the bounds, got {shortened(start.x0.tolist())}")
    return start


def begun(problem: Problem) -> Start:
    """The beginning of the problem's present run."""
    if problem.start is None:
        raise RuntimeError("this problem has ended")
    return problem.start


def run_groups(common: Common, problems: Sequence[Problem], targets: np.ndarray) -> tuple[int, float, np.ndarray]:
    """All problems to their ends: how many stretches it took, the share of generations that were not needed, and the hits."""
    groups: dict[int, Group] = {}
    hits = np.full(targets.shape, inf)
    rounds = made = needed = 0
    ended = list(range(len(problems)))
    for problem in problems:
        problem.start = begin(problem, common.box)
    while True:
        for row in ended:
            start = problems[row].start
            if start is not None:
                groups.setdefault(start.popsize, Group(common, problems, start.popsize)).waiting.append(row)
        # the group for which most problems wait: the others fill up meanwhile
        group = max(groups.values(), key=lambda group: group.load)
        if group.load == 0:
            return rounds, 1 - needed / made, hits
        ended, useful = group.advance(hits)
        rounds, made, needed = rounds + 1, made + group.width * common.generations, needed + useful
