"""`thalweg demo`: a comparison to look at, in about a minute."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from thalweg import plots
from thalweg.batch.run_many import Trajectories
from thalweg.cli.bars import progress_bars
from thalweg.cli.demo_runs import AFFINE, ARMS, BENT, ROSENBROCK, SEARCH, STRAIGHT, Setting, Snapshot, demonstrate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@click.command(context_settings={"show_default": True})
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default="thalweg-demo", help="Where the pictures go.")
@click.option("--seeds", type=click.IntRange(min=1), default=Setting.seeds, help="Runs of each algorithm.")
@click.option("--dimension", type=click.IntRange(min=2), default=Setting.dimension, help="Of the Rosenbrock function.")
@click.option("--max-evals", type=click.IntRange(min=1), default=Setting.max_evals, help="Evaluations of a run, at most.")
@click.option("--snapshots", type=click.IntRange(min=1), default=Setting.snapshots, help="2-D runs to pick the picture from.")
def demo(out: Path, seeds: int, dimension: int, max_evals: int, snapshots: int) -> None:
    """GNN-CMA-ES against CMA-ES on the translated 10-D Rosenbrock function.

    Prints a table and writes two pictures: how both converge, and a search distribution that bends.
    """
    setting = Setting(seeds=seeds, dimension=dimension, max_evals=max_evals, snapshots=snapshots)
    plots.require()
    out.mkdir(parents=True, exist_ok=True)
    console = Console()
    console.print(
        f"Rosenbrock function in dimension {dimension}, moved at random: {seeds} {'seed' if seeds == 1 else 'seeds'}, x0 = 0, "
        f"sigma0 = 1, {setting.popsize} points per generation, up to {max_evals:,} evaluations.\n",
        highlight=False,
    )
    runs, snapshot = with_progress(setting)
    console.print(summary(setting, runs), highlight=False)
    console.print(
        f'\n"{AFFINE.name}" is the ablation: the same learning step, but a flow that cannot bend. What it gains over '
        f"{STRAIGHT.name} needs no bend; the rest is the bend's.\n"
        f"{seeds} {'run' if seeds == 1 else 'runs'} of each make an illustration, not a result.\n",
        highlight=False,
    )
    convergence, bend = out / "convergence.png", out / "bend.png"
    title = f"Rosenbrock function, d = {dimension}: median and quartiles of {seeds} runs"
    plots.convergence(runs, target=setting.target, title=title).savefig(convergence)
    picture(snapshot).savefig(bend)
    console.print(f"{convergence}: the course of these runs.", highlight=False, soft_wrap=True)
    console.print(
        f"{bend}: the search distributions in dimension 2 after {snapshot.generation} generations. It shows the clearest bend "
        f"of {snapshot.runs} runs, {snapshot.bend / snapshot.typical:.1f} times as strong as the strongest of a typical run.",
        highlight=False,
        soft_wrap=True,
    )


def with_progress(setting: Setting) -> tuple[dict[str, Trajectories], Snapshot]:
    """Run it with one line of progress for each part, on a terminal only."""
    with progress_bars() as progress:
        work = {arm.name: setting.seeds * setting.generations for arm in ARMS}
        work[SEARCH] = setting.snapshots * setting.generations_2d
        tasks = {name: progress.add_task(name, start=False, total=total, note="waiting") for name, total in work.items()}

        def report(name: str, done: int, note: str) -> None:
            if done == 0:
                progress.start_task(tasks[name])
            progress.update(tasks[name], advance=done, note=note)

        return demonstrate(setting, report)


def summary(setting: Setting, runs: Mapping[str, Trajectories]) -> Table:
    """The table: best values at three budgets and evaluations to the target, medians over the seeds."""
    marks = [budget * setting.dimension for budget in (500, 1000, 1600) if budget * setting.dimension <= setting.max_evals]
    table = Table(box=None, pad_edge=False)
    table.add_column("median over seeds")
    for mark in marks:
        table.add_column(f"best f\nat {mark:,}", justify="right")
    table.add_column(f"evaluations\nto {setting.target:g}", justify="right")
    table.add_column("\nsolved", justify="right")
    values = {name: [float(np.median(run.best_at(mark))) for mark in marks] for name, run in runs.items()}
    needed = {name: float(np.median(run.evaluations_to(setting.target))) for name, run in runs.items()}
    for name, run in runs.items():
        solved = int(np.sum(run.fun <= setting.target))
        evaluations = f"{needed[name]:,.0f}" if np.isfinite(needed[name]) else "-"
        table.add_row(name, *(f"{value:.2g}" for value in values[name]), evaluations, f"{solved} of {setting.seeds}")
    ratios = [a / b for a, b in zip(values[BENT.name], values[STRAIGHT.name], strict=True)]
    faster = needed[BENT.name] / needed[STRAIGHT.name] if np.isfinite(needed[BENT.name]) else np.nan
    table.add_section()
    cells = [f"{ratio:.2g}" for ratio in ratios] + [f"{faster:.2f}" if faster > 0 else "-"]
    table.add_row(f"ratio to {STRAIGHT.name}", *cells, "", style="bold")
    return table


def picture(snapshot: Snapshot) -> "Figure":
    """The two search distributions over the landscape."""
    start = f"2-D Rosenbrock function, same start and seed, generation {snapshot.generation + 1}"
    title = f"{start}: the clearest bend of {snapshot.runs} runs"
    return plots.density_2d(ROSENBROCK, snapshot.searches, minimum=ROSENBROCK.x_opt(2).tolist(), title=title)
