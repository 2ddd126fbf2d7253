"""The figure of policy search: the mean return of each population against evaluations."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from thalweg_studies.common.algorithms import ALGORITHMS
from thalweg_studies.common.experiment import Case
from thalweg_studies.report.style import COLOURS, LINES, count_axis, new_figure, plain_axes
from thalweg_studies.rl.comparison import PolicyComparison, PolicyRuns
from thalweg_studies.rl.settings import MAIN, NICE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: dict[str, tuple[str, Any]] = {
    name: (COLOURS[i], LINES[i]) for i, names in enumerate(((MAIN[0], MAIN[2]), (MAIN[1], MAIN[3]), NICE)) for name in names
}
"""The colour and line style of each algorithm: one for latents alone, one for the default flow, one for the paper's."""


def returns_figure(comparison: PolicyComparison, cases: Mapping[Case, PolicyRuns]) -> "Figure":
    """Draw a panel for each latent, alone and with flows: the mean over the runs, and a band from the lowest to the highest."""
    latents = list(dict.fromkeys(ALGORITHMS[case.method].against for case in cases))
    figure = new_figure((max(6.4, 4.7 * len(latents)), 4.4))
    grid = figure.subplots(1, len(latents), sharey=True, squeeze=False)[0]
    for latent, axes in zip(latents, grid, strict=True):
        _panel(
            axes, comparison, {case.method: runs for case, runs in cases.items() if ALGORITHMS[case.method].against == latent}
        )
    grid[0].set_ylabel("mean return of the population")
    runs = max(len(each.mean) for each in cases.values())
    bands = f"lines: mean of {runs} runs; bands: from the lowest to the highest" if runs > 1 else "one run"
    figure.suptitle(f"{comparison.title}\n{bands}", fontsize=10)
    return figure


def _panel(axes: "Axes", comparison: PolicyComparison, runs: Mapping[str, PolicyRuns]) -> None:
    for name, each in runs.items():
        colour, line = STYLES[name]
        low, high = each.mean.min(0), each.mean.max(0)
        axes.fill_between(comparison.evaluations, low, high, color=colour, alpha=0.13, linewidth=0)
        for edge in (low, high):  # tells overlapping bands apart
            axes.plot(comparison.evaluations, edge, color=colour, alpha=0.6, linewidth=0.5)
        axes.plot(comparison.evaluations, each.mean.mean(0), color=colour, linestyle=line, linewidth=1.7, label=name)
    goal = comparison.targets[-1]
    axes.axhline(goal, color="0.4", linewidth=0.9)
    axes.annotate(f"goal {goal:,.0f}", (0, goal), (3, 2), textcoords="offset points", fontsize=8, color="0.3")
    axes.set_xlim(0, comparison.evaluations[-1])
    axes.set_xlabel(f"function evaluations, each {comparison.rollouts} rollouts")
    count_axis(axes.xaxis)
    count_axis(axes.yaxis)
    plain_axes(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize=9, handlelength=2.8)
