"""Figures 2 and 3 of the paper: the search distributions of GNN-xNES and xNES on the Rosenbrock and Rastrigin functions."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from thalweg_studies.common import statistics
from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR, Verdict
from thalweg_studies.paper.distributions import FEW, SearchDistributions
from thalweg_studies.paper.fig23_numbers import LATENT, LEVEL_HEAD, Estimate, Trajectories, crossings, level_table, summarise
from thalweg_studies.paper.trajectory import DistributionTrajectory

FAMILY = (LATENT, "GNN-xNES", "GNN-xNES (paper)")

ROSENBROCK = SearchDistributions(
    "fig2",
    ("rosenbrock",),
    {2: 60},
    algorithms=FAMILY,
    x0=(-1.2, 1.0),
    iterations=(5, 15),
    drawn=22,
    limits=((-2.1, 1.9), (-1.0, 3.2)),
)
RASTRIGIN = SearchDistributions(
    "fig3",
    ("rastrigin",),
    {2: 40},
    algorithms=FAMILY,
    x0=(2.0, 2.0),
    sigma0=2.0,
    iterations=(10, 20),
    drawn=24,
    limits=((-3.6, 4.4), (-3.6, 4.4)),
    contours=3,
)

ELSEWHERE = {
    "fig2": replace(ROSENBROCK, name="fig2-start", x0=(0.0, 0.0)),
    "fig3": replace(RASTRIGIN, name="fig3-start", x0=(3.0, 1.0), sigma0=1.5),
}
"""The same from a second start: the paper does not say where its own runs begin."""

BASIN = 0.99
"""A value just below Rastrigin's second-best minima, 0.995: only points around the best minimum are lower."""


def quick(experiment: SearchDistributions) -> SearchDistributions:
    """Return the experiment with runs no longer than what is drawn."""
    return replace(experiment, generations={2: experiment.drawn})


def entropy_claim(
    experiment: SearchDistributions, trajectories: Trajectories
) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[Verdict]]:
    """Judge whether the flow keeps a higher entropy than xNES in the valley; returns a table's head and rows, and the verdicts.

    Entropies are compared at the same iteration and at the same best value: a run that is ahead is smaller for that reason.
    """
    found, entries = crossings(experiment, trajectories), summarise(experiment, trajectories)
    lines: list[Verdict] = []
    for name in _flows(experiment):
        own, runs = [each for each in entries if each.method == name], len(trajectories[name].best)
        item, said = f"Figure 2, {name}: entropy at the same", "higher than xNES's"
        at = {f" at iteration {each.iteration}": each.higher for each in own}
        line = _judge(f"{item} iteration", said, "nats", at, runs)
        ahead = [str(each.iteration) for each in own if each.lower and each.lower.sign > 0 > (each.higher or each.lower).sign]
        if line.verdict != AGREES and ahead:
            line = replace(
                line, why=f"{line.why}; at iteration {' and '.join(ahead)} it is ahead, and smaller for that reason too"
            )
        there = {f" at f <= {each.level:g}": each.higher for each in found if each.method == name}
        lines += [line, _judge(f"{item} best f", said, "nats", there, runs)]
    return LEVEL_HEAD, level_table(found), lines


def verdicts(experiment: SearchDistributions, trajectories: Trajectories) -> list[Verdict]:
    """Judge what the paper's text says about the figure."""
    return _rastrigin(experiment, trajectories) if experiment.objective.multimodal else _rosenbrock(experiment, trajectories)


def _rosenbrock(experiment: SearchDistributions, trajectories: Trajectories) -> list[Verdict]:
    lines: list[Verdict] = []
    last = crossings(experiment, trajectories)[-len(experiment.algorithms) :]
    for each in last:
        if each.sooner is not None:
            item = f"Figure 2, {each.method}: evaluations to f <= {each.level:g}"
            line = _judge(item, "reaches the minimum faster than xNES", "times fewer", {"": each.sooner}, each.runs)
            there = f"{each.reached} of {each.runs} runs get there in {experiment.generations[2]} iterations"
            why = _lost(trajectories[each.method], each.level) if line.verdict == DIFFERS else line.why
            lines.append(replace(line, ours=f"{line.ours}; {there}, xNES {last[0].reached}", why=why))
    return [*lines, *entropy_claim(experiment, trajectories)[2]]


def _lost(trajectory: DistributionTrajectory, level: float) -> str:
    """Describe the end of the runs that do not get there."""
    lost = trajectory.best[:, -1] > level
    if not lost.any():
        return ""
    entropy, best = np.median(trajectory.entropy[lost, -1]), statistics.median(trajectory.best[lost, -1])
    return f"the other {lost.sum()} end at a median best f of {best:.2g} with a median entropy of {entropy:.1f} nats"


def _rastrigin(experiment: SearchDistributions, trajectories: Trajectories) -> list[Verdict]:
    entries = summarise(experiment, trajectories)
    lines: list[Verdict] = []
    for name in experiment.algorithms:
        part, (low, high) = statistics.share_interval(trajectories[name].best[:, -1] < BASIN)
        few, end = len(trajectories[name].best) < FEW, experiment.generations[2]
        lines.append(
            Verdict(
                f"Figure 3, {name}: global minimum",
                "both distributions discover it",
                f"{part:.0%} [{low:.0%}, {high:.0%}] of runs have a point in its basin within {end} iterations",
                UNCLEAR if few else AGREES if low > 0.5 else DIFFERS if high < 0.5 else UNCLEAR,
                f"fewer than {FEW} runs" if few else "",
            )
        )
    for name in _flows(experiment):
        said = "creates a multi-modal distribution"
        lines.append(Verdict(f"Figure 3, {name}: modes", said, "one mode in every run, exactly", DIFFERS, ONE_MODE))
        at = {f" at iteration {each.iteration}": each.more for each in entries if each.method == name}
        item, said = f"Figure 3, {name}: unit cells with points", "explores several local minima simultaneously"
        lines.append(_judge(item, said, "more than xNES", at, len(trajectories[name].best)))
    return lines


def _flows(experiment: SearchDistributions) -> list[str]:
    return [name for name in experiment.algorithms if not ALGORITHMS[name].baseline]


def _judge(item: str, said: str, unit: str, found: Mapping[str, Estimate | None], runs: int) -> Verdict:
    """Judge comparisons, by the place where they were made, all of which the paper has above the latent."""
    known = {where: each for where, each in found.items() if each is not None}
    parts = [f"{each} {unit}{at}{f' ({each.pairs} pairs)' if each.pairs < runs else ''}" for at, each in known.items()]
    ours = "; ".join(parts) or "no run gets there"
    if len(known) < len(found) or min(each.pairs for each in known.values()) < FEW:
        return Verdict(item, said, ours, UNCLEAR, f"fewer than {FEW} pairs of runs")
    sides = {side: [where for where, each in known.items() if each.sign == side] for side in (1, 0, -1)}
    if len(sides[1]) == len(known):
        return Verdict(item, said, ours, AGREES)
    words = {1: "above xNES", 0: "no clear difference", -1: "below xNES"}
    why = "; ".join(f"{words[side]}{' and'.join(places)}" for side, places in sides.items() if places)
    return Verdict(item, said, ours, DIFFERS if sides[-1] and not sides[1] else UNCLEAR, why if len(known) > 1 else "")


ONE_MODE = (
    "NICE keeps volumes, so the density at x = g(z) is that of the Gaussian at z: its only stationary point is the image of "
    "the mean, and what a line of equal density encloses is always in one piece"
)
SAID = {
    "rosenbrock": "GNN-xNES efficiently detects the curved valley and reaches the global minimum faster than xNES, while "
    "keeping a higher entropy.",
    "rastrigin": "both distributions discover the global minimum; GNN-xNES naturally creates a multi-modal distribution, "
    "simultaneously exploring several local minima.",
}
"""The paper's sentences, by function."""

REMARKS = {
    "rosenbrock": "A run that is ahead has a smaller distribution for that reason too, so a comparison at the same iteration "
    "favours the slower one; the second table compares at the same best value.",
    "rastrigin": f"{ONE_MODE}. So the paper's multi-modal density cannot appear, in the strict sense. What does, with the "
    "paper's literal step, is one mode drawn out, in the run shown, into folds and arms that reach into several basins; with "
    "the library's step it stays nearly straight. The column of unit cells, each of which holds one minimum, says in how "
    "many the points lie.",
}
"""Our remarks on them, by function."""

AT_A_LEVEL = (
    "Where the best value of a run first is at a level. Entropies are compared over the pairs of runs that both get there, so "
    "what shrank before and never did is left out. In evaluations, such a run counts as if the last iteration had got it there."
)
