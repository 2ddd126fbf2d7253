"""The numbers that a search shows: of all runs, and of the present one."""

from math import inf, isfinite

import numpy as np

from thalweg._common.checks import counted, shortened
from thalweg.search.campaign import Best, Campaign
from thalweg.search.copying import Copyable
from thalweg.search.run import Run
from thalweg.strategies.strategy import Strategy


class SearchView(Copyable):
    """Read-only numbers of a search."""

    campaign: Campaign
    """The account over all runs."""
    run: Run
    """The present run."""
    method: str | Strategy
    first: np.ndarray
    """The start of the first run."""

    def __repr__(self) -> str:
        method = self.method if isinstance(self.method, str) else shortened(self.method)
        counts = f"{method}, d = {len(self.first)}, {counted(self.nit, 'generation')}, {counted(self.nfev, 'evaluation')}"
        best = "no value yet" if self.best.f == inf else f"best {self.best.f:.6g}"
        violated = f" with violation {self.best.violation:.3g}" if self.best.violation > 0 else ""
        return f"<{type(self).__name__} {counts}, {best}{violated}>"

    @property
    def nfev(self) -> int:
        """Evaluations over all runs."""
        return self.campaign.nfev + self.run.nfev

    @property
    def nit(self) -> int:
        """Generations told, over all runs."""
        return self.campaign.nit + self.run.nit

    @property
    def failures(self) -> int:
        """Evaluations without a number, over all runs."""
        return self.campaign.failures + self.run.failures

    @property
    def best(self) -> Best:
        """The best point over all runs."""
        return self.campaign.overall(self.run.best) if self.campaign.runs or self.campaign.best is not None else self.run.best

    @property
    def popsize(self) -> int:
        """Points per generation of the present run."""
        return self.run.popsize

    @property
    def mean(self) -> np.ndarray:
        """Mean of the present search distribution, as a point that the objective takes."""
        return np.array(self.run.space.to_objective(self.run.mean))

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of the present search distribution per coordinate, in units of the objective's argument."""
        return self.run.space.spread(self.run.mean, self.run.std)

    @property
    def sigma(self) -> float:
        """Step-size of the present run, in units of the objective's argument."""
        return self.run.sigma

    @property
    def info(self) -> dict[str, float]:
        """Numbers that the strategy shows of the last generation, by name."""
        return self.run.info

    @property
    def scalars(self) -> tuple[float, ...]:
        """The numbers of the last generation that the history keeps, in the order of its `SCALARS`."""
        run = self.run
        return (self.campaign.runs, run.nit, self.nfev, self.failures, self.best.f, run.sigma, *run.axes)

    @property
    def numbers(self) -> dict[str, float]:
        """The step-size, the axes of the search distribution and the strategy's numbers now, by name, where they are finite."""
        unit = self.run.unit
        axes = {"longest": self.run.axes[0] * unit, "shortest": self.run.axes[1] * unit}
        return {name: value for name, value in ({"sigma": self.sigma} | axes | self.info).items() if isfinite(value)}

    @property
    def evaluations_left(self) -> float:
        """Evaluations until `max_evals`; inf without such a budget, and once it is used up."""
        left = (self.campaign.budget.max_evals or np.inf) - self.nfev
        return left if left > 0 else np.inf

    def _reasons(self) -> dict[str, float]:
        """Return the reasons for which the present run has ended, if it has."""
        return self.run.stop() | self._spent()

    def _spent(self) -> dict[str, float]:
        if not self.campaign.budget.limits:
            return {}
        return self.campaign.spent(self.run.nfev, self.run.nit, self.best.reached, self.elapsed)
