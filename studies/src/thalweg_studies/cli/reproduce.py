"""`thalweg reproduce`: the paper's experiments again, into a folder."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from thalweg import plots
from thalweg.cli.bars import progress_bars
from thalweg_studies.cli.reproduce_parts import PARTS, POLICY_SEARCH, Part, policy_search
from thalweg_studies.paper.experiment import Experiment
from thalweg_studies.paper.store import Store, open_store, read_manifest, write_text
from thalweg_studies.paper.work import Progress, compute
from thalweg_studies.report.page import Heading, as_html, as_markdown
from thalweg_studies.report.section import Section
from thalweg_studies.report.whole import TITLE, whole
from thalweg_studies.rl.settings import RACES

ALL = "all"


@click.command(context_settings={"show_default": True})
@click.argument("part", type=click.Choice([ALL, *PARTS, POLICY_SEARCH]), default=ALL)
@click.option("--seeds", type=click.IntRange(min=1), help="Runs of each algorithm.  [default: 100; 5 for rl, or with --quick]")
@click.option("--workers", type=click.IntRange(min=1), default=max(1, os.cpu_count() or 1), help="Processes at work.")
@click.option("--out", type=click.Path(path_type=Path), help="The results folder.  [default: out/paper, out/rl; with -quick]")
@click.option("--quick", is_flag=True, help="Dimension 2, shorter runs: a few minutes instead of about an hour.")
@click.option("--only", type=click.Choice(list(RACES)), help="One environment of rl.")
@click.option("--modern", is_flag=True, help="For rl: the observations of today's environments, not the paper's.")
@click.option("--nice", is_flag=True, help="For rl: the paper's flow beside the library's.")
def reproduce(
    part: str, seeds: int | None, workers: int, out: Path | None, quick: bool, only: str | None, modern: bool, nice: bool
) -> None:
    """Run the paper's experiments again: raw results, figures, and pages that put the paper's numbers beside ours.

    \b
    fig1    xNES in the curved valley of the Rosenbrock function
    fig2    search distributions on the Rosenbrock function, with an animation
    fig3    the same on the Rastrigin function
    fig4    best value against evaluations on two curved valleys
    table1  f - f_min at convergence on four functions with many minima
    claims  sentences of the text as experiments
    all     everything above, and the report of it (report.md, report.html)
    rl      direct policy search in two environments of MuJoCo; four hours of a core, extra rl

    A run that was stopped goes on where it was, and what is there already is not computed again.
    """  # noqa: D301  (click must see the backspace itself, which keeps the lines as they are)
    plots.require()
    console, start = Console(), time.monotonic()
    if part != POLICY_SEARCH and (only or modern or nice):
        raise click.UsageError(f"--only, --modern and --nice are for the part {POLICY_SEARCH}")
    kind = f"rl{'-modern' * modern}" if part == POLICY_SEARCH else "paper"
    folder = out or Path(f"out/{kind}{'-quick' * quick}")
    parts: dict[str, Part] = PARTS
    if part == POLICY_SEARCH:
        parts = {part: policy_search(folder, only, modern=modern, nice=nice)}
    names = list(parts) if part == ALL else [part]
    plans = [plan for name in names for plan in parts[name].plans]
    results = run(folder, [(plan.experiment(quick=quick), plan.seeds(seeds, quick=quick)) for plan in plans], workers)
    sections: list[Section] = []
    for name in names:
        found = [results[plan.name] for plan in parts[name].plans]
        section = parts[name].section(folder, found)
        page = folder / f"{name}.md"
        write_text(page, as_markdown([Heading(section.title, 1), *section.blocks]))
        sections.append(section)
        for path in (*(folder / f"{plan.name}.csv" for plan in parts[name].plans), *section.files, page):
            console.print(str(path), highlight=False, soft_wrap=True)
    if part == ALL:
        command = "thalweg reproduce" + " --quick" * quick + (f" --seeds {seeds}" if seeds else "")
        blocks = whole(sections, command, read_manifest(folder))
        for path, text in ((folder / "report.md", as_markdown(blocks)), (folder / "report.html", as_html(TITLE, blocks))):
            write_text(path, text)
            console.print(str(path), highlight=False, soft_wrap=True)
    if console.is_terminal:
        console.print(f"{duration(time.monotonic() - start)}, {workers} workers", highlight=False)


def run(folder: Path, work: Sequence[tuple[Experiment[Any], int]], workers: int) -> dict[str, tuple[Experiment[Any], Any]]:
    """Compute what is missing, with a bar and the time left on a terminal; experiments and their results by name."""
    stores = [(open_store(folder, experiment), seeds) for experiment, seeds in work]
    ahead = [cost(store, seeds) / workers for store, seeds in stores]
    results: dict[str, tuple[Experiment[Any], Any]] = {}
    with progress_bars() as bars:
        for i, (store, seeds) in enumerate(stores):
            task = bars.add_task(store.experiment.name, total=1.0, note="compiling")
            later = sum(ahead[i + 1 :])

            def report(progress: Progress, task: Any = task, later: float = later) -> None:
                left = "compiling" if progress.seconds_left is None else f"{duration(progress.seconds_left + later)} left"
                bars.update(task, completed=progress.share, note=f"{progress.done} of {progress.total}, {left}")

            results[store.experiment.name] = store.experiment, store.collect(compute(store, seeds, workers, report))
            bars.remove_task(task)
    return results


def cost(store: Store[Any], seeds: int) -> float:
    """About how many seconds of a core are still to be spent."""
    experiment = store.experiment
    pending = store.pending(experiment.units(seeds))
    return sum(experiment.cost(unit) * (1 - (experiment.begun(unit) or 0.0)) for unit in pending)


def duration(seconds: float) -> str:
    """Minutes, or seconds if there are few.

    >>> duration(40), duration(200)
    ('40 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
