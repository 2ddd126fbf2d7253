"""The parts of `thalweg reproduce`: the experiments of each, and the section of the report that it makes of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thalweg.objectives.rl.environment import require
from thalweg_studies.common.experiment import Experiment
from thalweg_studies.paper import fig1, fig4, fig23, table1
from thalweg_studies.paper.claims import CLAIMS
from thalweg_studies.paper.distributions import SearchDistributions
from thalweg_studies.paper.report.claims_section import claims_section
from thalweg_studies.paper.report.comparison_sections import fig4_section, table1_section
from thalweg_studies.paper.report.distribution_sections import fig1_section, fig23_section
from thalweg_studies.report.section import Section
from thalweg_studies.rl import settings as rl
from thalweg_studies.rl.comparison import PolicyComparison
from thalweg_studies.rl.environments import require_mujoco
from thalweg_studies.rl.report.sections import rl_section

SEEDS, QUICK_SEEDS = 100, 5


@dataclass(frozen=True)
class Plan:
    """An experiment in full and in small."""

    full: Experiment[Any]
    small: Experiment[Any]
    most: int = SEEDS
    """The default number of seeds of the full experiment."""
    few: int = QUICK_SEEDS
    """The default number of seeds of the small experiment."""

    @property
    def name(self) -> str:
        """The name of the experiment, which both sizes share."""
        return self.full.name

    def experiment(self, *, quick: bool) -> Experiment[Any]:
        """Return the experiment in one of its sizes."""
        return self.small if quick else self.full

    def seeds(self, wanted: int | None, *, quick: bool) -> int:
        """Return the number of seeds: the wanted one, or the default."""
        return wanted or (min(self.few, self.most) if quick else self.most)


Results = Sequence[tuple[Any, Any]]
"""Experiments with their results by case."""


@dataclass(frozen=True)
class Part:
    """A figure, a table, or the claims."""

    plans: Sequence[Plan]
    section: Callable[[Path, Results], Section]
    """Writes figures into a folder, and returns the section of the report."""


def _part(section: Callable[..., Section], *plans: Plan) -> Part:
    """Make a part whose section takes experiments and results as separate arguments."""
    return Part(plans, lambda folder, results: section(folder, *(each for pair in results for each in pair)))


def _distributions(experiment: SearchDistributions) -> Plan:
    return Plan(experiment, fig23.quick(experiment))


FIG2 = _distributions(fig23.ROSENBROCK)

PARTS: dict[str, Part] = {
    "fig1": _part(fig1_section, Plan(fig1.FULL, fig1.QUICK)),
    "fig2": _part(fig23_section, FIG2, _distributions(fig23.ELSEWHERE["fig2"])),
    "fig3": _part(fig23_section, _distributions(fig23.RASTRIGIN), _distributions(fig23.ELSEWHERE["fig3"])),
    "fig4": _part(fig4_section, Plan(fig4.FULL, fig4.QUICK)),
    "table1": _part(table1_section, Plan(table1.FULL, table1.QUICK)),
    "claims": Part([FIG2, *(Plan(claim.experiment, claim.quick, claim.seeds) for claim in CLAIMS.values())], claims_section),
}
"""The parts that `all` stands for."""

POLICY_SEARCH = "rl"
"""The part that needs the extra `rl` and four hours of a core; not part of `all`."""


def policy_search(folder: Path, only: str | None = None, *, modern: bool, nice: bool) -> Part:
    """Return the part with both environments, or only one; unfinished runs are kept in the folder."""
    require()
    require_mujoco()

    def plan(full: PolicyComparison, small: PolicyComparison) -> Plan:
        kept = (replace(comparison, scratch=folder / "runs") for comparison in (full, small))
        return Plan(*kept, most=rl.SEEDS, few=rl.QUICK_SEEDS)

    chosen = [rl.COMPARISONS[name] for name in rl.COMPARISONS if only in (None, name)]
    sizes = [(each.modern, each.modern_small) if modern else (each.full, each.small) for each in chosen]
    plans = [plan(*each) for each in sizes]
    if nice:
        plans += [plan(*map(rl.with_nice, each)) for each in sizes]
    return Part(plans, rl_section)
