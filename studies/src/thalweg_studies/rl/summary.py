"""What the runs say: returns on the way and at the end, evaluations to given returns, and the paper's sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np

from thalweg_studies.paper.arms import ARMS
from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.statistics import Interval
from thalweg_studies.paper.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.rl.race import PolicyRace, Runs

PAPER_SEEDS = 5
CLAIM = "GNN-xNES discovers behaviours of high rewards faster than xNES"


@dataclass(frozen=True)
class Reach:
    """When runs reached a return: the first population whose mean is as high."""

    target: float
    evaluations: tuple[float, ...]
    """Of each run; inf if never."""

    @property
    def reached(self) -> int:
        """How many runs did."""
        return sum(map(isfinite, self.evaluations))

    @property
    def shown(self) -> str:
        """The median over all runs and the quickest and slowest, for people."""
        if not self.reached:
            return f"never; 0 of {len(self.evaluations)}"
        low, middle, high = (
            f"{value:,.0f}" if isfinite(value) else "never"
            for value in (min(self.evaluations), float(np.median(self.evaluations)), max(self.evaluations))
        )
        return f"{middle} [{low}, {high}]; {self.reached} of {len(self.evaluations)}"


@dataclass(frozen=True)
class Entry:
    """One arm in one environment."""

    method: str
    runs: int
    area: float
    """The mean return over all populations of a run."""
    ahead: tuple[float, Interval] | None
    """How much higher that is than the latent's from the same seeds, with its 95% interval; None for the latent itself."""
    reaches: tuple[Reach, ...]
    final: float
    """The mean return of the last policies in fresh rollouts."""
    interval: Interval
    best: float
    """Of the last policies."""


def summarise(race: PolicyRace, cases: Mapping[Case, Runs]) -> list[Entry]:
    """One entry for each arm that has runs."""
    entries: list[Entry] = []
    for case, runs in cases.items():
        latent = cases.get(case._replace(method=ARMS[case.method].against))
        area = runs.mean.mean(1)
        ahead = None
        if latent is not None and not ARMS[case.method].baseline:
            pairs = min(len(area), len(latent.mean))
            difference = area[:pairs] - latent.mean.mean(1)[:pairs]
            ahead = float(difference.mean()), t_interval(difference)
        reaches = tuple(reach(race, runs.mean, target) for target in race.targets)
        final = float(runs.final.mean()), t_interval(runs.final)
        entries.append(Entry(case.method, len(area), float(area.mean()), ahead, reaches, *final, float(runs.final.max())))
    return entries


def reach(race: PolicyRace, means: np.ndarray, target: float) -> Reach:
    """When each run, a row of population means, reached the target."""
    there = means >= target
    first = np.where(there.any(1), race.evaluations[there.argmax(1)], inf)
    return Reach(target, tuple(first.tolist()))


def t_interval(values: np.ndarray) -> Interval:
    """The 95% interval of a mean by Student's t: with five runs a bootstrap's is too narrow.

    >>> low, high = t_interval(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    >>> round(low, 2), round(high, 2)
    (1.04, 4.96)
    """
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return -inf, inf
    half = float(stdtrit(n - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(n)
    return float(values.mean()) - half, float(values.mean()) + half


def head(race: PolicyRace) -> tuple[str, ...]:
    """Of the table."""
    targets = (f"evaluations to {target:,.0f}: median [all runs]; how many" for target in race.targets)
    return (
        "algorithm",
        "runs",
        "mean return over the run",
        "ahead of its latent by [95%]",
        *targets,
        "last policy [95%]",
        "best",
    )


def table(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """The cells, for people, under `head`."""
    return [
        (
            entry.method,
            str(entry.runs),
            f"{entry.area:z,.0f}",
            "" if entry.ahead is None else _with_interval(*entry.ahead),
            *(reach.shown for reach in entry.reaches),
            _with_interval(entry.final, entry.interval),
            f"{entry.best:,.0f}",
        )
        for entry in entries
    ]


def verdicts(race: PolicyRace, entries: Sequence[Entry]) -> list[Verdict]:
    """For each flow: whether it is faster than its latent, by the mean return over the run from the same seeds."""
    goal, lines = race.targets[-1], list[Verdict]()
    for entry in entries:
        if entry.ahead is None:
            continue
        arm = ARMS[entry.method]
        latent = next(other for other in entries if other.method == arm.against)
        gain, (low, high) = entry.ahead
        said = CLAIM if arm.against == "xNES" else "nothing: CMA-ES was not run"
        few = entry.runs < PAPER_SEEDS
        verdict = UNCLEAR if few or low <= 0 <= high else AGREES if low > 0 else DIFFERS
        why = (
            f"fewer than {PAPER_SEEDS} runs"
            if few
            else f"the interval over {entry.runs} seeds has 0 in it"
            if low <= 0 <= high
            else ""
        )
        ours = (
            f"mean return over the run higher by {_with_interval(gain, (low, high))}; evaluations to {goal:,.0f}: "
            f"{entry.reaches[-1].shown}, {arm.against} {latent.reaches[-1].shown}"
        )
        lines.append(Verdict(f"Section 5.3, {race.title}: {entry.method}", said, ours, verdict, why))
    return lines


def _with_interval(value: float, interval: Interval) -> str:
    low, high = interval
    return f"{value:z,.0f} [{low:z,.0f}, {high:z,.0f}]"
