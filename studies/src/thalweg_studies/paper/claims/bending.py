"""An ablation of ours: the share of the gain that is due to bending."""

from dataclasses import replace

from thalweg_studies.common.algorithms import AFFINE, ALGORITHMS
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
    compare,
    listed,
    marks,
    overall,
    ratio_row,
)
from thalweg_studies.paper.comparison import Comparison

NAMES = tuple(algorithm.name for algorithm in AFFINE)

FULL = Comparison(
    "claim-bending",
    ("rosenbrock", "bent-cigar"),
    {2: 60, 10: 120},
    algorithms=tuple(
        name for own in NAMES for name in (ALGORITHMS[ALGORITHMS[own].against].against, ALGORITHMS[own].against, own)
    ),
    marks={2: (500, 1000), 10: (5000, 10_000)},
)
QUICK = replace(FULL, generations={2: 40}, algorithms=FULL.algorithms[:3], marks={2: (500,)})


def judge(comparison: Comparison, cases: Cases) -> Finding:
    """Compare NICE with an affine flow, and both with the latent alone."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    for function in comparison.functions:
        for d in comparison.generations:
            for affine in (name for name in NAMES if name in comparison.algorithms):
                nice = ALGORITHMS[affine].against
                latent = ALGORITHMS[nice].against
                for own, other in ((affine, latent), (nice, latent), (nice, affine)):
                    case = Case(function, d, own)
                    found = [compare(comparison, cases, case, other, mark) for mark in marks(comparison, d)]
                    rows += [ratio_row(comparison, cases, case, other, each) for each in found]
                    if other == affine:
                        verdicts.append(_verdict(case, found))
    return Finding(RATIO_HEAD, rows, verdicts, REMARK)


def _verdict(case: Case, found: list[MedianRatio]) -> Verdict:
    few, outcome = found[0].runs < FEW, overall(found)
    return Verdict(
        f"Ablation, {case.method}, {case.function}, d = {case.dimension}",
        "credits the bend (Section 3.3), without this test",
        f"{outcome}; times lower than with the affine flow: {listed(found)} evaluations",
        UNCLEAR if few else {AHEAD: AGREES, BEHIND: DIFFERS}.get(outcome, UNCLEAR),
        TOO_FEW if few else "",
    )


REMARK = (
    "The affine flow is learned by the same step from the same points and cannot bend: it only corrects mean and covariance. "
    "What NICE gains over it is due to bending; what it gains over the latent alone is due to both. The verdict says whether "
    "the bend itself is ahead."
)

CLAIM = Claim(
    "Ablation: how much of the gain is bending",
    "Not a claim of the paper but a question to it: it says that the flow's only role is to introduce non-linearities (Section "
    "3.3), and does not compare with a flow that has none.",
    FULL,
    QUICK,
    50,
    judge,
    {latent: (latent, ALGORITHMS[own].against, own) for own, latent in zip(NAMES, ("xNES", "CMA-ES"), strict=True)},
)
