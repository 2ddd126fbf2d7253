"""The initial lambda hardly matters."""

from dataclasses import replace

from thalweg_studies.common.algorithms import FIRST_PENALTY, PENALTIES
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

REFERENCE = "GNN-xNES (paper)"
NAMES = tuple(algorithm.name for algorithm in FIRST_PENALTY)
LITTLE = 0.25
"""The share of the runs below which a difference counts as little."""

FULL = Comparison(
    "claim-first-penalty",
    ("rosenbrock", "bent-cigar"),
    {2: 60},
    algorithms=(REFERENCE, *NAMES),
    marks={2: (500, 1000)},
)
QUICK = replace(FULL, generations={2: 40}, algorithms=(REFERENCE, NAMES[-1]), marks={2: (500,)})


def judge(comparison: Comparison, cases: Cases) -> Finding:
    """Compare each lambda_0 with the default of 10."""

    def verdict(case: Case, other: str, found: list[MedianRatio]) -> Verdict:
        return _verdict(case, found, successes(cases, case, other))

    rows, verdicts = compare_all(comparison, cases, NAMES, verdict)
    return Finding(RATIO_HEAD, rows, verdicts, REMARK)


def _verdict(case: Case, found: list[MedianRatio], difference: Difference) -> Verdict:
    few, (low, high) = difference.first.runs < FEW, difference.interval
    verdict = UNCLEAR if few else AGREES if max(-low, high) < LITTLE else DIFFERS if low > 0 or high < 0 else UNCLEAR
    return Verdict(
        f"Section 4.2, {case.method.rpartition(', ')[2]}, {case.function}, d = {case.dimension}",
        "the initial lambda has little practical impact",
        f"runs below {REACHED:g} against lambda0 = 10: {difference}; times lower: {listed(found)} evaluations",
        verdict,
        TOO_FEW if few else f"a difference of {LITTLE:.0%} of the runs is not excluded" if verdict == UNCLEAR else "",
    )


REMARK = (
    f"lambda0 = {', '.join(f'{value:g}' for value in PENALTIES)} against 10, with the paper's step. It agrees if a difference "
    f"of {LITTLE:.0%} of the runs that come below {REACHED:g} is excluded either way, and differs if there clearly is one. A "
    "generation changes lambda by a factor of 1.5 at most, so from 0.1 or 100 to 10 it takes 6 to 12 generations of 20 "
    "evaluations."
)

CLAIM = Claim(
    "The initial lambda hardly matters",
    "Section 4.2: the initial value of the penalty coefficient lambda has little practical impact, as it is quickly adapted.",
    FULL,
    QUICK,
    50,
    judge,
    {"": (REFERENCE, *NAMES)},
)
