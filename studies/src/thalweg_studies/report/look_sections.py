"""Figures 1 to 3 as sections of the report: runs in dimension 2 that are looked at."""

from collections.abc import Mapping
from pathlib import Path

from thalweg_studies.paper import fig1, fig23
from thalweg_studies.paper.course import Course
from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.look import SHOWN, Look
from thalweg_studies.report.files import save_figure
from thalweg_studies.report.look_figures import animate, isolines_figure, search_figure
from thalweg_studies.report.page import Block, Paragraph, Picture, Table
from thalweg_studies.report.section import Section, verdict_table

Cases = Mapping[Case, Course]


def fig1_section(folder: Path, look: Look, cases: Cases) -> Section:
    """One run drawn, all of them counted, and a straight valley to compare with."""
    course, straight = (cases[Case(function, 2, look.arms[0])] for function in look.functions)
    files = save_figure(isolines_figure(look, course, int(fig1.arrivals(course)[0])), folder / look.name)
    verdicts = fig1.verdicts(course, straight)
    blocks: list[Block] = [
        Paragraph(setting(look, len(course.best))),
        Picture(files[0], "Isolines of xNES in the valley of the Rosenbrock function, and its entropy"),
        Paragraph(fig1.caption(course)),
        Paragraph(fig1.REMARK),
        verdict_table(verdicts),
    ]
    return Section("Figure 1: a Gaussian in a curved valley", blocks, verdicts, files)


def fig23_section(folder: Path, look: Look, cases: Cases, elsewhere: Look, cases_elsewhere: Cases) -> Section:
    """Pictures and an animation of one run, numbers of all, and the same numbers from another start."""
    courses, function, name = by_method(look, cases), look.functions[0], look.name
    files = save_figure(search_figure(look, courses), folder / name)
    files.append(animate(look, courses, folder / f"{name}.gif"))
    verdicts = fig23.verdicts(look, courses)
    blocks: list[Block] = [
        Paragraph(setting(look, len(courses[fig23.LATENT].best))),
        Picture(files[0], f"Points and densities on the {function.title()} function, and entropy over iterations"),
        Picture(files[-1], "The same run, iteration by iteration"),
        Paragraph(f"The paper: {fig23.SAID[function]} {fig23.REMARKS[function]}"),
        verdict_table(verdicts),
        Paragraph(f"The same from another start: {elsewhere.start}."),
        verdict_table(fig23.verdicts(elsewhere, by_method(elsewhere, cases_elsewhere))),
        Paragraph("Over all seeds; intervals are bootstrapped over seeds, and differences are to xNES from the same seed."),
        Table(fig23.head(look), fig23.table(look, fig23.summarise(look, courses))),
    ]
    if not look.objective.multimodal:
        head, rows, _ = fig23.entropy_claim(look, courses)
        blocks += [Paragraph(fig23.AT_A_LEVEL), Table(head, rows)]
    return Section(f"Figure {name.removeprefix('fig')}: search distributions, {function}", blocks, verdicts, files)


def by_method(look: Look, cases: Cases) -> dict[str, Course]:
    """The runs on the function that is drawn, in the order of the arms."""
    return {method: cases[Case(look.functions[0], 2, method)] for method in look.arms}


def setting(look: Look, runs: int) -> str:
    """What was run, and what is drawn of it."""
    return (
        f"The {look.functions[0].title()} function of two variables, neither moved nor turned; {look.start}, {runs} runs of "
        f"{look.generations[2]} iterations. The pictures show the run of seed {SHOWN}, the first of those for results; it was "
        "not picked. The paper does not say from where its own pictures start."
    )
