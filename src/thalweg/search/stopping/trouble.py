"""Criteria for runs that get nowhere: flat values, divergence, degeneracy, failures."""

from math import inf

from thalweg.search.stopping.criterion import Criterion, Tolerance

TOLFLATFITNESS = Tolerance(
    "tolflatfitness",
    "Converged to the resolution of the objective: most values of {:.0f} generations in a row are equal.",
    success=True,
    flat="The objective is flat: most values of {:.0f} generations in a row are equal.",
    default=1,
    holds=lambda seen, tolerance: (seen.flat > tolerance) & (seen.flat > seen.patience),
    threshold=lambda seen, _: seen.flat,
)
TOLCONDITIONCOV = Tolerance(
    "tolconditioncov",
    "The condition number of the covariance exceeds tolconditioncov = {:g}.",
    default=1e14,
    holds=lambda seen, tolerance: (seen.condition > tolerance) & (tolerance > 0),
)
TOLFACUPX = Tolerance(
    "tolfacupx",
    "Diverged: a standard deviation has grown beyond tolfacupx = {:g} times sigma0.",
    default=1e3,
    holds=lambda seen, tolerance: (seen.largest > tolerance * seen.sigma0) & (tolerance > 0),
)
FAILURES = Tolerance(
    "failures",
    "No generation of the last {:.0f} had a single finite value.",
    option=False,
    holds=lambda seen, _: seen.failed >= 20,
    threshold=lambda seen, _: seen.failed,
)
UNBOUNDED = Tolerance(
    "unbounded",
    "The objective is -inf at x, and no value can be lower.",
    final=True,
    option=False,
    holds=lambda seen, _: seen.best_f == -inf,
)
NONFINITE = Criterion(
    "nonfinite",
    "Numerical breakdown: in generation {:.0f} the search distribution has left the range of floating-point numbers.",
)
"""Tested before all others, which mean nothing then."""
LARGEST = 1e150
"""Standard deviations from here on are a breakdown. Only a search that diverges gets there, and the next points overflow."""
