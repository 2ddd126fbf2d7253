"""`thalweg demo`: compare GNN-CMA-ES, CMA-ES and an ablation without a bend in about a minute.

The settings are those of the paper: x0 = 0, sigma0 = 1, 10 d points per generation, another translation of the function for
each seed. The seeds are used for nothing else: no constant was tuned on them, and no reported result comes from them.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from thalweg import plots
from thalweg.batch.trajectories import Trajectories
from thalweg.objectives import OBJECTIVES, translated
from thalweg.plots.density import draw, reach
from thalweg.search.optimizer import Optimizer

if TYPE_CHECKING:
    from rich.table import Table

FIRST_SEED = 40_000
"""The first of the seeds that only the demonstration uses."""
ROSENBROCK = OBJECTIVES["rosenbrock"]

GNN_CMA, CMA, AFFINE = "GNN-CMA-ES", "CMA-ES", "affine flow, no bend"
ALGORITHMS: dict[str, dict[str, Any]] = {
    GNN_CMA: {"method": "gnn-cma"},
    CMA: {"method": "cma"},
    AFFINE: {"method": "gnn-cma", "options": {"flow": "affine"}},
}
"""Arguments of `Optimizer` by name. The last is the ablation: the same learning step with a flow that cannot bend."""
MINIMUM = ROSENBROCK.x_opt(2).tolist()
CANDIDATES, FAR = 100, 100
"""Generations among which the snapshot is looked for, and how many times lower than on the line around 95% of the ellipse the
density at the minimum must be there for it to be far."""
SNAPSHOT_SEARCH = "picture of the bend"
"""The name under which the search for the snapshot reports its progress."""

COUNT = click.IntRange(min=1)
Report = Callable[[str, int, str], object]
"""Receives progress: the name of the part, the number of generations just done, and a note."""


@dataclass(frozen=True)
class DemoSettings:
    """The size of the demonstration."""

    seeds: int = 8
    dimension: int = 10
    max_evals: int = 24_000
    target: float = 1e-8
    snapshots: int = 100
    """Runs in dimension 2 from which the snapshot of a bend is chosen."""
    popsize_2d: int = 100
    generations_2d: int = 12

    @property
    def popsize(self) -> int:
        """Points per generation: 10 d, as in the paper."""
        return 10 * self.dimension

    @property
    def generations(self) -> int:
        """Generations of a run that does not reach the target."""
        return -(-self.max_evals // self.popsize)


class Snapshot(NamedTuple):
    """A generation of GNN-CMA-ES and of CMA-ES from the same start and seed, for a picture."""

    searches: dict[str, Optimizer]
    generation: int
    bend: float
    typical: float
    """The median over all runs of the strongest bend of each."""


@click.command(context_settings={"show_default": True})
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default="thalweg-demo", help="Folder for the two pictures."
)
@click.option("--seeds", type=COUNT, default=DemoSettings.seeds, help="Number of runs of each algorithm.")
@click.option(
    "--dimension", type=click.IntRange(2), default=DemoSettings.dimension, help="Dimension of the Rosenbrock function."
)
@click.option("--max-evals", type=COUNT, default=DemoSettings.max_evals, help="Maximum number of evaluations of a run.")
@click.option(
    "--snapshots",
    type=COUNT,
    default=DemoSettings.snapshots,
    help="Number of 2-D runs from which the picture of a bend is chosen.",
)
def demo(out: Path, **size: int) -> None:
    """Compare GNN-CMA-ES with CMA-ES on the Rosenbrock function.

    Prints a table and writes two pictures: the convergence of the algorithms, and a search distribution that bends.
    """
    from rich.console import Console

    settings = DemoSettings(**size)
    seeds, s = settings.seeds, "s" * (settings.seeds != 1)
    plots.require()
    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    console.print(
        f"Rosenbrock function in dimension {settings.dimension}, translated at random: {seeds} seed{s}, x0 = 0, sigma0 = 1, "
        f"{settings.popsize} points per generation, up to {settings.max_evals:,} evaluations.\n"
    )
    runs, snapshot = run_with_progress(settings)
    console.print(summary_table(settings, runs))
    console.print(
        f'\n"{AFFINE}" is the ablation: the same learning step with a flow that cannot bend. What it gains over {CMA} needs no '
        f"bend; only the difference between {GNN_CMA} and the ablation is due to the bend.\n"
        f"{seeds} run{s} of each algorithm are an illustration, not a result.\n"
    )
    convergence, bend = out / "convergence.png", out / "bend.png"
    title = f"Rosenbrock function, d = {settings.dimension}: median and quartiles of {seeds} runs"
    plots.convergence(runs, target=settings.target, title=title).savefig(convergence)
    start = f"2-D Rosenbrock function, same start and seed, generation {snapshot.generation + 1}"
    title = f"{start}: chosen among {settings.snapshots} runs"
    plots.density_2d(ROSENBROCK, snapshot.searches, minimum=MINIMUM, title=title).savefig(bend)
    console.print(f"{convergence}: best value against evaluations of these runs.", soft_wrap=True)
    stronger = snapshot.bend / snapshot.typical
    console.print(
        f"{bend}: the search distributions in dimension 2 after {snapshot.generation} generations, chosen among "
        f"{settings.snapshots} runs: the clearest bend that holds the minimum while the ellipse is far from it. It is "
        f"{stronger:.1f} times as strong as the strongest of a typical run.",
        soft_wrap=True,
    )


def run_with_progress(settings: DemoSettings) -> tuple[dict[str, Trajectories], Snapshot]:
    """Run the demonstration with a progress bar for each part."""
    from thalweg.cli.live import progress_bars

    with progress_bars() as progress:
        generations = dict.fromkeys(ALGORITHMS, settings.seeds * settings.generations)
        generations[SNAPSHOT_SEARCH] = settings.snapshots * settings.generations_2d
        tasks = {name: progress.add_task(name, start=False, total=total, note="waiting") for name, total in generations.items()}

        def report(name: str, done: int, note: str) -> None:
            if done == 0:
                progress.start_task(tasks[name])
            progress.update(tasks[name], advance=done, note=note)

        return run_demo(settings, report)


def run_demo(settings: DemoSettings, report: Report) -> tuple[dict[str, Trajectories], Snapshot]:
    """Run all algorithms on the same functions and find the snapshot; two threads, so that one compiles while another runs."""
    stop = Event()

    def report_or_stop(name: str, done: int, note: str) -> None:
        if stop.is_set():
            raise CancelledError
        report(name, done, note)

    with ThreadPoolExecutor(2) as pool:
        try:
            runs = {name: pool.submit(run_algorithm, settings, name, report_or_stop) for name in ALGORITHMS}
            snapshot = pool.submit(clearest_bend, settings, report_or_stop)
            return {name: run.result() for name, run in runs.items()}, snapshot.result()
        except BaseException:  # above all Ctrl-C, after which no thread may continue
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def run_algorithm(settings: DemoSettings, name: str, report: Report) -> Trajectories:
    """Run one algorithm from all seeds, each on its own translation of the function."""
    report(name, 0, "compiling")
    d, generations = settings.dimension, settings.generations
    best, median = np.full((2, settings.seeds, generations), np.inf)
    x = np.zeros((settings.seeds, d))
    limits = {"popsize": settings.popsize, "max_iter": generations, "ftarget": settings.target}
    for i in range(settings.seeds):
        problem = translated(ROSENBROCK, d, FIRST_SEED + i)
        es = Optimizer(np.zeros(d), 1.0, seed=FIRST_SEED + i, **limits, **ALGORITHMS[name])
        while not es.stop():
            F = advance(es, problem)
            best[i, es.nit - 1 :], median[i, es.nit - 1 :], x[i] = es.best.f, np.median(F), es.best.x
            done = generations - es.nit + 1 if es.stop() else 1  # the generations that a solved run does not need as well
            report(name, done, f"run {i + 1} of {settings.seeds}, f {es.best.f:.0e}")
    return Trajectories(settings.popsize * np.arange(1, generations + 1), best, median, x, {})


def clearest_bend(settings: DemoSettings, report: Report) -> Snapshot:
    """Return the generation with the clearest bend among runs of GNN-CMA-ES on the 2-D Rosenbrock function, beside CMA-ES.

    It is the clearest of those that hold the minimum while the ellipse is far from it, if there is one. Whatever shows it must
    say that it was chosen: most generations are nearly straight.
    """

    def begin(name: str, run: int) -> Optimizer:
        return Optimizer([-1.0, 1.0], 1.0, popsize=settings.popsize_2d, seed=FIRST_SEED + run, **ALGORITHMS[name])

    report(SNAPSHOT_SEARCH, 0, "compiling")
    bends = np.zeros((settings.snapshots, settings.generations_2d))
    for run in range(settings.snapshots):
        es = begin(GNN_CMA, run)
        for generation in range(settings.generations_2d):
            advance(es, ROSENBROCK)
            bends[run, generation] = bend(draw(es, 2000))
            report(SNAPSHOT_SEARCH, 1, f"run {run + 1} of {settings.snapshots}")

    def snapshot(place: int) -> Snapshot:
        run, generation = divmod(int(place), settings.generations_2d)
        searches = {name: begin(name, run) for name in (GNN_CMA, CMA)}
        for es in searches.values():
            for _ in range(generation + 1):
                advance(es, ROSENBROCK)
        return Snapshot(searches, generation + 1, float(bends[run, generation]), float(np.median(bends.max(1))))

    clearest = np.argsort(-bends, axis=None)
    shots = map(snapshot, clearest[:CANDIDATES])
    leading = (each for each in shots if reach(each.searches[GNN_CMA], MINIMUM) > 1 > FAR * reach(each.searches[CMA], MINIMUM))
    return next(leading, None) or snapshot(clearest[0])


def advance(es: Optimizer, fun: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Run one generation and return its function values."""
    X = es.ask()
    F = fun(X)
    es.tell(X, F)
    return F


def bend(points: np.ndarray) -> float:
    """Measure how clearly points (n, 2) lie along a parabola: its height at one standard deviation of x_1.

    The unit is the geometric mean of the width across the parabola and the length along it: a bend is visible if it is neither
    lost in the width nor small beside the length. The measure is 0 for distributions too small to be seen beside the valley.

    >>> x = np.linspace(-1, 1, 101)
    >>> round(bend(np.stack([x, x**2 + 0.1 * np.sin(100 * x)], 1)), 1)
    1.6
    """
    x, y = points.T
    if x.std() < 0.1:
        return 0.0
    parabola = np.polynomial.Polynomial.fit(x, y, 2)
    width, length = (y - parabola(x)).std(), np.hypot(x.std(), y.std())
    return float(parabola.convert().coef[2] * x.var() / np.sqrt(width * length))


def summary_table(settings: DemoSettings, runs: Mapping[str, Trajectories]) -> "Table":
    """Return a table of the best values at three budgets and the evaluations to the target, as medians over the seeds."""
    from rich.table import Table

    marks = [budget * settings.dimension for budget in (500, 1000, 1600) if budget * settings.dimension <= settings.max_evals]
    table = Table(box=None, pad_edge=False)
    table.add_column("median over seeds")
    for title in (*(f"best f\nat {mark:,}" for mark in marks), f"evaluations\nto {settings.target:g}", "\nsolved"):
        table.add_column(title, justify="right")
    values = {name: np.array([np.median(run.best_at(mark)) for mark in marks]) for name, run in runs.items()}
    needed = {name: float(np.median(run.evaluations_to(settings.target))) for name, run in runs.items()}
    for name, run in runs.items():
        evaluations = f"{needed[name]:,.0f}" if np.isfinite(needed[name]) else "-"
        solved = f"{np.sum(run.fun <= settings.target)} of {settings.seeds}"
        table.add_row(name, *(f"{value:.2g}" for value in values[name]), evaluations, solved)
    table.add_section()
    faster = f"{needed[GNN_CMA] / needed[CMA]:.2f}" if 0 < needed[GNN_CMA] / needed[CMA] < np.inf else "-"
    table.add_row(f"ratio to {CMA}", *(f"{ratio:.2g}" for ratio in values[GNN_CMA] / values[CMA]), faster, "", style="bold")
    return table
