"""Points of former generations bring little for the flow."""

from dataclasses import replace

from thalweg_studies.common.algorithms import ALGORITHMS, HISTORY
from thalweg_studies.common.experiment import Case
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding
from thalweg_studies.paper.claims.measure import (
    FEW,
    RATIO_HEAD,
    REACHED,
    TOO_FEW,
    Difference,
    MedianRatio,
    compare_all,
    listed,
    successes,
)
from thalweg_studies.paper.comparison import Comparison

NAMES = tuple(algorithm.name for algorithm in HISTORY)
UPLIFT = 0.25
"""The additional share of converged runs that would be an uplift."""

FULL = Comparison(
    "claim-history",
    ("rosenbrock", "bent-cigar"),
    {2: 60},
    algorithms=tuple(name for own in NAMES for name in (ALGORITHMS[own].against, own)),
    marks={2: (500, 1000)},
)
QUICK = replace(FULL, generations={2: 40}, algorithms=(ALGORITHMS[NAMES[0]].against, NAMES[0]), marks={2: (500,)})


def judge(comparison: Comparison, cases: Cases) -> Finding:
    """Compare a flow that learns from five generations with one that learns from the last."""

    def verdict(case: Case, other: str, found: list[MedianRatio]) -> Verdict:
        return _verdict(case, found, successes(cases, case, other))

    rows, verdicts = compare_all(comparison, cases, NAMES, verdict)
    return Finding(RATIO_HEAD, rows, verdicts, REMARK)


def _verdict(case: Case, found: list[MedianRatio], difference: Difference) -> Verdict:
    few, (low, high) = difference.first.runs < FEW, difference.interval
    verdict = UNCLEAR if few else DIFFERS if low > 0 else AGREES if high < UPLIFT else UNCLEAR
    return Verdict(
        f"Section 4.2, historic data, {case.method}, {case.function}, d = {case.dimension}",
        "no significant uplift",
        f"runs below {REACHED:g} with five generations against one: {difference}; times lower: {listed(found)} evaluations",
        verdict,
        TOO_FEW if few else f"an uplift of {UPLIFT:.0%} of the runs is not excluded" if verdict == UNCLEAR else "",
    )


REMARK = (
    f"It differs if clearly more runs come below {REACHED:g} with history, and agrees if {UPLIFT:.0%} more are excluded. "
    "Above 1, the flow learns better from the last five generations than from the last one. This is for the paper's N = 10 d: "
    "the library's default step keeps several generations only for smaller populations (`docs/trust_region.md`), where they "
    "are needed; that is outside this experiment."
)

CLAIM = Claim(
    "Historic data brings little",
    "Section 4.2, using historic data: points of former generations can be kept in a buffer and used for the flow's step, but "
    "on the landscapes considered this brought no significant uplift.",
    FULL,
    QUICK,
    50,
    judge,
    {latent: (ALGORITHMS[own].against, own) for own, latent in zip(NAMES, ("xNES", "CMA-ES"), strict=True)},
)
