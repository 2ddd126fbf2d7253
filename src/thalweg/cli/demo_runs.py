"""The runs of `thalweg demo`: GNN-CMA-ES, CMA-ES, and the ablation without a bend on the translated Rosenbrock function.

The settings are those of the paper: x0 = 0, sigma0 = 1, 10 d points per generation, another translation for each seed. The
seeds are used for nothing else: no constant was tuned on them, and no reported result comes from them.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from thalweg.batch.run_many import Trajectories
from thalweg.objectives import OBJECTIVES, translated
from thalweg.plots.density import draw
from thalweg.search.optimizer import Optimizer

FIRST_SEED = 40_000
"""The first of the seeds that only the demonstration uses."""

ROSENBROCK = OBJECTIVES["rosenbrock"]


@dataclass(frozen=True)
class DemoAlgorithm:
    """One of the algorithms that are compared."""

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


GNN_CMA, CMA = DemoAlgorithm("GNN-CMA-ES", "gnn-cma"), DemoAlgorithm("CMA-ES", "cma")
AFFINE = DemoAlgorithm("affine flow, no bend", "gnn-cma", {"flow": "affine"})
"""The ablation: the same learning step with a flow that can do no more than a latent can. What it gains needs no bend."""

ALGORITHMS = (GNN_CMA, CMA, AFFINE)
SNAPSHOT_SEARCH = "picture of the bend"
"""The name under which the search for the snapshot reports its progress."""


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


@dataclass(frozen=True)
class Snapshot:
    """A generation of GNN-CMA-ES and of CMA-ES from the same start and seed, for a picture."""

    searches: dict[str, Optimizer]
    seed: int
    generation: int
    bend: float
    typical: float
    """The median over all runs of the strongest bend of each."""
    runs: int
    """The number of runs from which it was chosen."""


Report = Callable[[str, int, str], object]
"""Receives progress: the name of the part, the number of generations just done, and a note."""


def silent(name: str, done: int, note: str) -> None:
    """Ignore the progress."""


def run_demo(settings: DemoSettings, report: Report = silent) -> tuple[dict[str, Trajectories], Snapshot]:
    """Run all algorithms on the same functions and find the snapshot; two threads, so that one compiles while another runs."""
    stop = Event()
    with ThreadPoolExecutor(2) as pool:
        try:
            runs = {each.name: pool.submit(run_algorithm, settings, each, report, stop) for each in ALGORITHMS}
            snapshot = pool.submit(clearest_bend, settings, report, stop)
            return {name: run.result() for name, run in runs.items()}, snapshot.result()
        except BaseException:  # above all Ctrl-C, after which no thread may continue
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def run_algorithm(
    settings: DemoSettings, algorithm: DemoAlgorithm, report: Report = silent, stop: Event | None = None
) -> Trajectories:
    """Run one algorithm from all seeds, each on its own translation of the function."""
    stop = stop or Event()
    report(algorithm.name, 0, "compiling")
    shape = settings.seeds, settings.generations
    best, median, x = np.full(shape, np.inf), np.full(shape, np.inf), np.zeros((settings.seeds, settings.dimension))
    for i in range(settings.seeds):
        problem = translated(ROSENBROCK, settings.dimension, FIRST_SEED + i)
        es = Optimizer(
            np.zeros(settings.dimension),
            1.0,
            method=algorithm.method,
            popsize=settings.popsize,
            seed=FIRST_SEED + i,
            max_iter=settings.generations,
            ftarget=settings.target,
            options=algorithm.options,
        )
        while not (es.stop() or stop.is_set()):
            X = es.ask()
            F = problem(X)
            es.tell(X, F)
            best[i, es.nit - 1 :], median[i, es.nit - 1 :], x[i] = es.best.f, np.median(F), es.best.x
            report(algorithm.name, 1, f"run {i + 1} of {settings.seeds}, f {es.best.f:.0e}")
        report(algorithm.name, settings.generations - es.nit, f"run {i + 1} of {settings.seeds}, f {es.best.f:.0e}")
    return Trajectories(settings.popsize * np.arange(1, settings.generations + 1), best, median, x, {})


def clearest_bend(settings: DemoSettings, report: Report = silent, stop: Event | None = None) -> Snapshot:
    """Return the generation with the clearest bend among runs of GNN-CMA-ES on the 2-D Rosenbrock function, beside CMA-ES.

    Whatever shows it must say that it was chosen: most generations are nearly straight.
    """
    stop = stop or Event()
    report(SNAPSHOT_SEARCH, 0, "compiling")
    bends = np.zeros((settings.snapshots, settings.generations_2d))
    for run in range(settings.snapshots):
        es = _search(GNN_CMA, FIRST_SEED + run, settings)
        while es.nit < settings.generations_2d and not stop.is_set():
            _advance(es)
            bends[run, es.nit - 1] = bend_of(es)
            report(SNAPSHOT_SEARCH, 1, f"run {run + 1} of {settings.snapshots}")
    run, generation = (int(i) for i in np.unravel_index(np.argmax(bends), bends.shape))
    searches = {algorithm.name: _search(algorithm, FIRST_SEED + run, settings) for algorithm in (GNN_CMA, CMA)}
    for es in searches.values():
        while es.nit <= generation and not stop.is_set():
            _advance(es)
    typical = float(np.median(bends.max(1)))
    return Snapshot(searches, FIRST_SEED + run, generation + 1, float(bends.max()), typical, settings.snapshots)


def bend_of(es: Optimizer) -> float:
    """Estimate the bend of the search distribution of an optimiser in dimension 2 from 2,000 points."""
    return bend(draw(es, 2000))


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


def _search(algorithm: DemoAlgorithm, seed: int, settings: DemoSettings) -> Optimizer:
    method, options = algorithm.method, algorithm.options
    return Optimizer([-1.0, 1.0], 1.0, method=method, popsize=settings.popsize_2d, seed=seed, options=options)


def _advance(es: Optimizer) -> None:
    X = es.ask()
    es.tell(X, ROSENBROCK(X))
