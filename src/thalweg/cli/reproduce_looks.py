"""Figures 1 to 3 of `thalweg reproduce`: runs in dimension 2 that are looked at."""

from collections.abc import Mapping
from pathlib import Path

from thalweg.experiments.paper import fig1, fig23
from thalweg.experiments.paper.course import Course
from thalweg.experiments.paper.experiment import Case
from thalweg.experiments.paper.look import SHOWN, Look
from thalweg.experiments.paper.verdict import HEAD, Verdict, cells
from thalweg.report.files import save_figure
from thalweg.report.look_figures import animate, isolines_figure, search_figure
from thalweg.report.page import Block, Paragraph, Picture, Table

LOOKS = {"fig1": fig1.FULL, "fig2": fig23.ROSENBROCK, "fig3": fig23.RASTRIGIN}


Page = tuple[list[Block], list[Verdict], list[Path]]
"""What a page has below the title, its verdicts, and the figures that were written."""


def look_blocks(name: str, look: Look, cases: Mapping[Case, Course], folder: Path) -> Page:
    """Write the figures of one look into the folder, and return what is to be said with them."""
    return _fig1(name, look, cases, folder) if name == "fig1" else _fig23(name, look, by_method(look, cases), folder)


def by_method(look: Look, cases: Mapping[Case, Course]) -> dict[str, Course]:
    """The runs on the function that is drawn, in the order of the arms."""
    return {method: cases[Case(look.functions[0], 2, method)] for method in look.arms}


def _fig1(name: str, look: Look, cases: Mapping[Case, Course], folder: Path) -> Page:
    course, straight = (cases[Case(function, 2, look.arms[0])] for function in look.functions)
    files = save_figure(isolines_figure(look, course, int(fig1.arrivals(course)[0])), folder / name)
    verdicts = fig1.verdicts(course, straight)
    blocks: list[Block] = [
        Paragraph(setting(look, len(course.best))),
        Picture(files[0], "Isolines of xNES in the valley of the Rosenbrock function, and its entropy"),
        Paragraph(fig1.caption(course)),
        Paragraph(fig1.REMARK),
        Table(HEAD, [cells(verdict) for verdict in verdicts]),
    ]
    return blocks, verdicts, files


def _fig23(name: str, look: Look, courses: Mapping[str, Course], folder: Path) -> Page:
    function = look.functions[0]
    files = save_figure(search_figure(look, courses), folder / name)
    files.append(animate(look, courses, folder / f"{name}.gif"))
    verdicts = fig23.verdicts(look, courses)
    blocks: list[Block] = [
        Paragraph(f"{setting(look, len(courses[fig23.LATENT].best))} {fig23.ELSEWHERE[function]}"),
        Picture(files[0], f"Points and densities on the {function.title()} function, and entropy over iterations"),
        Picture(files[-1], "The same run, iteration by iteration"),
        Paragraph(f"The paper: {fig23.SAID[function]} {fig23.REMARKS[function]}"),
        Table(HEAD, [cells(verdict) for verdict in verdicts]),
        Paragraph("Over all seeds; intervals are bootstrapped over seeds, and differences are to xNES from the same seed."),
        Table(fig23.head(look), fig23.table(look, fig23.summarise(look, courses))),
    ]
    if not look.objective.multimodal:
        head, rows, _ = fig23.entropy_claim(look, courses)
        blocks += [Paragraph(fig23.AT_A_LEVEL), Table(head, rows)]
    return blocks, verdicts, files


def setting(look: Look, runs: int) -> str:
    """What was run, and what is drawn of it."""
    return (
        f"The {look.functions[0].title()} function of two variables, neither moved nor turned; {look.start}, {runs} runs of "
        f"{look.generations[2]} iterations. The pictures show the run of seed {SHOWN}, the first of those for results; it was "
        "not picked. The paper does not say from where its own pictures start."
    )
