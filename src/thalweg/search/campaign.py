"""A campaign of runs: which run follows which (IPOP: Auger and Hansen 2005; BIPOP: Hansen 2009), and the account over all."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from math import inf, log2
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thalweg._common.checks import as_count, as_flag, as_point, as_seed
from thalweg.search.stopping import Budget, default_max_iter, is_final
from thalweg.space import SpaceMap

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


class Start(NamedTuple):
    """The beginning of a run."""

    x0: np.ndarray
    sigma0: float
    popsize: int
    seed: int
    max_evals: int | None
    """Evaluations of this run alone; None is no limit."""


class Best(NamedTuple):
    """The best point, its value, and the number of evaluations when it was found."""

    x: np.ndarray
    f: float
    nfev: int
    violation: float = 0.0
    """Largest violation of a constraint; 0 where the point is feasible, or where there are no constraints."""
    rows: np.ndarray | None = None
    """Values of its constraints."""

    @property
    def order(self) -> tuple[float, float]:
        """Key by which points compare: the smaller violation first, then the smaller value."""
        return self.violation, self.f

    @property
    def reached(self) -> float:
        """The value that counts for a target: that of a feasible point."""
        return self.f if self.violation == 0 else inf


@dataclass(frozen=True, eq=False)
class Campaign:
    """The account of a search over its runs; host and batch keep the same one.

    IPOP doubles the population with each restart. BIPOP has two regimes: large runs, which are those of IPOP, and small runs,
    which search locally from fresh points at a fraction of sigma0. Next comes the regime that has taken fewer evaluations so
    far; the first run counts as a small one.

    >>> campaign = Campaign(popsize=6, sigma0=2.0, seed=1, restarts=9, bipop=True)
    >>> for evaluations in (500, 900, 300, 200):
    ...     print(campaign.large, campaign.start(np.zeros(2), SpaceMap()).popsize)
    ...     campaign = campaign.after(evaluations, 10, 0, Best(np.zeros(2), 1.0, 1), success=False)
    False 6
    True 12
    False 6
    False 6
    """

    popsize: int
    """Population of the first run."""
    sigma0: float
    seed: int
    restarts: int = 0
    """Number of large runs after the first run."""
    bipop: bool = False
    budget: Budget = field(default_factory=Budget)
    """Limits over all runs."""
    limit_generations: bool = True
    """True if the generations of each run are limited as in pycma."""

    runs: int = 0
    """Number of finished runs; they are counted in all that follows."""
    large_runs: int = 0
    small_evals: int = 0
    large_evals: int = 0
    last_large_evals: int = 0
    """Evaluations of the last large run."""
    nfev: int = 0
    nit: int = 0
    failures: int = 0
    best: Best | None = None
    success: bool = False
    """True if the run that found the best point ended with success."""

    @property
    def large(self) -> bool:
        """True if the present run has twice the population of the last large one."""
        return self.runs > 0 and not (self.bipop and self.small_evals < max(1, self.large_evals))  # as in pycma's fmin

    def start(self, x0: Any, space: SpaceMap) -> Start:
        """Return the beginning of the present run.

        `x0` is a point, or a callable that draws one from a generator. A restart from a given point begins at a random point
        where the space is closed.
        """
        source = np.random.SeedSequence(self.seed, spawn_key=(self.runs,))
        rng, child = np.random.default_rng(source), source.spawn(1)[0]
        seed = as_seed(child) if self.runs else self.seed
        point = as_point(x0(rng), "x0(generator)") if callable(x0) else as_point(x0)
        if self.runs == 0:
            return Start(point, self.sigma0, self.popsize, seed, None)
        if not callable(x0):
            point = space.restart_point(point, rng)
        if self.large:
            return Start(point, self.sigma0, self.popsize * 2 ** (self.large_runs + 1), seed, None)
        # Hansen 2009: between the default population and half the last large one. Rounded to half a doubling, so that many
        # problems side by side need few compiled programs; all engines do the same.
        halves = round(2 * log2(2**self.large_runs / 2) * rng.uniform() ** 2)
        popsize = round(self.popsize * 2 ** (halves / 2))
        return Start(point, self.sigma0 * 10 ** (-2 * rng.uniform()), popsize, seed, max(1, self.last_large_evals // 2))

    def run_budget(self, start: Start) -> Budget:
        """Return the limits of a run alone."""
        limit = self.limit_generations and start.max_evals is None
        max_iter = default_max_iter(len(start.x0), start.popsize) if limit else None
        return Budget(max_evals=start.max_evals, max_iter=max_iter)

    def evaluations_left(self, start: Start) -> float:
        """Return the evaluations that a run may take at most; inf is no limit."""
        return min((self.budget.max_evals or inf) - self.nfev, start.max_evals or inf)

    def spent(self, nfev: int, nit: int, best_f: float, elapsed: float) -> dict[str, float]:
        """Return the limits that are reached, given the counts of the present run and the best value of all runs."""
        return self.budget.spent(self.nfev + nfev, self.nit + nit, best_f, elapsed)

    def follows(self, reasons: Mapping[str, float], spent: Mapping[str, float]) -> bool:
        """Return whether another run follows one that ended for these reasons, given the limits that are reached."""
        return bool(reasons) and not spent and not is_final(reasons) and self.large_runs + self.large < self.restarts

    def overall(self, present: Best) -> Best:
        """Return the best point of all runs, given that of the present one."""
        if self.best is not None and self.best.order <= present.order:
            return self.best
        return present._replace(nfev=self.nfev + present.nfev)

    def with_known(self, x: np.ndarray, f: float) -> "Campaign":
        """Return the campaign with a best point that was known before it began."""
        return replace(self, best=Best(x.copy(), f, 0))

    def without_known(self) -> "Campaign":
        """Return the campaign without a best point that was known before: nothing is known of its constraints."""
        return replace(self, best=None) if self.best is not None and self.best.nfev == 0 else self

    def after(self, nfev: int, nit: int, failures: int, best: Best, *, success: bool) -> "Campaign":
        """Return the campaign once the present run has ended."""
        overall = self.overall(best)
        before = overall is self.best and overall.nfev > 0  # a known point is no run's find
        if self.large:
            more: dict[str, Any] = {
                "large_runs": self.large_runs + 1,
                "large_evals": self.large_evals + nfev,
                "last_large_evals": nfev,
            }
        else:
            more = {"small_evals": self.small_evals + nfev}
        return replace(
            self,
            runs=self.runs + 1,
            nfev=self.nfev + nfev,
            nit=self.nit + nit,
            failures=self.failures + failures,
            best=overall,
            success=self.success if before else success,
            **more,
        )

    def after_late_value(self, found: Best | None) -> "Campaign":
        """Return the campaign with one more value of a finished run; None is a failure."""
        counted = replace(self, nfev=self.nfev + 1, failures=self.failures + (found is None))
        if found is None or (self.best is not None and not found.order < self.best.order):
            return counted
        return replace(counted, best=found)

    def include(self, result: "OptimizeResult") -> "OptimizeResult":
        """Return the result of the present run as that of all runs so far."""
        combined = copy(result)
        combined.update(
            nfev=result.nfev + self.nfev,
            nit=result.nit + self.nit,
            failures=result.failures + self.failures,
            restarts=self.runs,
        )
        if self.best is not None and self.best.order <= (result.get("violation", 0.0), result.fun):
            found = self.success or "ftarget" in result.stop or (self.best.nfev == 0 and result.success)
            combined.update(x=self.best.x.copy(), fun=self.best.f, success=found)
        if self.runs:
            combined.message = f"{result.message} Best of {self.runs + 1} runs."
        return combined


def first_point(x0: Any, seed: int) -> np.ndarray:
    """Return the start of the first run."""
    return Campaign(popsize=2, sigma0=1.0, seed=seed).start(x0, SpaceMap()).x0


def check_restarts(restarts: Any, bipop: Any) -> int:
    """Return the number of restarts from a user's arguments."""
    restarts = as_count(restarts, "restarts", least=0)
    if as_flag(bipop, "bipop") and restarts == 0:
        raise ValueError("bipop=True needs restarts, got restarts=0; pass the number of large restarts, such as restarts=9")
    return restarts
