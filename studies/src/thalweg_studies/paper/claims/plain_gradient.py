"""PGES, the plain gradient of the expected value, cannot locate a minimum precisely."""

from dataclasses import replace

from thalweg_studies.paper import statistics
from thalweg_studies.paper.arms import JOINT_PGES, PGES
from thalweg_studies.paper.claims.claim import Cases, Claim, Finding
from thalweg_studies.paper.claims.measure import FEW, TOO_FEW, Share, share
from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.race import Race
from thalweg_studies.paper.verdict import AGREES, DIFFERS, UNCLEAR, Verdict

PRECISE = 1e-6
REFERENCE = "xNES"
FAMILIES = {"Gaussian": tuple(arm.name for arm in PGES), "NICE": tuple(arm.name for arm in JOINT_PGES)}

FULL = Race(
    "claim-plain-gradient",
    ("sphere", "rosenbrock"),
    {2: 400},
    arms=(REFERENCE, "GNN-xNES", *FAMILIES["Gaussian"], *FAMILIES["NICE"]),
)
QUICK = replace(FULL, generations={2: 40}, arms=(REFERENCE, FAMILIES["Gaussian"][1], FAMILIES["NICE"][1]))

HEAD = ("function", "d", "algorithm", "runs", f"runs below {PRECISE:g} [95%]", "median best f at the end")


def judge(race: Race, cases: Cases) -> Finding:
    """Whether any learning rate comes to the precision that xNES comes to."""
    rows: list[tuple[str, ...]] = []
    verdicts: list[Verdict] = []
    for function in race.functions:
        for d in race.generations:
            shares: dict[str, Share] = {}
            for method in race.arms:
                final = cases[Case(function, d, method)][:, -1]
                shares[method] = share(final < PRECISE)
                median = statistics.median(final)
                rows.append((function, str(d), method, str(len(final)), str(shares[method]), f"{median:.2g}"))
            for family, names in FAMILIES.items():
                tried = {name: shares[name] for name in names if name in shares}
                if tried:
                    verdicts.append(_verdict(f"{family}, {function}, d = {d}", tried, shares[REFERENCE]))
    budget = " and ".join(f"{race.grid(d)[-1]:,} evaluations" for d in race.generations)
    return Finding(HEAD, rows, verdicts, REMARK.format(budget=budget))


def _verdict(where: str, tried: dict[str, Share], reference: Share) -> Verdict:
    """Against the claim stands the best of the rates, chosen in hindsight."""
    best = max(tried, key=lambda name: tried[name].value)
    few = reference.runs < FEW
    if few or reference.interval[0] <= 0.5:  # the budget must be enough for an algorithm that can
        verdict = UNCLEAR
    elif all(each.interval[1] < 0.5 for each in tried.values()):
        verdict = AGREES
    else:
        verdict = DIFFERS if tried[best].interval[0] > 0.5 else UNCLEAR
    ours = f"runs below {PRECISE:g}: {tried[best]} with the best of {len(tried)} rates ({best}), {REFERENCE} {reference}"
    return Verdict(
        f"Section 4.1, PGES, {where}",
        "cannot locate a minimum precisely",
        ours,
        verdict,
        TOO_FEW if few else "",
    )


REMARK = (
    "Learning rates are a decade apart, and fixed within a run of {budget}. It agrees if with every rate fewer than half of "
    "the runs, and with xNES more than half, come below the precision. The score grows as the distribution shrinks, so a small "
    "rate is slow and a large one throws the distribution about; PGES on the Gaussian has one guard here (`thalweg.PGES`), "
    "without which it would do worse."
)

CLAIM = Claim(
    "PGES cannot locate a minimum precisely",
    "Sections 2.1 and 4.1: the plain gradient is unstable when the distribution concentrates and cannot locate any minimum "
    "precisely; training the NICE distribution with it suffers from the same limitation as the Gaussian.",
    FULL,
    QUICK,
    100,
    judge,
    {
        "Gaussian": (REFERENCE, *FAMILIES["Gaussian"]),
        "NICE": (REFERENCE, "GNN-xNES", *FAMILIES["NICE"]),
    },
    log_x=True,
)
