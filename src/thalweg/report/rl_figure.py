"""Policy search as a picture (extra `plots`): the mean return of each population against evaluations."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thalweg.experiments.paper.experiment import Case
from thalweg.experiments.rl.race import PolicyRace, Runs
from thalweg.report.race_figure import COLOURS, LINES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def returns_figure(race: PolicyRace, cases: Mapping[Case, Runs]) -> "Figure":
    """The mean over the runs, and a band from the lowest to the highest."""
    matplotlib: Any = importlib.import_module("matplotlib.figure")
    figure = matplotlib.Figure(figsize=(6.8, 4.4), layout="constrained", dpi=120)
    axes = figure.subplots()
    for i, (case, runs) in enumerate(cases.items()):
        colour, line = COLOURS[i % len(COLOURS)], LINES[i % len(LINES)]
        low, middle, high = runs.mean.min(0), runs.mean.mean(0), runs.mean.max(0)
        axes.fill_between(race.evaluations, low, high, color=colour, alpha=0.12, linewidth=0)
        axes.plot(race.evaluations, middle, color=colour, linestyle=line, linewidth=1.7, label=case.method)
    axes.axhline(race.targets[-1], color="0.5", linewidth=0.8)
    axes.set_title(race.title, fontsize=10)
    axes.set_xlim(0, race.evaluations[-1])
    axes.set_xlabel(f"function evaluations, each {race.rollouts} rollouts")
    axes.set_ylabel("mean return of the population")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(color="0.9", linewidth=0.6)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure
