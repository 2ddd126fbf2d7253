"""One run of a strategy: the state of the search, what it learns, and when it ends."""

import logging
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg._common.checks import as_array, is_plain
from thalweg.compiled.drawn import Ahead, Drawn
from thalweg.compiled.steps import axis_lengths, covariance_condition, steps_of
from thalweg.compiled.transfer import to_device, to_host
from thalweg.search.campaign import Best, Start
from thalweg.search.constraints import Kinds, Lagrangian
from thalweg.search.constraints.settled import Settled
from thalweg.search.constraints.told import Told
from thalweg.search.covariance import Covariance
from thalweg.search.injection import place_injected
from thalweg.search.result import add_constraints, make_result
from thalweg.search.stopping import Budget, Tolerances
from thalweg.search.stopping.stop_tests import Generation, StopTests
from thalweg.search.warm_start import WarmStart
from thalweg.space import SpaceMap
from thalweg.strategies.strategy import HasSqueeze, State, Strategy

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")

EARLY, SMALL = 30, 40
"""Generations and dimensions up to which the axes of the search distribution are found in every generation, not each tenth."""

BALANCED = 100
"""Generations after which step size and root are brought back together where they have drifted apart."""


class OutOfRangeError(RuntimeError):
    """Raised for points that are not finite: the run has then ended."""


class Asked(NamedTuple):
    """A generation that was drawn and waits for its values."""

    drawn: Drawn | Ahead
    x: np.ndarray
    """The points as the objective takes them."""
    injected: int
    """Number of points, the first ones, that were injected."""

    def is_told_by(self, X: Any, values: np.ndarray) -> bool:
        """Return whether X are all points as they were asked; without a loop over large generations."""
        return np.array_equal(X if is_plain(X) else as_array(X, "X"), self.x) and len(values) == len(self.x)


class Run:
    """A run from its start to its end; `Optimizer` has one at a time."""

    def __init__(
        self,
        strategy: Strategy,
        space: SpaceMap,
        start: Start,
        budget: Budget,
        tolerances: Tolerances,
        warm: WarmStart | None = None,
    ) -> None:
        space.check(start.x0, "x0")
        self.strategy, self.space, self.start, self.budget = strategy, space, start, budget
        self.mean = space.to_search(start.x0)
        """Mean of the search distribution, in R^d: the space maps it to the objective's argument."""
        self.d = len(self.mean)
        """Dimension of the search; the objective's argument has more coordinates where some are fixed."""
        self.unit = space.unit
        """Geometric mean of the space's units: in these the step-size is shown."""
        self.popsize = strategy.population(self.d)
        cells = space.cells(self.mean)
        self.tests = StopTests(self.d, self.popsize, start.sigma0, tolerances, None if cells is None else cells.whole)
        self.best = Best(start.x0.copy(), np.inf, 0)
        self.nfev = 0
        self.failures = 0
        self.info: dict[str, float] = {}
        """Numbers that the strategy shows of the last generation, by name."""
        self.std = np.full(self.d, start.sigma0)
        """Standard deviation of the search distribution per coordinate, in R^d."""
        self.axes = (np.nan, np.nan)
        """Standard deviations along the longest and the shortest axis, in R^d; NaN where the strategy does not tell them."""
        self.steps = steps_of(strategy, self.d)
        import_module("scipy.optimize")  # for the result; while the compiler is busy this takes no time
        self.ahead: Drawn | Ahead | None
        """The next generation, if it was drawn ahead."""
        if warm is None:
            self._packed, self.ahead = self.steps.begin(start.seed, self.mean, start.sigma0)
        else:
            self.mean, self.std = warm.mean, warm.std
            self._packed, self.ahead = self.steps.begin_with(start.seed, warm.mean, warm.root)
        # a third-party object inside cannot be changed from outside
        self.widest = space.widest
        """Largest standard deviation per coordinate, in R^d."""
        self.can_squeeze = strategy.traceable and isinstance(strategy, HasSqueeze) and not np.all(self.widest == np.inf)
        self.whole = space if cells is not None and strategy.traceable else None
        """The space, if it has whole numbers which the search must not settle on too early."""
        self.halted: dict[str, float] = {}
        """Reasons to stop from outside."""
        self.lagrangian: Lagrangian | None = None
        """The strategy learns from its values; None without constraints."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_packed": to_host(self.packed)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _packed=to_device(state["_packed"]))

    @property
    def packed(self) -> State:
        """The state after the last generation as the compiled steps have it."""
        if self._packed is None and isinstance(self.ahead, Ahead):
            self._packed = self.ahead.before
        return self._packed

    @property
    def state(self) -> State:
        """The strategy's state after the last generation. Setting it draws the next generation anew."""
        return self.steps.unpacked(self.packed)

    @state.setter
    def state(self, state: State) -> None:
        self.move_to(self.steps.packed(state))

    @property
    def nit(self) -> int:
        """The number of generations told."""
        return self.tests.nit

    @property
    def sigma(self) -> float:
        """The step-size, in units of the objective's argument."""
        return self.info["sigma"] if "sigma" in self.info else float(np.sqrt(np.mean(self.std**2))) * self.unit

    def move_to(self, packed: State) -> None:
        """Go on from a state of the compiled steps; the next generation is drawn when it is asked for."""
        self._packed, self.ahead = packed, None

    def draw(self, injected: np.ndarray) -> Asked:
        """Draw a generation from the present state, with injected points in its first places."""
        drawn = self.steps.ask(self.packed) if self.ahead is None else self.ahead
        n = min(len(injected), self.popsize)
        if n:
            invert = partial(self.steps.invert, self.packed)
            given = self.space.to_search(injected[:n])
            e, y = place_injected(given, np.asarray(drawn.e), np.asarray(drawn.y), self.mean, invert)
            drawn = Drawn(e, y, drawn.state)
        x = np.array(self.space.to_objective(np.asarray(drawn.y)))
        x[:n] = injected[:n]
        if not np.isfinite(x).all():
            self.halted["nonfinite"] = self.nit
            raise OutOfRangeError(f"the search distribution is no longer finite (after {self.nit} generations); see stop()")
        return Asked(drawn, x, n)

    def constrain(self, kinds: Kinds) -> None:
        """Search under constraints of these kinds from now on; points without constraint values no longer count as best."""
        self.lagrangian = Lagrangian.start(kinds, self.d, self.popsize)
        self.tests.ignore_stagnation()
        if self.best.rows is None:
            self.best = self.best._replace(violation=np.inf)

    def learn(self, drawn: Drawn | Ahead, f: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Move the search on by the values of a generation and of its constraints, and test the stop criteria."""
        if self.lagrangian is not None and rows is not None:
            settled = None if self.whole is None else Settled(self.space, self.mean, self.std)
            invert = partial(self.steps.invert, self.packed)
            self.lagrangian = self.lagrangian.learn(np.asarray(drawn.y), f, rows, invert, settled)
            f = self.lagrangian.values(f, rows)
        ranked = np.sort(f)  # NaN last
        if np.isnan(ranked[-1]):
            if np.isnan(ranked[0]) and self.tests.failed == 0:
                logger.warning("generation %d has no value at all; its points are ranked at random", self.nit + 1)
            ranked[np.isnan(ranked)] = np.inf
        self._packed, self.ahead, seen = self.steps.tell(drawn, f, self.whole)
        if not seen.finite:
            self.move_to(drawn.state)
        elif self.can_squeeze and (seen.std > self.widest).any():
            state, seen = self.steps.squeeze(self.packed, seen, np.minimum(1.0, self.widest / seen.std))
            self.move_to(state)
        due = seen.finite and self.nit % BALANCED == BALANCED - 1
        if due and (balanced := self.steps.balanced(self.packed)) is not self.packed:
            self.move_to(balanced)
        self.info = seen.info
        if "sigma" in self.info:
            self.info["sigma"] *= self.unit
        tenth = self.nit % 10 == 9
        if tenth or (self.nit < EARLY and self.d <= SMALL):
            self.axes = axis_lengths(seen.scale)
        condition = covariance_condition(self.axes) if tenth else np.nan
        generation = Generation(
            ranked, seen.mean, seen.std, condition, seen.finite, self.nfev, self.best.reached, self.best.nfev
        )
        self.tests.observe(generation, self.mean)
        if seen.finite:
            self.mean, self.std = seen.mean, seen.std

    def count(self, x: np.ndarray, told: Told) -> None:
        """Count evaluations and keep the best point: the best feasible one, or the least violated if none is feasible."""
        f, rows = told.f, told.rows
        self.failures += told.failures
        if len(f) and (self.lagrangian is None or rows is None):
            i = int(f.argmin())  # the first NaN if there is one
            i = i if f[i] == f[i] else int(np.argmin(np.where(np.isnan(f), np.inf, f)))
            if f[i] < self.best.f:
                self.best = Best(x[i].copy(), float(f[i]), self.nfev + i + 1)
        elif self.lagrangian is not None and rows is not None:
            for i, violation in enumerate(self.lagrangian.kinds.violation(rows).tolist()):
                if (violation, f[i]) < self.best.order and not np.isnan(f[i]):
                    self.best = Best(x[i].copy(), float(f[i]), self.nfev + i + 1, violation, rows[i].copy())
        self.nfev += len(f)

    def stop(self) -> dict[str, float]:
        """Return the reasons to end this run, each with its threshold; empty while it should go on."""
        return self.tests.reasons | self.budget.spent(self.nfev, self.nit, self.best.reached, 0.0) | self.halted

    def result(self, reasons: Mapping[str, float], **more: Any) -> "OptimizeResult":
        """Return the result of this run, ended for these reasons."""
        result = make_result(
            self.best.x.copy(),
            self.best.f,
            self.nfev,
            self.nit,
            reasons,
            resolved=self.tests.resolved,
            sigma=self.sigma,
            mean=np.array(self.space.to_objective(self.mean)),
            std=self.space.spread(self.mean, self.std),
            popsize=self.popsize,
            failures=self.failures,
            info=dict(self.info),
            **more,
        )
        if self.lagrangian is not None:
            add_constraints(result, self.best, self.lagrangian)
        return result.with_covariance(Covariance(self.strategy, self.state, self.mean, self.std, self.space))
