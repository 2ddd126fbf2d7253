"""The latent may be any evolution strategy."""

from dataclasses import replace

import numpy as np

from thalweg_studies.common.algorithms import ALGORITHMS, OTHER_LATENTS
from thalweg_studies.common.experiment import Case
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding
from thalweg_studies.paper.claims.measure import (
    AHEAD,
    BEHIND,
    EVEN,
    FEW,
    RATIO_HEAD,
    TOO_FEW,
    MedianRatio,
    compare_all,
    listed,
    overall,
)
from thalweg_studies.paper.comparison import Comparison

FULL = Comparison(
    "claim-any-latent",
    ("rosenbrock",),
    {2: 60},
    algorithms=("xNES", "GNN-xNES", "CMA-ES", "GNN-CMA-ES", *(algorithm.name for algorithm in OTHER_LATENTS)),
    marks={2: (500, 1000)},
)
QUICK = replace(
    FULL,
    functions=("rosenbrock", "bent-cigar"),  # as other claims have them: all compile the same program
    generations={2: 40},
    algorithms=("xNES", "GNN-xNES"),
    marks={2: (500,)},
)


def judge(comparison: Comparison, cases: Cases) -> Finding:
    """Compare each latent with the library's flow and the latent alone."""

    def verdict(case: Case, other: str, found: list[MedianRatio]) -> Verdict:
        return _verdict(case, found, finite=bool(np.all(np.isfinite(cases[case]))))

    flows = [name for name in comparison.algorithms if not ALGORITHMS[name].baseline]
    rows, verdicts = compare_all(comparison, cases, flows, verdict)
    return Finding(RATIO_HEAD, rows, verdicts, REMARK)


def _verdict(case: Case, found: list[MedianRatio], *, finite: bool) -> Verdict:
    few, outcome = found[0].runs < FEW, overall(found)
    verdict = {AHEAD: AGREES, EVEN: AGREES, BEHIND: DIFFERS}.get(outcome, UNCLEAR)
    return Verdict(
        f"Section 4.2, {ALGORITHMS[case.method].against} as the latent, {case.function}, d = {case.dimension}",
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
        "full covariance": FULL.algorithms[:4],
        "diagonal covariance": FULL.algorithms[4:8],
        "another distribution, another implementation": FULL.algorithms[8:],
    },
)
