"""Real-NVP, which does not preserve volumes, converges prematurely."""

from dataclasses import replace

import numpy as np

from thalweg_studies.common import statistics
from thalweg_studies.common.algorithms import ALGORITHMS, REAL_NVP
from thalweg_studies.common.experiment import Case
from thalweg_studies.common.statistics import Interval
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding
from thalweg_studies.paper.claims.measure import FEW, REACHED, TOO_FEW, column, share, share_difference
from thalweg_studies.paper.comparison import Comparison

NAMES = tuple(algorithm.name for algorithm in REAL_NVP)
UNIMODAL = ("rosenbrock", "bent-cigar")
RARE = 0.1
"""The largest difference of shares that counts as none."""

FULL = Comparison(
    "claim-real-nvp",
    (*UNIMODAL, "rastrigin"),
    {2: 100},
    algorithms=("xNES", "CMA-ES", *(name for own in NAMES for name in (ALGORITHMS[own].against, own))),
)
QUICK = replace(FULL, functions=UNIMODAL, generations={2: 40}, algorithms=("xNES", "GNN-xNES", NAMES[0]))

HEAD = (
    "function", "d", "algorithm", "runs", "converged prematurely [95%]", "median best f at the end",
    "mean best f at the end [95%]",
)  # fmt: skip


def judge(comparison: Comparison, cases: Cases) -> Finding:
    """Compare Real-NVP with NICE, everything else being equal."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    for function in comparison.functions:
        for d in comparison.generations:
            for method in comparison.algorithms:
                best = cases[Case(function, d, method)]
                final, one = best[:, -1], function in UNIMODAL
                early = str(share(premature(comparison, d, best))) if one else ""
                mean = "{:.2g} [{:.2g}, {:.2g}]".format(final.mean(), *statistics.mean_interval(final))
                median = f"{statistics.median(final):.2g}"
                rows.append((function, str(d), method, str(len(final)), early, median, "" if one else mean))
            for method in (name for name in NAMES if name in comparison.algorithms):
                own, nice = (cases[Case(function, d, name)] for name in (method, ALGORITHMS[method].against))
                pairs = min(len(own), len(nice))
                rule = _by_share if function in UNIMODAL else _by_mean
                ours, verdict = rule(comparison, d, own[:pairs], nice[:pairs])
                few = pairs < FEW
                verdicts.append(
                    Verdict(
                        f"Section 3.3, {method}, {function}, d = {d}",
                        "converges prematurely, as it can overfit good samples",
                        ours,
                        UNCLEAR if few else verdict,
                        TOO_FEW if few else "",
                    )
                )
    return Finding(HEAD, rows, verdicts, REMARK)


def premature(comparison: Comparison, d: int, best: np.ndarray) -> np.ndarray:
    """Mark the runs that stopped short of the minimum: above `REACHED`, and less than halved in their last tenth."""
    late = column(comparison, d, int(np.ceil(0.9 * comparison.generations[d])) * 10 * d)
    return (best[:, -1] > REACHED) & (best[:, -1] > 0.5 * best[:, late])


def _by_share(comparison: Comparison, d: int, own: np.ndarray, nice: np.ndarray) -> tuple[str, str]:
    early, reference = premature(comparison, d, own), premature(comparison, d, nice)
    difference = share_difference(early, reference)
    low, high = difference.interval
    return (
        f"premature runs with Real-NVP against NICE: {difference}",
        AGREES if low > 0 else DIFFERS if high < RARE else UNCLEAR,
    )


def _by_mean(comparison: Comparison, d: int, own: np.ndarray, nice: np.ndarray) -> tuple[str, str]:
    difference = own[:, -1] - nice[:, -1]
    interval: Interval = statistics.mean_interval(difference)
    low, high = interval
    ours = f"mean f at the end: {own[:, -1].mean():.2g}, NICE {nice[:, -1].mean():.2g}; difference {difference.mean():+.2g}"
    return f"{ours} [{low:+.2g}, {high:+.2g}]", AGREES if low > 0 else DIFFERS if high < 0 else UNCLEAR


REMARK = (
    f"A run has converged prematurely if it ended above {REACHED:g} on a function with one minimum and did not even halve its "
    "value in the last tenth of its budget; on the Rastrigin function the minimum that was found counts. The claim agrees "
    f"where Real-NVP is clearly worse than NICE, and differs where it is better or at most {RARE:.0%} of the runs worse."
)

CLAIM = Claim(
    "Real-NVP converges prematurely",
    "Section 3.3: flows that do not preserve volumes, like Real-NVP, can easily overfit on good samples and converge "
    "prematurely; NICE leaves concentrating to the latent.",
    FULL,
    QUICK,
    100,
    judge,
    {
        f"{latent}, {step}": (latent, ALGORITHMS[own].against, own)
        for own, latent, step in zip(
            NAMES, ("xNES", "xNES", "CMA-ES", "CMA-ES"), ("default step", "the paper's step") * 2, strict=True
        )
    },
)
