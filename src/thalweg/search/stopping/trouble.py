"""Criteria for runs that get nowhere: flat values, divergence, degeneracy, failures."""

from thalweg.search.stopping.criterion import Criterion, Tolerance

TOLFLATFITNESS = Tolerance(
    "tolflatfitness",
    "The objective is flat: most values of {:g} generations in a row are equal.",
    success_if_improved=True,  # then the rounding of the values makes them equal
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
    "No generation of the last {:g} had a single finite value.",
    option=False,
    holds=lambda seen, _: seen.failed >= 20,
    threshold=lambda seen, _: seen.failed,
)
NONFINITE = Criterion("nonfinite", "Numerical breakdown: the search distribution is no longer finite after generation {:g}.")
"""Tested before all others, which mean nothing then."""
