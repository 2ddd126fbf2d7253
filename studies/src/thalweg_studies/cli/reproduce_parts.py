"""The parts of `thalweg reproduce`: which experiments each needs, and the section of the report that it makes of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thalweg.objectives.rl.environment import require
from thalweg_studies.paper import fig1, fig4, fig23, table1
from thalweg_studies.paper.claims import CLAIMS
from thalweg_studies.paper.experiment import Experiment
from thalweg_studies.paper.look import Look
from thalweg_studies.report.claim_sections import claims_section
from thalweg_studies.report.look_sections import fig1_section, fig23_section
from thalweg_studies.report.race_sections import fig4_section, table1_section
from thalweg_studies.report.rl_sections import rl_section
from thalweg_studies.report.section import Section
from thalweg_studies.rl import settings as rl
from thalweg_studies.rl.environments import require_mujoco
from thalweg_studies.rl.race import PolicyRace

SEEDS, QUICK_SEEDS = 100, 5


@dataclass(frozen=True)
class Plan:
    """An experiment in its two sizes."""

    full: Experiment[Any]
    small: Experiment[Any]
    most: int = SEEDS
    """Seeds, if nothing is said."""
    few: int = QUICK_SEEDS
    """The same for a quick look."""

    @property
    def name(self) -> str:
        """Of the experiment, whatever its size."""
        return self.full.name

    def experiment(self, *, quick: bool) -> Experiment[Any]:
        """In that size."""
        return self.small if quick else self.full

    def seeds(self, wanted: int | None, *, quick: bool) -> int:
        """How many to run."""
        return wanted or (min(self.few, self.most) if quick else self.most)


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
"""What `all` stands for."""

POLICY_SEARCH = "rl"
"""The part that needs the extra `rl` and four hours of a core: not in `all`."""


def policy_search(folder: Path, only: str | None = None, *, modern: bool, nice: bool) -> Part:
    """The two environments, or only one; runs that are under way are kept in the folder."""
    require()
    require_mujoco()

    def plan(full: PolicyRace, small: PolicyRace) -> Plan:
        kept = (replace(race, scratch=folder / "runs") for race in (full, small))
        return Plan(*kept, most=rl.SEEDS, few=rl.QUICK_SEEDS)

    chosen = [rl.RACES[name] for name in rl.RACES if only in (None, name)]
    sizes = [(race.modern, race.modern_small) if modern else (race.full, race.small) for race in chosen]
    plans = [plan(*each) for each in sizes]
    if nice:
        plans += [plan(*map(rl.with_nice, each)) for each in sizes]
    return Part(plans, rl_section)
