"""The numbers of figures 2 and 3: entropy, best value and cells of the runs, at given iterations and at given values of f."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from thalweg_studies.common import statistics
from thalweg_studies.common.algorithms import population
from thalweg_studies.paper.distributions import SearchDistributions
from thalweg_studies.paper.trajectory import DistributionTrajectory

Trajectories = Mapping[str, DistributionTrajectory]
"""The runs of each algorithm."""

LATENT = "xNES"
"""The algorithm that the others are compared with."""

LEVELS = (1.0, 0.1, 0.01)
"""Values of f on the way down the valley, at which runs are compared however long they took."""


class Estimate(NamedTuple):
    """A comparison with the latent from the same seeds, and its 95% interval."""

    value: float
    low: float
    high: float
    even: float
    """The value if there were no difference."""
    p: float
    """The p of Wilcoxon's paired test."""
    pairs: int

    @property
    def sign(self) -> int:
        """The sign of the difference; 0 if the interval includes none."""
        return int(self.low > self.even) - int(self.high < self.even)

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def difference(own: np.ndarray, latent: np.ndarray) -> Estimate | None:
    """Estimate the mean of own - latent; None without pairs."""
    gap = own - latent
    if not len(gap):
        return None
    return Estimate(float(gap.mean()), *statistics.mean_interval(gap), 0.0, statistics.paired_p(own, latent), len(gap))


def times(own: np.ndarray, latent: np.ndarray) -> Estimate:
    """Estimate the ratio of the latent's median to the own one."""
    ratio, interval = statistics.median_ratio(latent, own)
    return Estimate(ratio, *interval, 1.0, statistics.paired_p(np.log(own), np.log(latent)), len(own))


@dataclass(frozen=True)
class Entry:
    """One algorithm at one iteration; the comparisons are None for the latent itself."""

    method: str
    iteration: int
    runs: int
    entropy: float
    """The median entropy over the runs, in nats."""
    higher: Estimate | None
    """The entropy minus the latent's."""
    cells: float
    """The mean number of unit cells around integer points, Rastrigin's minima, that hold points of the iteration."""
    more: Estimate | None
    """The number of cells minus the latent's."""
    best: float
    """The median of the best value so far."""
    lower: Estimate | None
    """The latent's median best value over this one."""


def summarise(experiment: SearchDistributions, trajectories: Trajectories) -> list[Entry]:
    """Return an entry for every algorithm at the iterations that the paper shows."""
    return [describe(trajectories, name, k) for k in experiment.iterations for name in experiment.algorithms]


def describe(trajectories: Trajectories, name: str, k: int) -> Entry:
    """Return the entry of an algorithm at iteration k."""
    own, latent = trajectories[name], trajectories[LATENT]
    middle, best = float(np.median(own.entropy[:, k])), statistics.median(own.best[:, k])
    higher = more = lower = None
    if name != LATENT:
        higher = difference(own.entropy[:, k], latent.entropy[:, k])
        more = difference(own.cells[:, k], latent.cells[:, k])
        lower = times(own.best[:, k], latent.best[:, k])
    return Entry(name, k, len(own.best), middle, higher, float(own.cells[:, k].mean()), more, best, lower)


def head(experiment: SearchDistributions) -> tuple[str, ...]:
    """Return the columns of the table; only a function with many minima has those of the cells."""
    cells = ("unit cells with points (mean)", "more than xNES [95%]") if experiment.objective.multimodal else ()
    best = ("median best f", "times lower than xNES's [95%]")
    return ("iteration", "algorithm", "runs", "median entropy (nats)", "minus xNES's, mean [95%]", *cells, *best)


def table(experiment: SearchDistributions, entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Return the rows under `head`."""
    return [
        (
            str(entry.iteration),
            entry.method,
            str(entry.runs),
            f"{entry.entropy:.2f}",
            str(entry.higher or ""),
            *((f"{entry.cells:.1f}", str(entry.more or "")) if experiment.objective.multimodal else ()),
            f"{entry.best:.2g}",
            str(entry.lower or ""),
        )
        for entry in entries
    ]


@dataclass(frozen=True)
class Crossing:
    """One algorithm where its best value first reaches a level; the comparisons are None for the latent itself."""

    method: str
    level: float
    runs: int
    reached: int
    """The number of runs that get there."""
    entropy: float
    """The median entropy there, in nats."""
    higher: Estimate | None
    """The entropy minus the latent's, over the seeds from which both get there."""
    sooner: Estimate | None
    """The latent's median evaluations over the own ones; a run that does not get there counts as if its last iteration did."""


def crossings(experiment: SearchDistributions, trajectories: Trajectories) -> list[Crossing]:
    """Return a crossing for every algorithm at every level."""
    found: list[Crossing] = []
    for level in LEVELS:
        other, other_steps, other_there = _cross(trajectories[LATENT], level)
        for name in experiment.algorithms:
            own, steps, there = _cross(trajectories[name], level)
            higher = sooner = None
            if name != LATENT:
                both = there & other_there
                higher, sooner = difference(own[both], other[both]), times(steps, other_steps)
            middle = float(np.median(own[there])) if there.any() else np.nan
            found.append(Crossing(name, level, len(there), int(there.sum()), middle, higher, sooner))
    return found


def _cross(trajectory: DistributionTrajectory, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each run the entropy and the evaluations at the first best f <= level, and whether there is one."""
    below = trajectory.best <= level
    there, first = below.any(1), below.argmax(1)
    entropy = np.take_along_axis(trajectory.entropy, first[:, None], 1)[:, 0]
    return entropy, population(2) * np.where(there, first + 1.0, below.shape[1]), there


LEVEL_HEAD = (
    "best f at most", "algorithm", "runs that get there", "median entropy there (nats)", "minus xNES's there, mean [95%]",
    "pairs", "times fewer evaluations than xNES [95%]",
)  # fmt: skip


def level_table(found: Sequence[Crossing]) -> list[tuple[str, ...]]:
    """Return the rows under `LEVEL_HEAD`."""
    return [
        (
            f"{each.level:g}",
            each.method,
            f"{each.reached} of {each.runs}",
            f"{each.entropy:.2f}" if each.reached else "",
            str(each.higher or ""),
            "" if each.higher is None else str(each.higher.pairs),
            str(each.sooner or ""),
        )
        for each in found
    ]
