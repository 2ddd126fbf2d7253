"""scipy's `OptimizeResult`, which can be printed also while the run goes on."""

from scipy.optimize import OptimizeResult


class Result(OptimizeResult):
    """A result; of a run that goes on it has no reason to stop, and scipy cannot show an empty mapping."""

    def __repr__(self) -> str:
        shown = {name: "{}" if isinstance(value, dict) and not value else value for name, value in self.items()}
        return repr(OptimizeResult(shown))
