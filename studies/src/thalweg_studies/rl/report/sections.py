"""Policy search as sections of a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from thalweg_studies.common.experiment import FIRST_SEED, Case
from thalweg_studies.common.results import origins, read_manifest
from thalweg_studies.common.verdict import Verdict
from thalweg_studies.report.files import save_figure
from thalweg_studies.report.page import Block, Bullets, Heading, Paragraph, Picture, Table
from thalweg_studies.report.section import Section, verdict_table
from thalweg_studies.rl import summary
from thalweg_studies.rl.comparison import FINAL, PolicyComparison, PolicyRuns
from thalweg_studies.rl.report.film import Shown, film
from thalweg_studies.rl.report.returns_figure import STYLES, returns_figure
from thalweg_studies.rl.report.scenes import scene_of
from thalweg_studies.rl.settings import MAIN, NICE

Results = Sequence[tuple[PolicyComparison, Mapping[Case, PolicyRuns]]]


def rl_section(folder: Path, results: Results) -> Section:
    """Write figures and films, and return the section: each environment with all algorithms that were run in it."""
    together: dict[str, tuple[PolicyComparison, dict[Case, PolicyRuns]]] = {}
    for comparison, cases in results:
        together.setdefault(comparison.functions[0], (comparison, {}))[1].update(cases)
    blocks: list[Block] = [Paragraph(SETTING), Bullets(circumstances(folder, results[0][0]))]
    verdicts: list[Verdict] = []
    files: list[Path] = []
    for comparison, found_cases in together.values():
        cases = {case: found_cases[case] for case in sorted(found_cases, key=lambda case: (*MAIN, *NICE).index(case.method))}
        entries = summary.summarise(comparison, cases)
        found = summary.verdicts(comparison, entries)
        curves = save_figure(returns_figure(comparison, cases), folder / comparison.name)
        blocks += [
            Heading(comparison.title),
            Paragraph(setting(comparison, cases)),
            Picture(curves[0], f"{comparison.title}: mean return of each population, mean and range over the runs"),
            verdict_table(found),
            Paragraph(NUMBERS),
            Table(summary.head(comparison), summary.table(entries)),
        ]
        verdicts += found
        files += curves
        path, shown = folder / f"{comparison.name}.gif", [best(case, runs) for case, runs in cases.items()]
        make = comparison.make.__name__
        why_not = film(make, shown, FINAL, path)
        if why_not is None:
            told = "; ".join(f"{each.name}, {each.note}" for each in shown)
            blocks += [
                Paragraph(f"{FILM} {scene_of(make).words}"),
                Picture(path, f"{comparison.title}: the best policies. {told}"),
            ]
            files.append(path)
        else:
            blocks.append(Paragraph(f"There is no film of the best policies; to draw it MuJoCo needs EGL: `{why_not}`"))
    return Section("Direct policy search", blocks, verdicts, files)


def circumstances(folder: Path, comparison: PolicyComparison) -> list[str]:
    """Describe seeds, versions and machines of the runs."""
    makers = origins(read_manifest(folder, comparison.format))
    return [
        f"Seeds: from {FIRST_SEED} on; none of them served to choose sigma0 or a population",
        f"Versions: {_listed(comparison.settings()['versions'])}",
        *(f"{'And' if i else 'Made'} on: {each['machine']}, with {_listed(each['versions'])}" for i, each in enumerate(makers)),
        "Start states are drawn from the evaluated point, to its last digit. Where XLA rounds differently, as in processes "
        "of one thread or on another processor, the same seed therefore takes another course",
    ]


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def best(case: Case, runs: PolicyRuns) -> Shown:
    """Return the best last policy of an algorithm."""
    i = int(np.argmax(runs.final))
    note = f"seed {FIRST_SEED + i}, mean return {runs.final[i]:,.0f}"
    return Shown(case.method, note, STYLES[case.method][0], runs.policy[i].tolist())


SETTING = (
    "Section 5.3 of the paper: deterministic linear policies, searched for by the mean return of M rollouts. The paper's "
    "figures come from rllab, whose bodies, time steps and rewards differ from Gymnasium's: returns cannot be compared with "
    "them, but algorithms can be in the same environment. Observations that Gymnasium has left out since are put back, unless "
    "`--modern` says otherwise."
)
NUMBERS = (
    "A return is reached when the mean of a population is as high. Faster is judged by the mean return over all populations of "
    "a run, which no choice of a target sways, in pairs of runs from the same seed; intervals are Student's. The last policy "
    "is the mean of the search distribution at the end, in rollouts from states that no search has met."
)
FILM = (
    "Of each algorithm the best of its last policies, in one rollout from the same start for all, which no search has met; the "
    "return beside the seed is the mean of the rollouts that judge the last policies."
)


def setting(comparison: PolicyComparison, cases: Mapping[Case, PolicyRuns]) -> str:
    """Describe the setting of the runs and their number."""
    runs = max(len(each.mean) for each in cases.values())
    ended = (
        f"A run ends when {comparison.enough} populations in a row have had a mean of {comparison.targets[-1]:,.0f} or more; "
        "its last population counts, and is drawn, for all that would have followed. "
        if comparison.enough
        else ""
    )
    return (
        f"{comparison.dimension} parameters, M = {comparison.rollouts} rollouts of at most {comparison.steps:,} steps, x0 = 0, "
        f"sigma0 = {comparison.sigma0:g}, {comparison.popsize} points per generation, {comparison.evaluations[-1]:,} "
        f"evaluations, {runs} runs of each algorithm from seed {FIRST_SEED} on, which rules the start states and the draws; "
        f"every evaluation has start states of its own. {ended}The last policies are judged by {comparison.last} rollouts each."
    )
