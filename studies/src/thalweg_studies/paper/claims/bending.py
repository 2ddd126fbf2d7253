"""An ablation of ours: how much of the gain is bending."""

from dataclasses import replace

from thalweg_studies.paper.arms import AFFINE, ARMS
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding
from thalweg_studies.paper.claims.measure import (
    AHEAD,
    BEHIND,
    COMPARISON_HEAD,
    FEW,
    TOO_FEW,
    Comparison,
    compare,
    comparison_row,
    listed,
    marks,
    overall,
)
from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.race import Race
from thalweg_studies.paper.verdict import AGREES, DIFFERS, UNCLEAR, Verdict

NAMES = tuple(arm.name for arm in AFFINE)

FULL = Race(
    "claim-bending",
    ("rosenbrock", "bent-cigar"),
    {2: 60, 10: 120},
    arms=tuple(name for own in NAMES for name in (ARMS[ARMS[own].against].against, ARMS[own].against, own)),
    marks={2: (500, 1000), 10: (5000, 10_000)},
)
QUICK = replace(FULL, generations={2: 40}, arms=FULL.arms[:3], marks={2: (500,)})


def judge(race: Race, cases: Cases) -> Finding:
    """NICE against a flow that is affine, and both against the latent alone."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    for function in race.functions:
        for d in race.generations:
            for affine in (name for name in NAMES if name in race.arms):
                bent = ARMS[affine].against
                latent = ARMS[bent].against
                for own, other in ((affine, latent), (bent, latent), (bent, affine)):
                    case = Case(function, d, own)
                    found = [compare(race, cases, case, other, mark) for mark in marks(race, d)]
                    rows += [comparison_row(race, cases, case, other, each) for each in found]
                    if other == affine:
                        verdicts.append(_verdict(case, found))
    return Finding(COMPARISON_HEAD, rows, verdicts, REMARK)


def _verdict(case: Case, found: list[Comparison]) -> Verdict:
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
    {latent: (latent, ARMS[own].against, own) for own, latent in zip(NAMES, ("xNES", "CMA-ES"), strict=True)},
)
