"""Summary of policy search: returns during the runs and at the end, evaluations to given returns, and the paper's claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.experiment import Case
from thalweg_studies.common.statistics import Interval, t_interval
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.rl.comparison import PolicyComparison, PolicyRuns

PAPER_SEEDS = 5
CLAIM = "GNN-xNES discovers behaviours of high rewards faster than xNES"


@dataclass(frozen=True)
class Reach:
    """The evaluations at which runs reached a return, by the first population whose mean is as high."""

    target: float
    evaluations: tuple[float, ...]
    """The number of evaluations of each run; inf if never."""

    @property
    def reached(self) -> int:
        """The number of runs that reached it."""
        return sum(map(isfinite, self.evaluations))

    @property
    def shown(self) -> str:
        """The median over all runs, the fastest and the slowest, as text."""
        if not self.reached:
            return f"never; 0 of {len(self.evaluations)}"
        low, middle, high = (
            f"{value:,.0f}" if isfinite(value) else "never"
            for value in (min(self.evaluations), float(np.median(self.evaluations)), max(self.evaluations))
        )
        return f"{middle} [{low}, {high}]; {self.reached} of {len(self.evaluations)}"


@dataclass(frozen=True)
class Entry:
    """One algorithm in one environment."""

    method: str
    runs: int
    area: float
    """The mean return over all populations of a run."""
    ahead: tuple[float, Interval] | None
    """The area minus the latent's from the same seeds, with its 95% interval; None for the latent itself."""
    reaches: tuple[Reach, ...]
    final: float
    """The mean return of the last policies in fresh rollouts."""
    interval: Interval
    """The 95% interval of `final`."""
    best: float
    """The best mean return of a last policy."""


def summarise(comparison: PolicyComparison, cases: Mapping[Case, PolicyRuns]) -> list[Entry]:
    """Return an entry for each algorithm that has runs."""
    entries: list[Entry] = []
    for case, runs in cases.items():
        latent = cases.get(case._replace(method=ALGORITHMS[case.method].against))
        area = runs.mean.mean(1)
        ahead = None
        if latent is not None and not ALGORITHMS[case.method].baseline:
            pairs = min(len(area), len(latent.mean))
            difference = area[:pairs] - latent.mean.mean(1)[:pairs]
            ahead = float(difference.mean()), t_interval(difference)
        reaches = tuple(reach(comparison, runs.mean, target) for target in comparison.targets)
        final = float(runs.final.mean()), t_interval(runs.final)
        entries.append(Entry(case.method, len(area), float(area.mean()), ahead, reaches, *final, float(runs.final.max())))
    return entries


def reach(comparison: PolicyComparison, means: np.ndarray, target: float) -> Reach:
    """Return when each run, a row of population means, reached the target."""
    there = means >= target
    first = np.where(there.any(1), comparison.evaluations[there.argmax(1)], inf)
    return Reach(target, tuple(first.tolist()))


def head(comparison: PolicyComparison) -> tuple[str, ...]:
    """Return the columns of the table."""
    targets = (f"evaluations to {target:,.0f}: median [all runs]; how many" for target in comparison.targets)
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
    """Return the rows under `head`."""
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


def verdicts(comparison: PolicyComparison, entries: Sequence[Entry]) -> list[Verdict]:
    """Judge each flow: faster than its latent or not, by the mean return over the run from the same seeds."""
    goal, lines = comparison.targets[-1], list[Verdict]()
    for entry in entries:
        if entry.ahead is None:
            continue
        algorithm = ALGORITHMS[entry.method]
        latent = next(other for other in entries if other.method == algorithm.against)
        gain, (low, high) = entry.ahead
        said = CLAIM if algorithm.against == "xNES" else "nothing: CMA-ES was not run"
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
            f"{entry.reaches[-1].shown}, {algorithm.against} {latent.reaches[-1].shown}"
        )
        lines.append(Verdict(f"Section 5.3, {comparison.title}: {entry.method}", said, ours, verdict, why))
    return lines


def _with_interval(value: float, interval: Interval) -> str:
    low, high = interval
    return f"{value:z,.0f} [{low:z,.0f}, {high:z,.0f}]"
