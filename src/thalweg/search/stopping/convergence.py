"""Criteria of convergence, with pycma's names and defaults."""

from thalweg.search.stopping.criterion import Observed, Tolerance


def _small_steps(seen: Observed, tolerance: float) -> bool:
    return seen.step < tolerance * seen.sigma0


TOLX = Tolerance(
    "tolx",
    "Converged: steps and standard deviations are below tolx = {:g} times sigma0.",
    success=True,
    default=1e-11,
    holds=_small_steps,
)
TOLFUN = Tolerance(
    "tolfun",
    "Converged: recent values differ by less than tolfun = {:g}.",
    success=True,
    flat="The objective is flat: recent values are equal.",
    default=1e-11,
    holds=lambda seen, tolerance: (
        (seen.range_now < tolerance) & (seen.range_recent < tolerance) & (seen.remembered >= seen.patience)
    ),
)
TOLFUNHIST = Tolerance(
    "tolfunhist",
    "Converged: the best values of recent generations differ by less than tolfunhist = {:g}.",
    success=True,
    flat="The objective is flat: the best values of recent generations are equal.",
    default=1e-12,
    holds=lambda seen, tolerance: (seen.remembered > 9) & (seen.range_recent < tolerance) & (seen.remembered >= seen.patience),
)
NOEFFECTCOORD = Tolerance(
    "noeffectcoord",
    "Converged: a step of 0.2 standard deviations no longer changes coordinate {:.0f}.",
    success=True,
    option=False,
    holds=lambda seen, _: seen.still >= 0,
    threshold=lambda seen, _: seen.still,
)
