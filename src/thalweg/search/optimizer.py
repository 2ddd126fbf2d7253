"""`RestartingOptimizer`: ask and tell over several runs, the next one as soon as one has ended."""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from math import inf
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg._common.checks import Seed, as_array, as_point, as_seed
from thalweg._common.outcome import to_value
from thalweg.search import checkpoint
from thalweg.search.campaign import FINAL, Schedule, Start, Tally, check_restarts, first_point
from thalweg.search.pending import Flight, Point
from thalweg.search.run import Best, Optimizer
from thalweg.search.stopping import Budget, spent
from thalweg.strategies.strategy import Strategy

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")


class RestartingOptimizer:
    """An `Optimizer` that begins again when a run has ended: with twice the population each time, or by BIPOP.

    >>> es = RestartingOptimizer([3.0, 3.0], 0.5, method="cma", restarts=9, seed=6, ftarget=1e-8)
    >>> while not es.stop():
    ...     X = es.ask()
    ...     es.tell(X, [float(x @ x + 20 - 10 * sum(np.cos(2 * np.pi * x))) for x in X])
    >>> es.result.success, es.result.restarts > 0
    (True, True)

    The arguments are those of `Optimizer`, whose place it takes in any loop; budgets and target hold over all runs, and the
    number of generations of each run is limited as in pycma. `restarts` counts the runs with a doubled population; with
    `bipop` there are small runs between them. `x0` may be a callable that draws the start of each run from a numpy Generator;
    otherwise restarts begin anywhere in closed bounds, and at x0 without. `run` is the `Optimizer` of the present run.
    """

    def __init__(
        self,
        x0: Any,
        sigma0: float = 1.0,
        *,
        restarts: int = 9,
        bipop: bool = False,
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
        self.restarts = check_restarts(restarts, bipop)
        self.budget = Budget.checked(max_evals, max_iter, ftarget, timeout)
        self.seed = as_seed(seed)
        self.x0 = x0 if callable(x0) else as_point(x0)
        self.settings: dict[str, Any] = {"method": method, "bounds": bounds, "options": options}
        # None is the default limit, which a run has if nothing else need end it or if another may follow
        self.settings["max_iter"] = None if self.restarts or not self.budget.limited else inf
        self.popsize0 = popsize
        self.run = Optimizer(first_point(x0, self.seed), sigma0, popsize=popsize, seed=self.seed, **self.settings)
        """The present run."""
        self.schedule = Schedule(self.run.popsize, self.run.sigma0, self.seed, bool(bipop))
        self.tally = Tally()
        self.identity = {**checkpoint.identity(self.run), "bipop": bool(bipop)}
        self.ended: list[Flight] = []
        """Of runs that have ended while points of theirs were still out."""
        self.started = time.monotonic()

    @property
    def nfev(self) -> int:
        """Evaluations over all runs; so `nit`, `failures` and `best`."""
        return self.tally.nfev + self.run.nfev

    @property
    def nit(self) -> int:
        """The number of generations told."""
        return self.tally.nit + self.run.nit

    @property
    def failures(self) -> int:
        """How many evaluations gave no number."""
        return self.tally.failures + self.run.failures

    @property
    def best(self) -> Best:
        """The best point so far."""
        if self.tally.x is not None and self.tally.fun <= self.run.best.f:
            return Best(np.array(self.tally.x), self.tally.fun, self.tally.found)
        return self.run.best._replace(nfev=self.tally.nfev + self.run.best.nfev)

    @property
    def d(self) -> int:
        """The number of coordinates."""
        return self.run.d

    @property
    def popsize(self) -> int:
        """Points per generation of the present run; so `mean`, `std`, `sigma` and `info`."""
        return self.run.popsize

    @property
    def mean(self) -> np.ndarray:
        """The mean of the search distribution, in the unbounded search space."""
        return self.run.mean

    @property
    def std(self) -> np.ndarray:
        """Its standard deviation in each coordinate."""
        return self.run.std

    @property
    def sigma(self) -> float:
        """The step-size."""
        return self.run.sigma

    @property
    def info(self) -> dict[str, float]:
        """What there is to see of the last generation."""
        return self.run.info

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    def ask(self, number: int | None = None) -> np.ndarray:
        """Points of the next generation, by default all: that of the next run if one has ended."""
        self._go_on()
        return self.run.ask(number)

    def hand_out(self, number: int) -> list[Point]:
        """As `ask(number)`, but with the places of the points in the present run."""
        self._go_on()
        return self.run.hand_out(number)

    def tell(self, X: Any, F: Iterable[Any]) -> None:
        """Learn from the values F of points X that were asked, any of them, in any order.

        Those of a run that has ended meanwhile count, but teach nothing.
        """
        if not self.ended:
            self.run.tell(X, F)
            return
        points, values = as_array(X, "X"), list(F)
        owners = [next((flight for flight in self.ended if flight.holds(x)), None) for x in np.atleast_2d(points)]
        present = [i for i, flight in enumerate(owners) if flight is None]
        if present or len(values) != len(owners):
            self.run.tell(points[present], [values[i] for i in present] if len(values) == len(owners) else values)
        for i, flight in enumerate(owners):
            if flight is not None:
                value = to_value(values[i])
                flight.forget(points[i])
                self.tally = self.tally.add_late(points[i], value if isinstance(value, float) else None, self.nfev + 1)
        self.ended = [flight for flight in self.ended if flight.open]

    @property
    def open_points(self) -> list[Point]:
        """The points of the present run that were asked and not told yet, oldest first."""
        return self.run.open_points

    def abandon(self, X: Any, F: Iterable[Any]) -> None:
        """End the open generation without learning from it; those values that are not NaN still count."""
        self.run.abandon(X, F)

    def inject(self, points: Any) -> None:
        """Offer known good points: they take the places of samples in the next generation."""
        self.run.inject(points)

    def stop(self) -> dict[str, float]:
        """The reasons to stop for good, each with its threshold; empty while the present run goes on or another follows."""
        reasons = self._reasons()
        return {} if self._another(reasons) else reasons

    def halt(self, reason: str) -> None:
        """Add a reason to stop from outside: "callback" or "interrupt"."""
        self.run.halt(reason)

    @property
    def result(self) -> "OptimizeResult":
        """What all runs have found so far; `stop` and `message` are those of the present run, even if another follows."""
        result = self.tally.include(self.run.report(self._reasons()))
        result.seed = self.seed
        return result

    def save(self, path: str | PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write all that the next generation needs to a file, and with it whatever else is of JSON's types."""
        config = {"sigma0": self.schedule.sigma0, "popsize": self.popsize0, "seed": self.seed, **asdict(self.budget)}
        config |= {"restarts": self.restarts, "bipop": self.schedule.bipop}
        config["x0"] = None if callable(self.x0) else self.x0.tolist()
        account = {"identity": self.identity, "config": config, "elapsed": self.elapsed}
        account |= {"schedule": asdict(self.schedule), "tally": asdict(self.tally)}
        checkpoint.save(self.run, path, {**(extra or {}), "restarts": account})

    @classmethod
    def load(cls, path: str | PathLike[str], method: str | Strategy | None = None, x0: Any = None) -> "RestartingOptimizer":
        """Continue from a file; `method` and `x0` are needed if they were objects that a file cannot hold.

        >>> es, path = RestartingOptimizer([1.0, 2.0], method="cma", seed=1), getfixture("tmp_path") / "run.npz"
        >>> es.save(path)
        >>> bool((RestartingOptimizer.load(path).ask() == es.ask()).all())
        True
        """
        config = read_account(path)["config"]
        config["x0"] = config["x0"] if x0 is None else x0
        if config["x0"] is None:
            raise ValueError(f"checkpoint {fspath(path)!r} is that of starts that a callable draws; pass it as x0")
        run = checkpoint.configuration(path, method)
        es = cls(**config, **{name: run[name] for name in ("method", "bounds", "options")})
        es.restore(path)
        return es

    def restore(self, path: str | PathLike[str]) -> dict[str, Any]:
        """Go to where the file was written by one of the same make; returns what else the file holds."""
        account = read_account(path)
        checkpoint.compare(self.identity, account["identity"], path)
        self.schedule, self.tally = Schedule(**account["schedule"]), Tally(**account["tally"])
        if self.schedule.runs:
            self.run = self._begun()
        extra = checkpoint.restore(self.run, path)
        self.started -= account["elapsed"]
        return extra

    def _reasons(self) -> dict[str, float]:
        """Why the present run has ended, if it has."""
        return self.run.stop() | self._spent()

    def _spent(self) -> dict[str, float]:
        """What of the budget for all runs is used up."""
        return spent(self.budget, self.nfev, self.nit, self.best.f, self.elapsed)

    def _another(self, reasons: Mapping[str, float]) -> bool:
        """Whether another run follows."""
        left = self.schedule.after(self.run.nfev).doubled < self.restarts
        return bool(reasons) and left and reasons.keys().isdisjoint(FINAL) and not self._spent()

    def _go_on(self) -> None:
        """Begin the next run if the present one has ended."""
        reasons = self._reasons()
        if self._another(reasons):
            ended = self.run
            logger.info("%s", self.result.message)
            self.tally = self.tally.add(ended.report(reasons), self.best.nfev)
            self.schedule = self.schedule.after(ended.nfev)
            self.run = self._begun()
            self.run.injected = ended.injected
            if ended.flight.open:
                self.ended.append(ended.flight)

    def _begun(self) -> Optimizer:
        start: Start = self.schedule.start(self.x0, self.run.box)
        limits = {"popsize": start.popsize, "max_evals": start.max_evals, "seed": start.seed}
        return Optimizer(start.x0, start.sigma0, **limits, **self.settings)


def read_account(path: str | PathLike[str]) -> dict[str, Any]:
    """What a checkpoint says about the runs."""
    extra = checkpoint.read(path)[0]["extra"]
    if "restarts" not in extra:
        raise ValueError(
            f"checkpoint {fspath(path)!r} was written neither by minimize nor by a RestartingOptimizer; use Optimizer.load"
        )
    return extra["restarts"]
