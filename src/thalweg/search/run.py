"""`Optimizer`: ask for points, tell their values, until `stop` has something to say."""

import logging
import time
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import jax
import numpy as np

from thalweg._common.checks import Seed, as_array, as_count, as_point, as_positive, as_seed, shortened
from thalweg._common.outcome import Failure, to_value
from thalweg.compiled import steps as stepping
from thalweg.compiled.steps import Drawn
from thalweg.search import checkpoint
from thalweg.search.injection import Asked, is_whole, place_given
from thalweg.search.pending import Flight, Point
from thalweg.search.result import make_result
from thalweg.search.stopping import Budget, Generation, StopTests, Tolerances, default_max_iter, spent
from thalweg.space.box import parse_bounds
from thalweg.strategies.registry import make_strategy
from thalweg.strategies.strategy import State, Strategy

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")


class Best(NamedTuple):
    """The best point so far, its value, and the number of evaluations when it was found."""

    x: np.ndarray
    f: float
    nfev: int


class Optimizer:
    """An evolution strategy by hand: ask for points, evaluate them anywhere, tell their values.

    >>> es = Optimizer([1.0, 2.0], sigma0=0.5, method="cma", seed=0, ftarget=1e-9)
    >>> while not es.stop():
    ...     X = es.ask()
    ...     es.tell(X, [float(x @ x) for x in X])
    >>> es.result.message
    'The target value ftarget = 1e-09 was reached.'

    `method` is a name out of `thalweg.METHODS`, or a strategy. `options` holds fields of the strategy (`flow`, `active`, ...)
    and stop tolerances (`tolx`, `tolfun`, ...; see `thalweg.Tolerances`). A budget ends the run with the generation that
    reaches it; without any budget the number of generations is limited as in pycma.
    """

    def __init__(
        self,
        x0: Any,
        sigma0: float = 1.0,
        *,
        method: str | Strategy = "gnn-cma",
        popsize: int | None = None,
        bounds: Any = None,
        seed: Seed = None,
        max_evals: float | None = None,
        max_iter: float | None = None,
        ftarget: float | None = None,
        timeout: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.x0 = as_point(x0)
        self.d = len(self.x0)
        self.sigma0 = as_positive(sigma0, "sigma0", "a third of the distance to where the minimum may be is a good start")
        self.method = method
        self.limits = {"popsize": popsize, "max_evals": max_evals, "max_iter": max_iter, "ftarget": ftarget, "timeout": timeout}
        tolerances, rest = Tolerances.pick(options)
        self.options = dict(options or {})
        self.strategy = make_strategy(method, popsize, **rest)
        self.popsize = self.strategy.population(self.d)
        self.box = parse_bounds(bounds, self.d)
        if self.box is not None and not np.all(self.box.contains(self.x0)):
            i = int(np.flatnonzero(~self.box.contains(self.x0))[0])
            low, high = self.box.low[i], self.box.high[i]
            raise ValueError(f"x0[{i}] = {self.x0[i]:g} lies outside its bounds ({low:g}, {high:g}); move it inside")
        self.seed = as_seed(seed)
        self.budget = Budget.checked(max_evals, max_iter, ftarget, timeout)
        if max_evals is None and max_iter is None and timeout is None:
            self.budget = Budget(max_iter=default_max_iter(self.d, self.popsize), ftarget=self.budget.ftarget)
        self.tests = StopTests(self.d, self.popsize, self.sigma0, tolerances)
        self.best = Best(self.x0.copy(), np.inf, 0)
        self.nfev = 0
        self.failures = 0
        self.info: dict[str, float] = {}
        """What there is to see of the last generation."""
        self.started = time.monotonic()
        self.injected = np.empty((0, self.d))
        """Points that wait for a place in the next generation."""
        self.mean = self.x0 if self.box is None else self.box.out_of(self.x0)
        """Of the search distribution, in the unbounded search space."""
        self.std = np.full(self.d, self.sigma0)
        self.steps = stepping.steps_of(self.strategy, self.d)
        import_module("scipy.optimize")  # for the result; while the compiler is busy this takes no time
        self.drawn: Drawn | None
        """The next generation, if it was drawn ahead."""
        self._state, self.drawn = self.steps.begin(self.seed, self.mean, self.sigma0)
        self.flight = Flight(self.steps, self.popsize)
        """Points of generations that are not told as a whole."""
        self._asked: Asked | None = None
        """A whole generation in the user's hands, of which nothing is told yet."""
        self._halted: dict[str, float] = {}

    @property
    def state(self) -> State:
        """The strategy's state after the last tell; one that is put in its place draws the next generation."""
        return self.steps.shown(self._state)

    @state.setter
    def state(self, state: State) -> None:
        self._state, self.drawn, self._asked = self.steps.hidden(state), None, None
        self.flight = Flight(self.steps, self.popsize)

    @property
    def nit(self) -> int:
        """The number of generations told."""
        return self.tests.nit

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def sigma(self) -> float:
        """The step-size."""
        return self.info.get("sigma", float(np.sqrt(np.mean(self.std**2))))

    def ask(self, number: int | None = None) -> np.ndarray:
        """The points of the next generation, (popsize, d), inside the bounds; or as many as are wanted.

        Asking again gives fresh points. Those that were asked before can still be told, however late.

        >>> es = Optimizer([1.0, 2.0], popsize=6, method="cma", seed=1)
        >>> es.ask(2).shape
        (2, 2)
        """
        if number is None and not self.flight:
            if self._asked is not None:
                self._set_aside(self._asked)
            self._asked = self._draw()
            return self._asked.x.copy()
        return np.stack([point.x for point in self.hand_out(self.popsize if number is None else number)])

    def hand_out(self, number: int) -> list[Point]:
        """As `ask(number)`, but with the places of the points among all: for records of what was evaluated."""
        as_count(number, "number")
        if self._asked is not None:
            self._set_aside(self._asked)
        while len(self.flight.queue) < number:
            asked = self._draw()
            self.injected = self.injected[asked.injected :]
            self._state, self.drawn = asked.drawn.state, None
            self.flight.add(asked.drawn, asked.x, self.nit)
        return self.flight.hand_out(number)

    def tell(self, X: Any, F: Iterable[Any]) -> None:
        """Learn from the values F of points X that were asked, any of them, in any order; NaN or None marks a failure.

        Every `popsize` values move the search on, whichever points they belong to. A whole generation in any order and in any
        portions gives the same as at once.

        >>> es = Optimizer([1.0], popsize=4, method="cma", seed=1)
        >>> X = es.ask()
        >>> es.tell(X[2:], [x[0] ** 2 for x in X[2:]])
        >>> es.tell(X[:2], [None, X[1, 0] ** 2])
        >>> es.nfev, es.nit, es.failures
        (4, 1, 1)
        """
        values, failures = _numbers(F)
        asked = self._asked
        if asked is not None and is_whole(asked.x, X) and len(values) == self.popsize:
            self._count(asked.x, values, failures)
            self.injected = self.injected[asked.injected :]
            self._learn(asked.drawn, values)
            return
        if asked is not None:
            self.injected = self.injected[asked.injected :]
            self._set_aside(asked)
        if not self.flight.open:
            raise ValueError("there is no open generation to tell: call ask first, and tell each point once")
        points = self.flight.find(X, self.d)
        if len(values) != len(points):
            raise ValueError(f"F must hold one value for each of the {len(points)} points of X, got {len(values)}")
        told = sorted(zip(points, values.tolist(), strict=True), key=lambda each: each[0].place)
        self._count(np.reshape([point.x for point, _ in told], (-1, self.d)), np.array([f for _, f in told]), failures)
        self.flight.told(told)
        while (ready := self.flight.ready(self._state, self.nit)) is not None:
            e = self.flight.draws(self._state, ready, self.nit)
            y = np.stack([point.y for point in ready])
            self._learn(Drawn(e, y, self._state), np.array([point.f for point in ready]))

    @property
    def open_points(self) -> list[Point]:
        """The points that were asked and not told yet, oldest first; unless they are a whole generation."""
        return sorted(self.flight.still_open(), key=lambda point: point.place)

    def abandon(self, X: Any, F: Iterable[Any]) -> None:
        """End the open generation without learning from it; those values that are not NaN still count."""
        values, failures = _numbers(F)
        if self._asked is None or not is_whole(self._asked.x, X) or len(values) != self.popsize:
            raise ValueError("X and F must be those of the last ask, of which nothing may be told yet")
        self._count(self._asked.x[~np.isnan(values)], values[~np.isnan(values)], failures)
        self._state, self.drawn, self._asked = self._asked.drawn.state, None, None

    def inject(self, points: Any) -> None:
        """Offer known good points: they take the places of samples in the next generation.

        >>> es = Optimizer([5.0, 5.0], method="cma", seed=1)
        >>> es.inject([[1.0, 2.0]])
        >>> es.ask()[0].tolist()
        [1.0, 2.0]
        """
        given = np.atleast_2d(as_array(points, "points"))
        if given.ndim != 2 or given.shape[1] != self.d:
            raise ValueError(f"points must have shape (n, {self.d}) or ({self.d},), got {np.shape(points)}")
        if not np.all(np.isfinite(given)):
            raise ValueError(f"points must be finite, got {given[~np.isfinite(given).all(1)][0].tolist()}")
        if self.box is not None and not np.all(self.box.contains(given)):
            raise ValueError(f"points must lie inside the bounds, got {given[~self.box.contains(given).all(1)][0].tolist()}")
        self.injected = np.concatenate([self.injected, given])

    def stop(self) -> dict[str, float]:
        """The reasons to stop, each with its threshold; empty while the run should go on."""
        return self.tests.reasons | spent(self.budget, self.nfev, self.nit, self.best.f, self.elapsed) | self._halted

    def halt(self, reason: str) -> None:
        """Add a reason to stop from outside: "callback" or "interrupt"."""
        self._halted[reason] = self.nit

    @property
    def result(self) -> "OptimizeResult":
        """What the run has found so far: `x`, `fun`, `nfev`, `nit`, `success`, `status`, `message`, and more."""
        return self.report(self.stop())

    def report(self, reasons: Mapping[str, float]) -> "OptimizeResult":
        """The result of a run that was ended for these reasons."""
        return make_result(
            self.best.x.copy(),
            self.best.f,
            self.nfev,
            self.nit,
            reasons,
            improved=self.best.f < self.tests.first,
            sigma=self.sigma,
            mean=self.mean.copy() if self.box is None else self.box.into(self.mean),
            std=self.std.copy(),
            popsize=self.popsize,
            method=self.method if isinstance(self.method, str) else repr(self.method),
            seed=self.seed,
            failures=self.failures,
            info=dict(self.info),
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write all that the next generation needs to a file; a generation that was asked but not told will be asked again."""
        checkpoint.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], method: str | Strategy | None = None) -> "Optimizer":
        """Continue from a file; `method` is needed if the optimiser was made with objects that a file cannot hold.

        >>> es, path = Optimizer([1.0, 2.0], method="cma", seed=1), getfixture("tmp_path") / "run.npz"
        >>> es.save(path)
        >>> bool((Optimizer.load(path).ask() == es.ask()).all())
        True
        """
        config = checkpoint.configuration(path, method)
        es = cls(**config)
        checkpoint.restore(es, path)
        return es

    def _draw(self) -> Asked:
        """A generation from the present state, injected points in its first places."""
        e, y, state = self.steps.ask(self._state) if self.drawn is None else self.drawn
        injected = min(len(self.injected), self.popsize)
        if injected:
            given = self.injected[:injected] if self.box is None else self.box.out_of(self.injected[:injected])
            invert = partial(self.steps.invert, self._state)
            e, y = place_given(given, np.asarray(e), np.asarray(y), self.mean, invert)
        x = np.array(y) if self.box is None else self.box.into(np.asarray(y))
        x[:injected] = self.injected[:injected]
        if not np.all(np.isfinite(x)):
            raise RuntimeError(f"the search distribution is no longer finite (after {self.nit} generations); see stop()")
        return Asked(Drawn(e, y, state), x, injected)

    def _set_aside(self, asked: Asked) -> None:
        """Points of a whole generation, from now on one by one."""
        self._state, self.drawn, self._asked = asked.drawn.state, None, None
        self.flight.queue.clear()
        self.flight.add(asked.drawn, asked.x, self.nit)
        self.flight.hand_out(len(asked.x))

    def _learn(self, drawn: Drawn, f: np.ndarray) -> None:
        """One step of the search."""
        ranked = np.sort(f)  # NaN last
        failed = np.isnan(ranked)
        ranked[failed] = np.inf
        if failed[0] and self.tests.failed == 0:
            logger.warning("generation %d has not a single value; its points are ranked by chance", self.nit + 1)
        self.flight.move_on(drawn.state)
        state, ahead, view = self.steps.tell(drawn, f)
        self._state, self.drawn = (state, ahead) if view.finite else (drawn.state, None)
        self.info = view.info
        condition = stepping.covariance_condition(view.scale) if self.nit % 10 == 9 else np.nan
        generation = Generation(ranked, view.mean, view.std, condition, view.finite, self.nfev, self.best.f, self.best.nfev)
        self.tests.observe(generation, self.mean)
        if view.finite:
            self.mean, self.std = view.mean, view.std
        self._asked = None

    def _count(self, x: np.ndarray, f: np.ndarray, failures: int) -> None:
        """Count evaluations and keep the best point."""
        self.failures += failures
        if len(f):
            i = int(np.argmin(np.where(np.isnan(f), np.inf, f)))
            if f[i] < self.best.f:
                self.best = Best(x[i].copy(), float(f[i]), self.nfev + i + 1)
        self.nfev += len(f)


def _numbers(F: Iterable[Any]) -> tuple[np.ndarray, int]:
    """Values as numbers, NaN where there is none, and how often something else was told in their place."""
    try:
        values = F if _is_vector(F) else [to_value(returned) for returned in F]
    except TypeError:
        raise TypeError(f"F must be a sequence of values, one for each point, got {shortened(F)}") from None
    if not isinstance(values, list):
        return np.asarray(values, float), 0
    failed = [value.reason for value in values if isinstance(value, Failure)]
    if failed:
        logger.debug("values were told that are no numbers, the first: %s", failed[0])
    return np.array([np.nan if isinstance(value, Failure) else value for value in values], float), len(failed)


def _is_vector(values: Any) -> TypeGuard[np.ndarray]:
    """Whether the values are numbers already, in an array of numpy or JAX."""
    return isinstance(values, np.ndarray | jax.Array) and values.ndim == 1 and values.dtype.kind in "biuf"
