"""The latent may be any evolution strategy."""

from dataclasses import replace

import numpy as np

from thalweg_studies.paper.arms import ARMS, OTHER_LATENTS
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding
from thalweg_studies.paper.claims.measure import (
    AHEAD,
    BEHIND,
    COMPARISON_HEAD,
    EVEN,
    FEW,
    TOO_FEW,
    Comparison,
    compare_all,
    listed,
    overall,
)
from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.race import Race
from thalweg_studies.paper.verdict import AGREES, DIFFERS, UNCLEAR, Verdict

FULL = Race(
    "claim-any-latent",
    ("rosenbrock",),
    {2: 60},
    arms=("xNES", "GNN-xNES", "CMA-ES", "GNN-CMA-ES", *(arm.name for arm in OTHER_LATENTS)),
    marks={2: (500, 1000)},
)
QUICK = replace(
    FULL,
    functions=("rosenbrock", "bent-cigar"),  # as other claims have them: all compile the same program
    generations={2: 40},
    arms=("xNES", "GNN-xNES"),
    marks={2: (500,)},
)


def judge(race: Race, cases: Cases) -> Finding:
    """Each latent with the library's flow against the latent alone."""

    def verdict(case: Case, other: str, found: list[Comparison]) -> Verdict:
        return _verdict(case, found, finite=bool(np.all(np.isfinite(cases[case]))))

    flows = [name for name in race.arms if not ARMS[name].baseline]
    rows, verdicts = compare_all(race, cases, flows, verdict)
    return Finding(COMPARISON_HEAD, rows, verdicts, REMARK)


def _verdict(case: Case, found: list[Comparison], *, finite: bool) -> Verdict:
    few, outcome = found[0].runs < FEW, overall(found)
    verdict = {AHEAD: AGREES, EVEN: AGREES, BEHIND: DIFFERS}.get(outcome, UNCLEAR)
    return Verdict(
        f"Section 4.2, {ARMS[case.method].against} as the latent, {case.function}, d = {case.dimension}",
        "GNN-ES can incorporate virtually any evolution strategy",
        f"{'runs' if finite else 'breaks down'}, {outcome}; times lower than the latent alone: {listed(found)} evaluations",
        DIFFERS if not finite else UNCLEAR if few else verdict,
        TOO_FEW if few else "",
    )


REMARK = (
    "The library's default step; pycma is a Python object that JAX cannot trace, so its flow acts in raw coordinates, and it "
    "runs from fewer seeds. It agrees if all runs work and the flow is not clearly behind its latent alone: that it improves "
    "every one of them, the paper does not say. SNES and sep-CMA-ES have diagonal covariances, which cannot "
    "follow a curved valley."
)

CLAIM = Claim(
    "The latent may be any evolution strategy",
    "Section 4.2, latent space optimization: GNN-ES incorporates virtually any existing evolution strategy, on any standard "
    "distribution, as the optimiser of its latent.",
    FULL,
    QUICK,
    100,
    judge,
    {
        "full covariance": FULL.arms[:4],
        "diagonal covariance": FULL.arms[4:8],
        "another distribution, another implementation": FULL.arms[8:],
    },
)
