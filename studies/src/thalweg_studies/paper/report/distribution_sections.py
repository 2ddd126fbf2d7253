"""Figures 1 to 3 as sections of the report."""

from collections.abc import Mapping
from pathlib import Path

from thalweg_studies.common.experiment import Case
from thalweg_studies.paper import fig1, fig23, fig23_numbers
from thalweg_studies.paper.distributions import SHOWN, SearchDistributions
from thalweg_studies.paper.report.distribution_figures import animate, isolines_figure, search_figure
from thalweg_studies.paper.trajectory import DistributionTrajectory
from thalweg_studies.report.files import save_figure
from thalweg_studies.report.page import Block, Paragraph, Picture, Table
from thalweg_studies.report.section import Section, verdict_table

Cases = Mapping[Case, DistributionTrajectory]


def fig1_section(folder: Path, experiment: SearchDistributions, cases: Cases) -> Section:
    """Write figure 1, and return its section: one run drawn, all of them counted, and a straight valley to compare with."""
    trajectory, straight = (cases[Case(function, 2, experiment.algorithms[0])] for function in experiment.functions)
    files = save_figure(isolines_figure(experiment, trajectory, int(fig1.arrivals(trajectory)[0])), folder / experiment.name)
    verdicts = fig1.verdicts(trajectory, straight)
    blocks: list[Block] = [
        Paragraph(setting(experiment, len(trajectory.best))),
        Picture(files[0], "Isolines of xNES in the valley of the Rosenbrock function, and its entropy"),
        Paragraph(fig1.caption(trajectory)),
        Paragraph(fig1.REMARK),
        verdict_table(verdicts),
    ]
    return Section("Figure 1: a Gaussian in a curved valley", blocks, verdicts, files)


def fig23_section(
    folder: Path, experiment: SearchDistributions, cases: Cases, elsewhere: SearchDistributions, cases_elsewhere: Cases
) -> Section:
    """Write figure 2 or 3 and its animation, and return its section: one run drawn, numbers of all, and of another start."""
    trajectories, function, name = by_method(experiment, cases), experiment.functions[0], experiment.name
    files = save_figure(search_figure(experiment, trajectories), folder / name)
    files.append(animate(experiment, trajectories, folder / f"{name}.gif"))
    verdicts = fig23.verdicts(experiment, trajectories)
    blocks: list[Block] = [
        Paragraph(setting(experiment, len(trajectories[fig23_numbers.LATENT].best))),
        Picture(files[0], f"Points and densities on the {function.title()} function, and entropy over iterations"),
        Picture(files[-1], "The same run, iteration by iteration"),
        Paragraph(f"The paper: {fig23.SAID[function]} {fig23.REMARKS[function]}"),
        verdict_table(verdicts),
        Paragraph(f"The same from another start: {elsewhere.start}."),
        verdict_table(fig23.verdicts(elsewhere, by_method(elsewhere, cases_elsewhere))),
        Paragraph("Over all seeds; intervals are bootstrapped over seeds, and differences are to xNES from the same seed."),
        Table(
            fig23_numbers.head(experiment), fig23_numbers.table(experiment, fig23_numbers.summarise(experiment, trajectories))
        ),
    ]
    if not experiment.objective.multimodal:
        head, rows, _ = fig23.entropy_claim(experiment, trajectories)
        blocks += [Paragraph(fig23.AT_A_LEVEL), Table(head, rows)]
    return Section(f"Figure {name.removeprefix('fig')}: search distributions, {function}", blocks, verdicts, files)


def by_method(experiment: SearchDistributions, cases: Cases) -> dict[str, DistributionTrajectory]:
    """Return the runs on the function that is drawn, in the order of the algorithms."""
    return {method: cases[Case(experiment.functions[0], 2, method)] for method in experiment.algorithms}


def setting(experiment: SearchDistributions, runs: int) -> str:
    """Describe the runs, and the one that is drawn."""
    return (
        f"The {experiment.functions[0].title()} function of two variables, neither moved nor turned; {experiment.start}, "
        f"{runs} runs of {experiment.generations[2]} iterations. The pictures show the run of seed {SHOWN}, the first of those "
        "for results; it was "
        "not picked. The paper does not say from where its own pictures start."
    )
