"""Policy search as sections of a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from thalweg_studies.paper import store
from thalweg_studies.paper.experiment import FIRST_SEED, Case
from thalweg_studies.paper.verdict import Verdict
from thalweg_studies.report.files import save_figure
from thalweg_studies.report.page import Block, Bullets, Heading, Paragraph, Picture, Table
from thalweg_studies.report.rl_figure import STYLES, returns_figure
from thalweg_studies.report.rl_film import Shown, film
from thalweg_studies.report.rl_scenes import scene_of
from thalweg_studies.report.section import Section, verdict_table
from thalweg_studies.rl import summary
from thalweg_studies.rl.arms import MAIN, NICE
from thalweg_studies.rl.race import FINAL, PolicyRace, Runs

Results = Sequence[tuple[PolicyRace, Mapping[Case, Runs]]]


def rl_section(folder: Path, results: Results) -> Section:
    """Each environment with all the arms that were run in it."""
    together: dict[str, tuple[PolicyRace, dict[Case, Runs]]] = {}
    for race, cases in results:
        together.setdefault(race.functions[0], (race, {}))[1].update(cases)
    blocks: list[Block] = [Paragraph(SETTING), Bullets(circumstances(folder, results[0][0]))]
    verdicts: list[Verdict] = []
    files: list[Path] = []
    for race, found_cases in together.values():
        cases = {case: found_cases[case] for case in sorted(found_cases, key=lambda case: (*MAIN, *NICE).index(case.method))}
        entries = summary.summarise(race, cases)
        found = summary.verdicts(race, entries)
        curves = save_figure(returns_figure(race, cases), folder / race.name)
        blocks += [
            Heading(race.title),
            Paragraph(setting(race, cases)),
            Picture(curves[0], f"{race.title}: mean return of each population, mean and range over the runs"),
            verdict_table(found),
            Paragraph(NUMBERS),
            Table(summary.head(race), summary.table(entries)),
        ]
        verdicts += found
        files += curves
        path, shown = folder / f"{race.name}.gif", [best(case, runs) for case, runs in cases.items()]
        make = race.make.__name__
        why_not = film(make, shown, FINAL, path)
        if why_not is None:
            told = "; ".join(f"{each.name}, {each.note}" for each in shown)
            blocks += [Paragraph(f"{FILM} {scene_of(make).words}"), Picture(path, f"{race.title}: the best policies. {told}")]
            files.append(path)
        else:
            blocks.append(Paragraph(f"There is no film of the best policies; to draw it MuJoCo needs EGL: `{why_not}`"))
    return Section("Direct policy search", blocks, verdicts, files)


def circumstances(folder: Path, race: PolicyRace) -> list[str]:
    """What the runs were made with."""
    makers = store.makers(store.read_manifest(folder, exact=False))
    return [
        f"Seeds: from {FIRST_SEED} on; none of them served to choose sigma0 or a population",
        f"Versions: {_listed(race.settings()['versions'])}",
        *(f"{'And' if i else 'Made'} on: {each['machine']}, with {_listed(each['versions'])}" for i, each in enumerate(makers)),
        "Start states are drawn from the evaluated point, to its last digit. Where XLA rounds differently, as in processes "
        "of one thread or on another processor, the same seed therefore takes another course",
    ]


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def best(case: Case, runs: Runs) -> Shown:
    """The best last policy of an algorithm."""
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


def setting(race: PolicyRace, cases: Mapping[Case, Runs]) -> str:
    """What the runs had in common, and how many they were."""
    runs = max(len(each.mean) for each in cases.values())
    ended = (
        f"A run ends when {race.enough} populations in a row have had a mean of {race.targets[-1]:,.0f} or more; its last "
        "population counts, and is drawn, for all that would have followed. "
        if race.enough
        else ""
    )
    return (
        f"{race.dimension} parameters, M = {race.rollouts} rollouts of at most {race.steps:,} steps, x0 = 0, "
        f"sigma0 = {race.sigma0:g}, {race.popsize} points per generation, {race.evaluations[-1]:,} evaluations, {runs} runs of "
        f"each algorithm from seed {FIRST_SEED} on, which rules the start states and the draws; every evaluation has start "
        f"states of its own. {ended}The last policies are judged by {race.last} rollouts each."
    )
