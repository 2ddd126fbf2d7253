"""scipy's `OptimizeResult`, which can be printed also while the run goes on, and knows the covariance of the search."""

import numpy as np
from scipy.optimize import OptimizeResult

from thalweg.search.covariance import Covariance


class Result(OptimizeResult):
    """A result; of a run that goes on it has no reason to stop, and scipy cannot show an empty mapping."""

    def __repr__(self) -> str:
        shown = {name: "{}" if isinstance(value, dict) and not value else value for name, value in self.items()}
        return repr(OptimizeResult(shown))

    def with_covariance(self, covariance: Covariance) -> "Result":
        """Return this result, which finds `cov` and `cov_root` once they are asked for."""
        self.__dict__["covariance"] = covariance
        return self

    @property
    def cov_root(self) -> np.ndarray:
        """A matrix A with A A' = `cov`: the search distribution is about that of `mean` + A e, e standard."""
        return self.__dict__["covariance"].root.copy()

    @property
    def cov(self) -> np.ndarray:
        """The covariance of the last search distribution, linearised, in the coordinates of `x`."""
        return self.cov_root @ self.cov_root.T

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "cov", "cov_root"]
