"""Stagnation, as in pycma: neither best nor median values improve over a long part of the history."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from thalweg.search.stopping.criterion import Tolerance

TOLSTAGNATION = Tolerance(
    "tolstagnation",
    "Stagnation: the medians of best and median value have not improved over {:.0f} generations.",
    default=None,  # pycma's 100 + 100 d^1.5 / popsize
    holds=lambda seen, _: seen.stagnates,
    threshold=lambda seen, _: round(seen.stagnation),
)


def stagnation_time(tolerance: float | None, d: int, popsize: int) -> float:
    """Return the number of generations over which the history is compared; 0 turns the criterion off."""
    if tolerance is None:
        return 100 + 100 * d**1.5 / popsize
    return tolerance if isfinite(tolerance) else 0.0


def may_stagnate(d: int, popsize: int, generations: float, nit: Any, since_best: Any) -> Any:
    """Return whether it is time to compare the history; `since_best` counts evaluations."""
    return (
        (generations > 0)
        & (nit % 5 == 0)
        & (nit > d * (5 + 100 / popsize))
        & (since_best / popsize > generations / 2)
        & (nit // 5 > max(100, 2 * _part(generations, 0)))  # the history must be at least as long, see `stagnates`
    )


def stagnates(generations: float, bests: Sequence[float], medians: Sequence[float]) -> bool:
    """Return whether neither bests nor medians of every fifth generation improved from the older to the newer part."""
    part = _part(generations, len(bests))
    return (
        len(bests) > max(100, 2 * part)
        and bool(np.median(medians[-part:]) >= np.median(medians[-2 * part : -part]))
        and bool(np.median(bests[-part:]) >= np.median(bests[-2 * part : -part]))
    )


def _part(generations: float, length: int) -> int:
    """Return the length of the newer part, which is compared with as much before it."""
    return int(max(generations / 5 / 2, length / 10))
