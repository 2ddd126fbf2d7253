"""Figure 4 and table 1 as sections of the report."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from thalweg_studies.common.experiment import Case
from thalweg_studies.paper import fig4, table1
from thalweg_studies.paper.comparison import Comparison, panels
from thalweg_studies.paper.report.convergence_figure import convergence_figure
from thalweg_studies.paper.report.table1_figure import table1_figure
from thalweg_studies.report.files import save_figure
from thalweg_studies.report.page import Block, Paragraph, Picture, Table
from thalweg_studies.report.section import Section, verdict_table

Cases = Mapping[Case, np.ndarray]


def fig4_section(folder: Path, comparison: Comparison, cases: Cases) -> Section:
    """Write the figures of all seeds and of the paper's 10, and return the section of figure 4."""
    curves, ten = panels(comparison, cases), f"fig4-{fig4.PAPER_SEEDS}-seeds"
    files = save_figure(convergence_figure(curves), folder / "fig4")
    files += save_figure(convergence_figure(curves, fig4.PAPER_SEEDS), folder / ten)
    entries = fig4.summarise(comparison, cases)
    verdicts = fig4.verdicts(entries)
    blocks: list[Block] = [
        Paragraph(setting(comparison, cases)),
        Picture(folder / "fig4.png", "Best value against evaluations, median and quartiles"),
        Paragraph(f"The same from the first {fig4.PAPER_SEEDS} seeds, as many as the paper has:"),
        Picture(folder / f"{ten}.png", f"Best value against evaluations, first {fig4.PAPER_SEEDS} seeds"),
        verdict_table(verdicts),
        Paragraph(
            "Medians are taken on the logarithmic scale; intervals are bootstrapped over seeds, p is that of Wilcoxon's paired "
            "test of log f against the latent on the same landscapes. Above 1, the flow is ahead."
        ),
        Table(fig4.HEAD, fig4.table(entries, fig4.summarise(comparison, cases, fig4.PAPER_SEEDS))),
    ]
    return Section("Figure 4: curved valleys", blocks, verdicts, files)


def table1_section(folder: Path, comparison: Comparison, cases: Cases) -> Section:
    """Write a figure of table 1, and return its section."""
    entries = table1.summarise(comparison, cases)
    files = save_figure(table1_figure(entries), folder / "table1")
    verdicts = table1.verdicts(entries)
    blocks: list[Block] = [
        Paragraph(setting(comparison, cases)),
        Paragraph(CONVERGENCE),
        Picture(folder / "table1.png", "Mean f - f_min with its interval, and the paper's"),
        verdict_table(verdicts),
        Paragraph(
            f"A number of the paper agrees if the mean of {table1.PAPER_SEEDS} further runs falls as far off with a chance of "
            "5% at least: of numbers that are right, one in twenty differs all the same. Better and worse count seeds."
        ),
        Table(table1.HEAD, table1.table(entries)),
    ]
    return Section("Table 1: many minima", blocks, verdicts, files)


CONVERGENCE = (
    "The paper does not say when its runs have converged, and PyBrain's xNES, which it used, has no stop test. Here all "
    "algorithms run for the same number of generations, after which hardly any run still improves: the column `converged` has "
    f"the share of runs that improved by no more than {table1.SAME:g} in their last tenth. On Beale's function some runs take "
    f"a valley that never ends, and fall towards {table1.BEALE_VALLEY:g} for as long as they run."
)


def setting(comparison: Comparison, cases: Cases) -> str:
    """Describe the setting of the runs and their number."""
    budget = " and ".join(f"{n} generations in dimension {d}" for d, n in comparison.generations.items())
    runs = max(len(best) for best in cases.values())
    return (
        f"x0 = 0, sigma0 = 1, N = 10 d points per generation, {budget}, {runs} runs of each algorithm, each seed with a "
        "landscape of its own."
    )
