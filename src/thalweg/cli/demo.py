"""`thalweg demo`: compare GNN-CMA-ES with CMA-ES in about a minute."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from thalweg import plots
from thalweg.batch.run_many import Trajectories
from thalweg.cli.demo_runs import (
    AFFINE,
    ALGORITHMS,
    CMA,
    GNN_CMA,
    ROSENBROCK,
    SNAPSHOT_SEARCH,
    DemoSettings,
    Snapshot,
    run_demo,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


@click.command(context_settings={"show_default": True})
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default="thalweg-demo", help="Folder for the two pictures."
)
@click.option("--seeds", type=click.IntRange(min=1), default=DemoSettings.seeds, help="Number of runs of each algorithm.")
@click.option(
    "--dimension", type=click.IntRange(min=2), default=DemoSettings.dimension, help="Dimension of the Rosenbrock function."
)
@click.option(
    "--max-evals", type=click.IntRange(min=1), default=DemoSettings.max_evals, help="Maximum number of evaluations of a run."
)
@click.option(
    "--snapshots",
    type=click.IntRange(min=1),
    default=DemoSettings.snapshots,
    help="Number of 2-D runs from which the picture of a bend is chosen.",
)
def demo(out: Path, seeds: int, dimension: int, max_evals: int, snapshots: int) -> None:
    """Compare GNN-CMA-ES with CMA-ES on the Rosenbrock function.

    Prints a table and writes two pictures: the convergence of the algorithms, and a search distribution that bends.
    """
    from rich.console import Console

    settings = DemoSettings(seeds=seeds, dimension=dimension, max_evals=max_evals, snapshots=snapshots)
    plots.require()
    out.mkdir(parents=True, exist_ok=True)
    console = Console()
    console.print(
        f"Rosenbrock function in dimension {dimension}, translated at random: {seeds} {'seed' if seeds == 1 else 'seeds'}, "
        f"x0 = 0, sigma0 = 1, {settings.popsize} points per generation, up to {max_evals:,} evaluations.\n",
        highlight=False,
    )
    runs, snapshot = run_with_progress(settings)
    console.print(summary_table(settings, runs), highlight=False)
    console.print(
        f'\n"{AFFINE.name}" is the ablation: the same learning step with a flow that cannot bend. What it gains over '
        f"{CMA.name} needs no bend; only the difference between {GNN_CMA.name} and the ablation is due to the bend.\n"
        f"{seeds} {'run' if seeds == 1 else 'runs'} of each algorithm are an illustration, not a result.\n",
        highlight=False,
    )
    convergence, bend = out / "convergence.png", out / "bend.png"
    title = f"Rosenbrock function, d = {dimension}: median and quartiles of {seeds} runs"
    plots.convergence(runs, target=settings.target, title=title).savefig(convergence)
    snapshot_figure(snapshot).savefig(bend)
    console.print(f"{convergence}: best value against evaluations of these runs.", highlight=False, soft_wrap=True)
    console.print(
        f"{bend}: the search distributions in dimension 2 after {snapshot.generation} generations. It shows the clearest bend "
        f"of {snapshot.runs} runs, {snapshot.bend / snapshot.typical:.1f} times as strong as the strongest of a typical run.",
        highlight=False,
        soft_wrap=True,
    )


def run_with_progress(settings: DemoSettings) -> tuple[dict[str, Trajectories], Snapshot]:
    """Run the demonstration with a progress bar for each part."""
    from thalweg.cli.bars import progress_bars

    with progress_bars() as progress:
        generations = {algorithm.name: settings.seeds * settings.generations for algorithm in ALGORITHMS}
        generations[SNAPSHOT_SEARCH] = settings.snapshots * settings.generations_2d
        tasks = {name: progress.add_task(name, start=False, total=total, note="waiting") for name, total in generations.items()}

        def report(name: str, done: int, note: str) -> None:
            if done == 0:
                progress.start_task(tasks[name])
            progress.update(tasks[name], advance=done, note=note)

        return run_demo(settings, report)


def summary_table(settings: DemoSettings, runs: Mapping[str, Trajectories]) -> "Table":
    """Return a table of the best values at three budgets and the evaluations to the target, as medians over the seeds."""
    from rich.table import Table

    marks = [budget * settings.dimension for budget in (500, 1000, 1600) if budget * settings.dimension <= settings.max_evals]
    table = Table(box=None, pad_edge=False)
    table.add_column("median over seeds")
    for mark in marks:
        table.add_column(f"best f\nat {mark:,}", justify="right")
    table.add_column(f"evaluations\nto {settings.target:g}", justify="right")
    table.add_column("\nsolved", justify="right")
    values = {name: [float(np.median(run.best_at(mark))) for mark in marks] for name, run in runs.items()}
    needed = {name: float(np.median(run.evaluations_to(settings.target))) for name, run in runs.items()}
    for name, run in runs.items():
        solved = int(np.sum(run.fun <= settings.target))
        evaluations = f"{needed[name]:,.0f}" if np.isfinite(needed[name]) else "-"
        table.add_row(name, *(f"{value:.2g}" for value in values[name]), evaluations, f"{solved} of {settings.seeds}")
    ratios = [a / b for a, b in zip(values[GNN_CMA.name], values[CMA.name], strict=True)]
    faster = needed[GNN_CMA.name] / needed[CMA.name] if np.isfinite(needed[GNN_CMA.name]) else np.nan
    table.add_section()
    cells = [f"{ratio:.2g}" for ratio in ratios] + [f"{faster:.2f}" if faster > 0 else "-"]
    table.add_row(f"ratio to {CMA.name}", *cells, "", style="bold")
    return table


def snapshot_figure(snapshot: Snapshot) -> "Figure":
    """Draw the two search distributions of a snapshot over the Rosenbrock function."""
    start = f"2-D Rosenbrock function, same start and seed, generation {snapshot.generation + 1}"
    title = f"{start}: the clearest bend of {snapshot.runs} runs"
    return plots.density_2d(ROSENBROCK, snapshot.searches, minimum=ROSENBROCK.x_opt(2).tolist(), title=title)
