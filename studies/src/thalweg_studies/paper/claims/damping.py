"""The natural gradient of latent and flow together needs a damping that slows it down."""

from dataclasses import replace

import numpy as np

from thalweg_studies.common.algorithms import JOINT_NES
from thalweg_studies.common.experiment import Case
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding
from thalweg_studies.paper.claims.measure import (
    AHEAD,
    BEHIND,
    FEW,
    RATIO_HEAD,
    TOO_FEW,
    MedianRatio,
    Share,
    column,
    compare,
    marks,
    ratio_row,
    share,
)
from thalweg_studies.paper.comparison import Comparison

REFERENCE = "xNES"
NAMES = tuple(algorithm.name for algorithm in JOINT_NES)
PRECISE = 1e-6

FULL = Comparison("claim-damping", ("sphere", "rosenbrock"), {2: 80}, algorithms=(REFERENCE, *NAMES), marks={2: (500, 1000)})
QUICK = replace(FULL, generations={2: 40}, algorithms=(REFERENCE, NAMES[2]), marks={2: (500,)})

HEAD = (*RATIO_HEAD, "stalled [95%]")


def judge(comparison: Comparison, cases: Cases) -> Finding:
    """Judge whether little damping breaks runs, and whether any damping is as fast as xNES."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    tried = [name for name in NAMES if name in comparison.algorithms]
    for function in comparison.functions:
        for d in comparison.generations:
            last: dict[str, MedianRatio] = {}
            halts: dict[str, Share] = {}
            for method in tried:
                case = Case(function, d, method)
                halts[method] = share(stalled(comparison, d, cases[case]))
                for mark in marks(comparison, d):
                    last[method] = compare(comparison, cases, case, REFERENCE, mark)
                    row = ratio_row(comparison, cases, case, REFERENCE, last[method])
                    rows.append((*row, str(halts[method])))
            where = f"{function}, d = {d}"
            if NAMES[0] in halts:
                verdicts.append(_spurious(where, halts))
            verdicts.append(_slow(where, last))
    return Finding(HEAD, rows, verdicts, REMARK)


def stalled(comparison: Comparison, d: int, best: np.ndarray) -> np.ndarray:
    """Mark the runs that found nothing better in the second half of their budget though they had not converged."""
    half = column(comparison, d, int(comparison.grid(d)[-1]) // 2)
    return (best[:, half] <= best[:, -1]) & (best[:, -1] > PRECISE)


def _spurious(where: str, halts: dict[str, Share]) -> Verdict:
    least, most = NAMES[0], list(halts)[-1]
    few, (low, high) = halts[least].runs < FEW, halts[least].interval
    return Verdict(
        f"Section 4.1, little damping, {where}",
        "the natural gradient leads to spurious updates unless it is damped strongly",
        f"runs that stalled: {halts[least]} with {least}, {halts[most]} with {most}",
        UNCLEAR if few else AGREES if low > 0.5 else DIFFERS if high < 0.5 else UNCLEAR,
        TOO_FEW if few else "",
    )


def _slow(where: str, last: dict[str, MedianRatio]) -> Verdict:
    best = max(last, key=lambda name: last[name].lower)  # chosen in hindsight, against the claim
    few, (low, high) = last[best].runs < FEW, last[best].interval
    outcomes = {each.outcome for each in last.values()}
    higher = f"{1 / last[best].lower:.2g} [{1 / high:.2g}, {1 / low:.2g}]"
    return Verdict(
        f"Section 4.1, any damping, {where}",
        "with enough damping it is too slow, and by no means reaches the state of the art",
        f"{higher} times higher than {REFERENCE} after {last[best].mark:,} evaluations with the best of {len(last)} ({best})",
        UNCLEAR if few else AGREES if outcomes == {BEHIND} else DIFFERS if AHEAD in outcomes else UNCLEAR,
        TOO_FEW if few else "",
    )


REMARK = (
    f"Stalled runs found nothing better in the second half of their budget, above {PRECISE:g}. The Fisher matrix is averaged "
    "over 500 draws, which cost no evaluation; the learning rate is 0.3. Below 1, the joint natural gradient is behind xNES."
)

CLAIM = Claim(
    "The joint natural gradient needs a damping that slows it down",
    "Section 4.1: with a Fisher matrix estimated by Monte Carlo, the natural gradient of all parameters together leads to "
    "spurious updates; the damping that keeps J falling is so high that the distribution changes too slowly, above all the "
    "latent's part of it, and does not reach the state of the art.",
    FULL,
    QUICK,
    20,
    judge,
    {"": (REFERENCE, *NAMES)},
)
