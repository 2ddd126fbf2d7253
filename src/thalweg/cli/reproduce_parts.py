"""The parts of `thalweg reproduce`: which experiments each needs, and the section of the report that it makes of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thalweg.experiments.paper import fig1, fig4, fig23, table1
from thalweg.experiments.paper.claims import CLAIMS
from thalweg.experiments.paper.experiment import Experiment
from thalweg.experiments.paper.look import Look
from thalweg.report.claim_sections import claims_section
from thalweg.report.look_sections import fig1_section, fig23_section
from thalweg.report.race_sections import fig4_section, table1_section
from thalweg.report.section import Section

SEEDS, QUICK_SEEDS = 100, 5


@dataclass(frozen=True)
class Plan:
    """An experiment in its two sizes."""

    full: Experiment[Any]
    small: Experiment[Any]
    most: int = SEEDS
    """Seeds, if nothing is said."""

    @property
    def name(self) -> str:
        """Of the experiment, whatever its size."""
        return self.full.name

    def experiment(self, *, quick: bool) -> Experiment[Any]:
        """In that size."""
        return self.small if quick else self.full

    def seeds(self, wanted: int | None, *, quick: bool) -> int:
        """How many to run."""
        return wanted or (min(QUICK_SEEDS, self.most) if quick else self.most)


Results = Sequence[tuple[Any, Any]]
"""Experiments with their results by case."""


@dataclass(frozen=True)
class Part:
    """A figure, a table, or the claims."""

    plans: Sequence[Plan]
    section: Callable[[Path, Results], Section]


def _part(section: Callable[..., Section], *plans: Plan) -> Part:
    """A section that takes its experiments one after another, each with its results."""
    return Part(plans, lambda folder, results: section(folder, *(each for pair in results for each in pair)))


def _look(look: Look) -> Plan:
    return Plan(look, fig23.quick(look))


FIG2 = _look(fig23.ROSENBROCK)

PARTS: dict[str, Part] = {
    "fig1": _part(fig1_section, Plan(fig1.FULL, fig1.QUICK)),
    "fig2": _part(fig23_section, FIG2, _look(fig23.ELSEWHERE["fig2"])),
    "fig3": _part(fig23_section, _look(fig23.RASTRIGIN), _look(fig23.ELSEWHERE["fig3"])),
    "fig4": _part(fig4_section, Plan(fig4.FULL, fig4.QUICK)),
    "table1": _part(table1_section, Plan(table1.FULL, table1.QUICK)),
    "claims": Part([FIG2, *(Plan(claim.experiment, claim.quick, claim.seeds) for claim in CLAIMS.values())], claims_section),
}
