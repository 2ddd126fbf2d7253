"""`thalweg reproduce`: the paper's experiments again, into a folder."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from thalweg import plots
from thalweg.cli.live import progress_bars
from thalweg.storage.atomic import write_text
from thalweg_studies.cli.progress import duration, show_progress
from thalweg_studies.cli.reproduce_parts import PARTS, POLICY_SEARCH, Part, policy_search
from thalweg_studies.common.experiment import FORMAT, Experiment, compute, table_path
from thalweg_studies.common.results import open_results, read_manifest
from thalweg_studies.paper.report.full_report import TITLE, full_report
from thalweg_studies.report.page import Heading, as_html, as_markdown
from thalweg_studies.report.section import Section
from thalweg_studies.rl.settings import COMPARISONS

ALL = "all"


@click.command(context_settings={"show_default": True})
@click.argument("part", type=click.Choice([ALL, *PARTS, POLICY_SEARCH]), default=ALL)
@click.option("--seeds", type=click.IntRange(min=1), help="Runs of each algorithm.  [default: 100; 5 for rl or with --quick]")
@click.option("--workers", type=click.IntRange(min=1), default=max(1, os.cpu_count() or 1), help="Number of processes.")
@click.option("--out", type=click.Path(path_type=Path), help="Results folder.  [default: out/paper or out/rl, plus -quick]")
@click.option("--quick", is_flag=True, help="Dimension 2 and shorter runs: a few minutes instead of about an hour.")
@click.option("--only", type=click.Choice(list(COMPARISONS)), help="For rl: run one environment only.")
@click.option("--modern", is_flag=True, help="For rl: use the observations of today's environments, not the paper's.")
@click.option("--nice", is_flag=True, help="For rl: run the paper's flow as well as the library's.")
def reproduce(
    part: str, seeds: int | None, workers: int, out: Path | None, quick: bool, only: str | None, modern: bool, nice: bool
) -> None:
    """Run the paper's experiments again, and compare its numbers with ours.

    Writes the results of all runs, tables, figures, and a page for each part.

    \b
    fig1    xNES in the curved valley of the Rosenbrock function
    fig2    search distributions on the Rosenbrock function, with an animation
    fig3    the same on the Rastrigin function
    fig4    best value against evaluations on two curved valleys
    table1  f - f_min at convergence on four functions with many minima
    claims  experiments on sentences of the text
    all     all of the above, and a report on them (report.md, report.html)
    rl      direct policy search in two environments of MuJoCo; takes four
            hours of one core and needs the extra rl

    An interrupted command continues where it stopped. Results that exist are not computed again.
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
        for path in (*(table_path(folder, experiment) for experiment, _ in found), *section.files, page):
            console.print(str(path), highlight=False, soft_wrap=True)
    if part == ALL:
        command = "thalweg reproduce" + " --quick" * quick + (f" --seeds {seeds}" if seeds else "")
        blocks = full_report(sections, command, read_manifest(folder, FORMAT))
        for path, text in ((folder / "report.md", as_markdown(blocks)), (folder / "report.html", as_html(TITLE, blocks))):
            write_text(path, text)
            console.print(str(path), highlight=False, soft_wrap=True)
    if console.is_terminal:
        console.print(f"{duration(time.monotonic() - start)}, {workers} workers", highlight=False)


def run(folder: Path, work: Sequence[tuple[Experiment[Any], int]], workers: int) -> dict[str, tuple[Experiment[Any], Any]]:
    """Compute what is missing, and return the experiments with their results by name; shows progress on a terminal."""
    ahead = [cost(folder, experiment, seeds) / workers for experiment, seeds in work]
    results: dict[str, tuple[Experiment[Any], Any]] = {}
    with progress_bars() as bars:
        for i, (experiment, seeds) in enumerate(work):
            task, report = show_progress(bars, experiment.name, "compiling", later=sum(ahead[i + 1 :]))
            results[experiment.name] = experiment, compute(folder, experiment, seeds, workers, report)
            bars.remove_task(task)
    return results


def cost(folder: Path, experiment: Experiment[Any], seeds: int) -> float:
    """Estimate the seconds of one core that the missing runs of an experiment take."""
    pending = open_results(folder, experiment).pending(experiment.units(seeds))
    return sum(experiment.cost(unit) * (1 - (experiment.begun(unit) or 0.0)) for unit in pending)
