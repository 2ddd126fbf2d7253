"""`Optimizer`: ask for points, tell their values, until `stop` returns a reason."""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg._common.checks import Seed, as_count, as_flag, as_seed, is_plain
from thalweg._common.types import ArrayLike, Points, Rows, Values
from thalweg.compiled.drawn import Ahead, Drawn
from thalweg.models import Quadratic, make_model
from thalweg.search import checkpoint
from thalweg.search.campaign import Campaign, check_restarts, first_point
from thalweg.search.constraints import Constraints, ConstraintsLike, Kinds
from thalweg.search.constraints.told import Told, rows_of
from thalweg.search.described import Described
from thalweg.search.foreign import check_foreign
from thalweg.search.history import History
from thalweg.search.injection import check_injected
from thalweg.search.known import Known, KnownLike
from thalweg.search.late import LatePoints
from thalweg.search.matching import as_asked
from thalweg.search.modelled import make_points, strategy_for
from thalweg.search.pending import PendingPoint, as_number_of_points
from thalweg.search.result import conclude
from thalweg.search.run import Asked, Run
from thalweg.search.stopping import Budget, Tolerances
from thalweg.search.view import SearchView
from thalweg.space import BoundsLike, Mask, Sigma0, Start
from thalweg.storage import File
from thalweg.strategies.registry import Method, make_strategy, with_popsize
from thalweg.strategies.strategy import State, Strategy

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")


class Optimizer(SearchView):
    """An evolution strategy by hand: ask for points, evaluate them anywhere, tell their values.

    >>> es = Optimizer([1.0, 2.0], sigma0=0.5, method="cma", seed=0, ftarget=1e-9)
    >>> while not es.stop():
    ...     X = es.ask()
    ...     es.tell(X, [float(x @ x) for x in X])
    >>> es.result.message
    'The target value ftarget = 1e-09 was reached.'

    The arguments are those of `thalweg.minimize`. `options` holds fields of the strategy (`flow`, `active`, ...) and stop
    tolerances (`tolx`, `tolfun`, ...; see `thalweg.Tolerances`). Without any budget the number of generations is limited as in
    pycma.

    With `restarts` another run begins as soon as one has ended, with twice the population; with `bipop` there are also small
    runs between these large ones. Budgets and target hold over all runs, and the generations of each run are limited as in
    pycma. A restart begins at a random point of closed bounds, or at x0 without; if `x0` is a callable, it draws the start of
    each run from a numpy Generator. `run` is the present run.

    With `model="quadratic"` a generation is a set of candidates, of which `ask` returns those that are worth an evaluation now,
    and it ends as soon as the model, a quadratic function fitted to the values told, ranks the others well enough.
    """

    def __init__(
        self,
        x0: Start = None,
        sigma0: Sigma0 = None,
        *,
        method: Method | str | Strategy = "gnn-cma",
        model: str | Quadratic | None = None,
        popsize: int | None = None,
        bounds: BoundsLike = None,
        scale: ArrayLike | None = None,
        log: Mask = None,
        integers: Mask = None,
        known: KnownLike = None,
        constraints: ConstraintsLike = None,
        seed: Seed = None,
        max_evals: float | None = None,
        max_iter: float | None = None,
        ftarget: float | None = None,
        timeout: float | None = None,
        restarts: int = 0,
        bipop: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        restarts = check_restarts(restarts, bipop)
        budget = Budget.checked(max_evals, max_iter, ftarget, timeout)
        self.seed = as_seed(seed)
        described = Described.read(x0, sigma0, bounds, scale, log, integers, given := Known.read(known))
        self.variables = described.variables
        """The description of the variables, if x0 was one."""
        self.x0 = described.x0
        self.first = first_point(self.x0, self.seed)
        """The start of the first run."""
        self.d = len(self.first)
        """Number of coordinates of the objective's argument."""
        self.space, step = described.space(self.d)
        self.space.check(self.first, "x0")
        self.tolerances, rest = Tolerances.pick(options, method)
        self.method, self.options = method, dict(options or {})
        self.strategy, self.popsize_given = make_strategy(method, popsize, **rest), popsize
        self.model = make_model(model)
        strategy_for(self.model, self.strategy)
        # inf is a budget too: that of a search that nothing but its criteria shall end
        limit = restarts > 0 or (max_evals is None and max_iter is None and timeout is None)
        size = self.strategy.population(len(self.space.to_search(self.first)))
        self.constraints = Constraints.read(constraints)
        """Constraints as described; an objective may have some of its own."""
        self.constraints.check(self.model, self.d)
        self.kinds: Kinds | None = None
        """Kinds of constraints, known once values have been told."""
        self.campaign = Campaign(size, step, self.seed, restarts, bool(bipop), budget, limit)
        """The account over all runs."""
        self.injected = np.empty((0, self.d))
        """Points that wait for a place in the next generation."""
        self.late = LatePoints()
        """Open points of runs that have ended."""
        self.history = History(self.space, len(self.space.to_search(self.first)))
        """Numbers of the search after its generations."""
        self.started = time.monotonic()
        self._begin(given)

    def _begin(self, known: Known | None = None) -> None:
        """Begin the run that the campaign is at; the first one may start from known points."""
        start = self.campaign.start(self.x0 if self.campaign.runs else self.first, self.space)
        strategy = with_popsize(self.strategy, start.popsize) if self.campaign.runs else self.strategy
        strategy = strategy_for(self.model, strategy)
        points = None if known is None else known.points(known.table(self.variables), self.space, self.d)
        warm = None if known is None or points is None else known.start(points, start.sigma0)
        self.run = Run(strategy, self.space, start, self.campaign.run_budget(start), self.tolerances, warm)
        """The present run."""
        if self.kinds is not None:
            self.run.constrain(self.kinds)
        self.pending = make_points(self.run, self.model)
        """Points of generations that are told in parts; with a model, of all."""
        if known is not None and points is not None and not known.similar:
            self.campaign = self.campaign.with_known(points.x[0], float(points.f[0]))
            self.pending.know(points.y, points.f)
        self._asked: Asked | None = None
        """A generation that was asked, and of which nothing is told yet."""

    @property
    def state(self) -> State:
        """The strategy's state after the last tell. Setting it draws the next generation anew."""
        return self.run.state

    @state.setter
    def state(self, state: State) -> None:
        self.run.state, self._asked = state, None
        self.pending = self.pending.emptied()

    def ask(self, number: int | None = None) -> np.ndarray:
        """Return the points of the next generation, (popsize, d), inside the bounds; or as many as are wanted.

        Of a generation that was begun these are the points that are left. There are never more than `max_evals` leaves, so
        that the last generation may be a part of one: its values count for the best point. A search that is asked on although
        this budget is used up goes on. Asking again gives fresh points. Those that were asked before can still be told,
        however late. With a model these are the candidates to evaluate now, most promising first; if more are wanted than
        there are candidates, further draws.

        >>> es = Optimizer([1.0, 2.0], popsize=6, method="cma", seed=1)
        >>> es.ask(2).shape
        (2, 2)
        """
        if number is None and self.asks_whole():
            if self._asked is not None:
                self._split(self._asked)
            self._asked = self.run.draw(self.injected)
            return self._asked.x.copy()
        number = None if number is None else int(min(as_count(number, "number"), self.evaluations_left))
        return np.stack([point.x for point in self.ask_points(number)])

    def asks_whole(self) -> bool:
        """Return whether `ask` returns a whole generation next; begin the next run if the present one has ended."""
        self.restart_if_ended()
        return self.model is None and not self.pending and self.evaluations_left >= self.popsize

    def ask_points(self, number: int | None = None, workers: int = 1, first: Sequence[int] = ()) -> list[PendingPoint]:
        """Return points as `ask(number)` does, with their generations and indices.

        With a model and no number, at least as many as there are `workers`; `first` has indices to hand out before others.
        A number is not limited by the budget here.
        """
        self.restart_if_ended()
        number = number if number is None else as_number_of_points(number, self.popsize)
        if self._asked is not None:
            self._split(self._asked)
        while self.pending.lacks(number or 1):
            asked = self.run.draw(self.injected)
            self.injected = self.injected[asked.injected :]
            self.run.move_to(asked.drawn.state)
            self.pending.add(asked, self.run.nit)
        left = self.evaluations_left if self.model is None else self.campaign.evaluations_left(self.run.start) - self.run.nfev
        return self.pending.hand_out(number or self.pending.batch(workers, left), first)

    def tell(self, X: Points, F: Values, G: Rows = None, H: Rows = None, *, foreign: bool = False) -> None:
        """Learn from the values F of points X that were asked, any of them, in any order; NaN or None marks a failure.

        Points that were rounded on the way, such as to float32, are told apart by the open point next to them, if that is
        within 0.01 standard deviations in each coordinate and the next one is at least twice as far.

        With constraints G (n, m) has the values that must not be above 0, and H, if there are any, those that must be 0.

        Every `popsize` values move the search on, whichever points they belong to. A whole generation in any order and in any
        portions gives the same as at once. Values of a run that has ended meanwhile are counted, but teach nothing. With a
        model the search moves on as soon as enough candidates have values; it waits for none that is still open.

        With `foreign=True` there may be other points among X: they count as evaluations, and good ones teach the search.

        >>> es = Optimizer([1.0], popsize=4, method="cma", seed=1)
        >>> X = es.ask()
        >>> es.tell(X[2:], [x[0] ** 2 for x in X[2:]])
        >>> es.tell(X[:2], [None, X[1, 0] ** 2])
        >>> es.nfev, es.nit, es.failures
        (4, 1, 1)
        """
        foreign, told = as_flag(foreign, "foreign"), Told.read(F, G, H, self.kinds)
        asked, points, open_ones = self._asked, X, (self._asked, self.pending.open, self.late.open)
        usual = is_plain(X) and not (foreign or self.late.open) and asked is not None and asked.is_told_by(X, told.f)
        if foreign:
            points = check_foreign(X, len(told.f), self.d, self.space, self.variables, constrained=told.kinds is not None)
        elif not usual:
            points = as_asked(X, *open_ones, self.d, lambda: self.std, self.variables)
        if told.kinds is not None and self.kinds is None:
            self._constrain(told.kinds)
        late, points, places = self.late.split(points, range(len(told.f)))
        present = told.at(places) if late else told
        if foreign:
            points, present = self._tell_foreign(points, present)
        if len(points) or not (late or foreign):
            self._tell_present(points, present, whole=usual)
        for x, i in late:  # after the others: an error among those must not lose these
            self.late.close(x)
            self.campaign = self.campaign.after_late_value(told.best(i, x, self.nfev + 1, self.kinds))

    def _tell_present(self, X: Any, told: Told, *, whole: bool) -> None:
        """Learn from values of the present run; `whole` if they are known to be those of the generation that was asked."""
        asked = self._asked
        if asked is not None and (whole or asked.is_told_by(X, told.f)):
            self.run.count(asked.x, told)
            self.injected = self.injected[asked.injected :]
            self._learn(asked.drawn, told.f, told.rows)
            return
        if asked is not None:
            self.injected = self.injected[asked.injected :]
            self._split(asked)
        if not self.pending.open:
            raise ValueError("there is no open generation to tell: call ask first, and tell each point once")
        points = self.pending.find(X, self.d)
        if len(told.f) != len(points):
            raise ValueError(f"F must hold one value for each of the {len(points)} points of X, got {len(told.f)}")
        told = told.at(order := sorted(range(len(points)), key=lambda i: points[i].place))
        self.run.count(np.reshape([points[i].x for i in order], (-1, self.d)), told)
        self.pending.tell(told.to(points[i] for i in order))
        self._move_on()

    def _tell_foreign(self, X: np.ndarray, told: Told) -> tuple[np.ndarray, Told]:
        """Learn from the values of points that were not asked; return those that were, with their values."""
        if self._asked is not None:
            self.injected = self.injected[self._asked.injected :]
            self._split(self._asked)
        own = np.array([self.pending.holds(x) for x in X], bool)
        x, others = X[~own], told.at(np.flatnonzero(~own))
        self.run.count(x, others)
        self.pending.tell_foreign(x, np.asarray(self.space.to_search(x)), others.f)
        self._move_on()
        return X[own], told.at(np.flatnonzero(own))

    def _constrain(self, kinds: Kinds) -> None:
        """Begin to heed constraints, now that their kinds are known."""
        self.kinds = self.constraints.made(kinds, self.model)
        self.run.constrain(self.kinds)
        self.campaign = self.campaign.without_known()

    def _move_on(self) -> None:
        """Learn from generations that are complete."""
        while (ready := self.pending.complete(self.run.packed, self.run.nit)) is not None:
            e = self.pending.draws(self.run.packed, ready, self.run.nit)
            y, f = np.stack([point.y for point in ready]), np.array([point.f for point in ready])
            e, y, f = self.pending.foreign.join(self.run, e, y, f)
            self._learn(Drawn(e, y, self.run.packed), f, rows_of(ready, self.kinds))

    @property
    def open_points(self) -> list[PendingPoint]:
        """The points of the present run that were asked and not told, oldest first; without a generation asked as a whole."""
        return sorted(self.pending.open_points, key=lambda point: point.place)

    def abandon(self, X: Points, F: Values, G: Rows = None, H: Rows = None) -> None:
        """End the open generation without learning from it; values that are not NaN still count."""
        if self.model is not None:
            raise ValueError("with a model no generation can be abandoned; tell the values that are known")
        told = Told.read(F, G, H, self.kinds)
        if self._asked is None or not self._asked.is_told_by(X, told.f):
            raise ValueError("X and F must be those of the last ask, of which nothing may be told yet")
        known = np.flatnonzero(~np.isnan(told.f))
        self.run.count(self._asked.x[known], told.at(known))
        self.run.move_to(self._asked.drawn.state)
        self._asked = None

    def inject(self, points: Points | Mapping[str, Any]) -> None:
        """Offer known good points: they take the places of samples in the next generation; with a `Space` also mappings.

        >>> es = Optimizer([5.0, 5.0], method="cma", seed=1)
        >>> es.inject([[1.0, 2.0]])
        >>> es.ask()[0].tolist()
        [1.0, 2.0]
        """
        self.injected = np.concatenate([self.injected, check_injected(points, self.d, self.space, variables=self.variables)])

    def stop(self) -> dict[str, float]:
        """Return the reasons to stop, each with its threshold; empty while the present run goes on or another follows."""
        reasons = self._reasons()
        return {} if reasons and self.campaign.follows(reasons, self._spent()) else reasons

    def halt(self, reason: str) -> None:
        """Add a reason to stop from outside: "callback" or "interrupt"."""
        self.run.halted[reason] = self.run.nit

    @property
    def result(self) -> "OptimizeResult":
        """The result of all runs so far; `stop` and `message` are those of the present run, even if another follows."""
        result = self.campaign.include(self._run_result())
        result.history = self.history.copy()
        conclude(result, self.best, self.run.lagrangian)
        if self.variables is not None:
            result.space = self.variables
            if self.variables.names is not None:
                result.point = self.variables.point(result.x)
        return result

    def save(self, path: File, extra: Mapping[str, Any] | None = None) -> None:
        """Write all that the next generation needs to a file of this name, or into one that is open, such as a BytesIO.

        A generation that was asked but not told will be asked again; a pickle or a copy of the search has it, too.
        """
        checkpoint.check_target(self.strategy, path)
        settings = checkpoint.settings_of(self.method, self.options, self.popsize_given, self.campaign)
        search = self._problem(), settings, self.campaign, self.run, self.pending, self.late, self.history
        checkpoint.write(path, checkpoint.take(*search, injected=self.injected, elapsed=self.elapsed, extra=extra or {}))

    @classmethod
    def load(cls, path: File, method: Method | str | Strategy | None = None, x0: Start = None) -> "Optimizer":
        """Continue from a file; pass `method` and `x0` again if they were objects that a file cannot hold.

        >>> es, path = Optimizer([1.0, 2.0], method="cma", seed=1), getfixture("tmp_path") / "run.npz"
        >>> es.save(path)
        >>> bool((Optimizer.load(path).ask() == es.ask()).all())
        True
        """
        saved = checkpoint.read(path)
        es = cls(**checkpoint.arguments(saved, path, method, x0))
        es.restore(saved, path)
        return es

    def restore(self, saved: checkpoint.Snapshot, path: File) -> None:
        """Continue from a snapshot of an optimiser with the same arguments; `path` is named in errors."""
        checkpoint.compare(self._problem(), saved, path)
        self.campaign = checkpoint.campaign_of(saved, self.campaign)
        self.kinds = checkpoint.kinds_of(saved)
        if self.campaign.runs or self.kinds is not None:
            self._begin()
        checkpoint.restore_run(saved, self.run, self.pending, self.late, self.history, path)
        self.injected = saved.arrays["injected"]
        self.started -= saved.contents["elapsed"]

    def _problem(self) -> checkpoint.SavedProblem:
        drawn = callable(self.x0)
        return checkpoint.problem_of(self.strategy, self.model, self.first, drawn, self.campaign, self.space, self.variables)

    def _run_result(self) -> "OptimizeResult":
        method = self.method if isinstance(self.method, str) else repr(self.method)
        return self.run.result(self._reasons(), method=method, seed=self.seed)

    def restart_if_ended(self) -> None:
        """Begin the next run if the present one has ended and another follows."""
        if not self.campaign.restarts or not self._reasons() or self.stop():
            return
        logger.info("%s", self.result.message)
        run, success = self.run, bool(self._run_result().success)
        self.campaign = self.campaign.after(run.nfev, run.nit, run.failures, run.best, success=success)
        self.late.add(self.campaign.runs - 1, self.pending)
        self._begin()

    def _split(self, asked: Asked) -> None:
        """Make the points of a generation that was asked as a whole pending points."""
        self.run.move_to(asked.drawn.state)
        self._asked = None
        self.pending.queue.clear()
        self.pending.add(asked, self.run.nit)
        self.pending.hand_out(len(asked.x))

    def _learn(self, drawn: Drawn | Ahead, f: np.ndarray, rows: np.ndarray | None = None) -> None:
        """Move the search on by a generation."""
        self.pending.move_on(drawn)
        self.run.learn(drawn, f, rows)
        self.run.info |= self.pending.info
        self.history.add(self.scalars, self.run.info, self.run.mean, self.run.std)
        self._asked = None
