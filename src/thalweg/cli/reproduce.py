"""`thalweg reproduce`: the paper's experiments again, into a folder."""

import os
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from thalweg import plots
from thalweg.cli.bars import progress_bars
from thalweg.cli.reproduce_looks import LOOKS, write_look
from thalweg.experiments.paper import fig4, table1
from thalweg.experiments.paper.experiment import Unit
from thalweg.experiments.paper.store import Store, open_store, write_text
from thalweg.experiments.paper.work import Progress, compute
from thalweg.report.files import markdown, save_figure
from thalweg.report.table1_figure import table1_figure

EXPERIMENTS = {"fig4": fig4, "table1": table1}


@click.command(context_settings={"show_default": True})
@click.argument("experiment", type=click.Choice([*LOOKS, *EXPERIMENTS]))
@click.option("--seeds", type=click.IntRange(min=1), help="Runs of each algorithm.  [default: 100; 5 with --quick]")
@click.option("--workers", type=click.IntRange(min=1), default=max(1, os.cpu_count() or 1), help="Processes at work.")
@click.option("--out", type=click.Path(path_type=Path), help="The results folder.  [default: out/paper; out/paper-quick]")
@click.option("--quick", is_flag=True, help="Dimension 2 only, and shorter runs: about a minute instead of half an hour.")
def reproduce(experiment: str, seeds: int | None, workers: int, out: Path | None, quick: bool) -> None:
    """Run an experiment of the paper again: raw results, figures and a table.

    fig1: xNES in the curved valley of the Rosenbrock function. fig2, fig3: search distributions of GNN-xNES and xNES on the
    Rosenbrock and Rastrigin functions, with an animation. These three take less than a minute each, and one process.

    fig4: best value against evaluations on the Bent Cigar and Rosenbrock functions. table1: f - f_min at convergence on four
    multimodal functions. A run that was stopped goes on where it was, and what is there already is not computed again.
    """
    plots.require()
    console = Console()
    folder = out or Path("out/paper-quick" if quick else "out/paper")
    if experiment in LOOKS:
        for path in write_look(experiment, folder, seeds, quick=quick):
            console.print(str(path), highlight=False, soft_wrap=True)
        return
    module = EXPERIMENTS[experiment]
    store = open_store(folder, module.QUICK if quick else module.FULL)
    units = with_progress(store, seeds or (module.QUICK_SEEDS if quick else module.SEEDS), workers)
    files = write_fig4(store, units) if module is fig4 else write_table1(store, units)
    for path in (store.folder / f"{experiment}.csv", *files):
        console.print(str(path), highlight=False, soft_wrap=True)


def with_progress(store: Store, seeds: int, workers: int) -> list[Unit]:
    """Compute what is missing with a bar and the time left, on a terminal only."""
    with progress_bars() as bars:
        task = bars.add_task(store.experiment.name, total=1.0, note="compiling")

        def report(progress: Progress) -> None:
            left = "compiling" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
            bars.update(task, completed=progress.share, note=f"{progress.done} of {progress.total}, {left}")

        return compute(store, seeds, workers, report)


def duration(seconds: float) -> str:
    """Minutes, or seconds if there are few.

    >>> duration(40), duration(200)
    ('40 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def write_fig4(store: Store, units: Sequence[Unit]) -> list[Path]:
    """The panels and the table of figure 4."""
    files: list[Path] = []
    for (function, d), curves in fig4.panels(store, units).items():
        runs = {f"{name} ({len(each.best)} runs)": each for name, each in curves.items()}
        figure = plots.convergence(runs, title=f"{function}, d = {d}, N = {10 * d}: median and quartiles")
        files += save_figure(figure, store.folder / f"fig4-{function}-d{d}")
    return [*files, write_page(store, "Figure 4", markdown(fig4.HEAD, fig4.table(fig4.summarise(store, units))), files)]


def write_table1(store: Store, units: Sequence[Unit]) -> list[Path]:
    """Table 1, and a picture of it."""
    entries = table1.summarise(store, units)
    files = save_figure(table1_figure(entries), store.folder / "table1")
    return [*files, write_page(store, "Table 1", markdown(table1.HEAD, table1.table(entries)), files)]


def write_page(store: Store, title: str, table: str, figures: Sequence[Path]) -> Path:
    """A page of Markdown with the table and the figures."""
    path = store.folder / f"{store.experiment.name}.md"
    budget = ", ".join(f"{n} generations in dimension {d}" for d, n in store.experiment.generations.items())
    setting = f"x0 = 0, sigma0 = 1, N = 10 d points per generation, {budget}, a landscape of its own for each seed."
    pictures = [f"![{figure.stem}]({figure.name})" for figure in figures if figure.suffix == ".png"]
    write_text(path, "\n\n".join([f"# {title}", setting, table, *pictures]) + "\n")
    return path
