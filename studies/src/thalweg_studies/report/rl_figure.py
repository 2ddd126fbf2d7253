"""Policy search as a picture (extra `plots`): the mean return of each population against evaluations."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thalweg_studies.paper.arms import ARMS
from thalweg_studies.paper.experiment import Case
from thalweg_studies.report.race_figure import COLOURS
from thalweg_studies.rl.arms import MAIN, NICE
from thalweg_studies.rl.race import PolicyRace, Runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES = ("--", "-", "-.")
STYLES: dict[str, tuple[str, str]] = {
    name: (COLOURS[i], LINES[i]) for i, names in enumerate(((MAIN[0], MAIN[2]), (MAIN[1], MAIN[3]), NICE)) for name in names
}
"""Colour and line of each arm: the same for a latent alone, for the default flow and for the paper's, whatever the latent."""


def returns_figure(race: PolicyRace, cases: Mapping[Case, Runs]) -> "Figure":
    """A panel for each latent, alone and with flows: the mean over the runs, and a band from the lowest to the highest."""
    latents = list(dict.fromkeys(ARMS[case.method].against for case in cases))
    matplotlib: Any = importlib.import_module("matplotlib.figure")
    figure = matplotlib.Figure(figsize=(max(6.4, 4.7 * len(latents)), 4.4), layout="constrained", dpi=120)
    grid = figure.subplots(1, len(latents), sharey=True, squeeze=False)[0]
    for latent, axes in zip(latents, grid, strict=True):
        _panel(axes, race, {case.method: runs for case, runs in cases.items() if ARMS[case.method].against == latent})
    grid[0].set_ylabel("mean return of the population")
    runs = max(len(each.mean) for each in cases.values())
    bands = f"lines: mean of {runs} runs; bands: from the lowest to the highest" if runs > 1 else "one run"
    figure.suptitle(f"{race.title}\n{bands}", fontsize=10)
    return figure


def _panel(axes: "Axes", race: PolicyRace, runs: Mapping[str, Runs]) -> None:
    for name, each in runs.items():
        colour, line = STYLES[name]
        low, high = each.mean.min(0), each.mean.max(0)
        axes.fill_between(race.evaluations, low, high, color=colour, alpha=0.13, linewidth=0)
        for edge in (low, high):  # where bands lie over each other one sees which ends where
            axes.plot(race.evaluations, edge, color=colour, alpha=0.6, linewidth=0.5)
        axes.plot(race.evaluations, each.mean.mean(0), color=colour, linestyle=line, linewidth=1.7, label=name)
    goal = race.targets[-1]
    axes.axhline(goal, color="0.4", linewidth=0.9)
    axes.annotate(f"goal {goal:,.0f}", (0, goal), (3, 2), textcoords="offset points", fontsize=8, color="0.3")
    axes.set_xlim(0, race.evaluations[-1])
    axes.set_xlabel(f"function evaluations, each {race.rollouts} rollouts")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(color="0.9", linewidth=0.6)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize=9, handlelength=2.8)
