"""Default parameters of CMA-ES: those of pycma 4.5, and those of Hansen's tutorial (which `cmaes` implements).

They depend on the dimension d and the population size n alone and are computed with numpy.
"""

from dataclasses import dataclass
from math import exp, inf, lgamma, log, sqrt
from typing import Literal

import numpy as np

Defaults = Literal["pycma", "tutorial"]


@dataclass(frozen=True)
class CMAParameters:
    """Recombination weights and learning rates; the notation is that of Hansen (2016), arXiv:1604.00772."""

    weights: np.ndarray
    """The n weights, best first; the positive ones sum to 1, the negative ones give the active update."""
    mueff: float
    cc: float
    c1: float
    cmu: float
    cs: float
    damps: float
    chi: float
    """E|N(0, I)|, the expected length of a standard normal draw."""
    stall: float
    """The bound on |p_sigma|^2, corrected for its start at 0, above which the path of the rank-one update waits."""
    ahead: int
    """The number of generations that this correction counts ahead: 1 in `cmaes`, 0 in pycma."""
    max_change: float
    """The largest change of ln sigma in a generation."""
    guard: float
    """The constant that keeps the length of a draw with a negative weight away from 0."""


def cma_parameters(
    d: int, n: int, defaults: Defaults = "pycma", *, active: bool = True, separable: bool = False
) -> CMAParameters:
    """Return weights and learning rates for populations of n in dimension d; `separable` for a diagonal covariance."""
    if defaults not in ("pycma", "tutorial"):
        raise ValueError(f"defaults must be 'pycma' or 'tutorial', got {defaults!r}")
    raw = log((n + 1) / 2) - np.log(np.arange(1, n + 1))
    mueff, mueff_minus = effective_number(raw[raw > 0]), effective_number(raw[raw < 0])
    slower, offset = (min(1.0, n / 6), 0.25) if defaults == "pycma" else (1.0, 0.0)
    # a diagonal has d numbers to learn instead of d (d + 1) / 2: Ros & Hansen (2008), docs/math.md (24)
    faster = (d + 2) / 3 if separable else 1.0
    c1 = 2 / ((d + 1.3) ** 2 + mueff) * slower * faster
    cmu = min(1 - c1, faster * 2 * (offset + mueff - 2 + 1 / mueff) / ((d + 2) ** 2 + mueff))
    negative = min(1 + c1 / cmu if cmu > 0 else 0.0, 1 + 2 * mueff_minus / (mueff + 2))
    negative = min(negative, (1 - c1 - cmu) / (d * cmu)) if cmu > 0 else negative
    weights = np.where(raw > 0, raw / raw[raw > 0].sum(), raw * (negative if active else 0.0) / -raw[raw < 0].sum())
    if defaults == "tutorial":
        cs, stretch = (mueff + 2) / (d + mueff + 5), 1.0
        chi = sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d**2))
        stall = ((1.4 + 2 / (d + 1)) * chi) ** 2
    else:  # pycma bounds the decay of the step-size path, damps more where mueff > d >> 1, and has the exact chi
        cs, stretch = min(0.5, (mueff + 2) / (d + mueff + 3)), max(1.0, 3 * (1 - 0.5 ** (d / 9)))
        chi = sqrt(2) * exp(lgamma((d + 1) / 2) - lgamma(d / 2))
        stall = d * (2 + 4 / (d + 1))
    return CMAParameters(
        weights=weights,
        mueff=mueff,
        cc=(4 + mueff / d) / (d + 4 + 2 * mueff / d),
        c1=c1,
        cmu=cmu,
        cs=cs,
        damps=1 + 2 * max(0.0, stretch * sqrt((mueff - 1) / (d + 1)) - 1) + cs,
        chi=chi,
        stall=stall,
        ahead=1 if defaults == "tutorial" else 0,
        max_change=inf if defaults == "tutorial" else 1.0,
        guard=1e-8 if defaults == "tutorial" else 1e-9,
    )


def effective_number(weights: np.ndarray) -> float:
    """Return (sum w)^2 / sum w^2, the number of equal weights that would average as well."""
    return float(weights.sum() ** 2 / (weights**2).sum()) if weights.size else 0.0
