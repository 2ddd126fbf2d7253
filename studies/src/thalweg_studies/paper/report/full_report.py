"""The full report: a summary of the verdicts, then all sections."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from thalweg_studies.common.experiment import FIRST_SEED
from thalweg_studies.common.verdict import AGREES, DIFFERS, UNCLEAR
from thalweg_studies.report.page import Block, Bullets, Heading, Paragraph, Table
from thalweg_studies.report.section import Section

TITLE = "The paper's experiments, reproduced"


def full_report(sections: Sequence[Section], command: str, manifest: Mapping[str, Any]) -> list[Block]:
    """Return the blocks of the report."""
    rows: list[tuple[str, ...]] = []
    for section in sections:
        count = Counter(verdict.verdict for verdict in section.verdicts)
        rows.append((section.title, *(str(count[word]) for word in (AGREES, DIFFERS, UNCLEAR))))
    made = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    blocks: list[Block] = [
        Heading(TITLE, 1),
        Paragraph(
            "Faury, Calauzènes, Fercoq, Krichen: Improving Evolutionary Strategies with Generative Neural Networks, 2019. "
            "Every figure, table and claim of its experiments with synthetic objectives, run again: what the paper says, what "
            "came out with its 95% interval, and whether the two agree."
        ),
        Bullets(
            [
                f"Command: `{command}`",
                f"Seeds: from {FIRST_SEED} on; none of them served to choose a constant of the library",
                f"Versions: {made}",
                f"Machine: {manifest['machine']}",
            ]
        ),
        Paragraph(
            "GNN-CMA-ES and GNN-xNES are NICE as in the paper, learned by the trust-region step of this library. "
            "Where (paper) follows the name, the flow acts in raw coordinates and is learned by the paper's Algorithm 2 to the "
            "letter, with L-BFGS and a penalty."
        ),
        Table(("part", AGREES, DIFFERS, UNCLEAR), rows),
    ]
    apart = [verdict for section in sections for verdict in section.verdicts if verdict.verdict == DIFFERS]
    if apart:
        blocks += [
            Heading("Where it differs"),
            Bullets([f"{each.item}. The paper: {each.paper}. Here: {each.ours}. {each.why}".rstrip() for each in apart]),
        ]
    for section in sections:
        blocks += [Heading(section.title), *section.blocks]
    return blocks
