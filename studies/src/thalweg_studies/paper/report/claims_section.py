"""The claims of the text as a section of the report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thalweg_studies.common.verdict import Verdict
from thalweg_studies.paper import fig23
from thalweg_studies.paper.claims import CLAIMS
from thalweg_studies.paper.report.claims_figure import claims_figure
from thalweg_studies.paper.report.distribution_sections import by_method
from thalweg_studies.report.files import save_figure
from thalweg_studies.report.page import Block, Heading, Paragraph, Picture, Table
from thalweg_studies.report.section import Section, verdict_table


def claims_section(folder: Path, results: Sequence[tuple[Any, Any]]) -> Section:
    """Write the figures and the section of the claims; the first results are those of figure 2, on which one claim rests."""
    (figure2, trajectories), *comparisons = results
    blocks, verdicts, files = _entropy(figure2, trajectories), list[Verdict](), list[Path]()
    for (slug, claim), (comparison, cases) in zip(CLAIMS.items(), comparisons, strict=True):
        finding = claim.judge(comparison, cases)
        figure = save_figure(claims_figure(claim, comparison, cases), folder / f"claim-{slug}")
        files += figure
        verdicts += finding.verdicts
        blocks += [
            Heading(claim.title, 3),
            Paragraph(claim.sentence),
            Picture(figure[0], claim.title),
            verdict_table(finding.verdicts),
            Table(finding.head, finding.rows),
            *([Paragraph(finding.remark)] if finding.remark else []),
        ]
    return Section("Claims of the text", blocks, verdicts, files)


def _entropy(experiment: Any, trajectories: Any) -> list[Block]:
    """Return the claim about entropy; figure 2 has the pictures and counts the verdicts."""
    head, rows, verdicts = fig23.entropy_claim(experiment, by_method(experiment, trajectories))
    return [
        Heading("NICE keeps a higher entropy in the valley", 3),
        Paragraph(
            "Section 5.1: on the Rosenbrock function GNN-xNES keeps a higher entropy than xNES. The runs are those of figure 2."
        ),
        verdict_table(verdicts),
        Paragraph(fig23.AT_A_LEVEL),
        Table(head, rows),
    ]
