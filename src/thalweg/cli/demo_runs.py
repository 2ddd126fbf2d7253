"""The demonstration: GNN-CMA-ES, CMA-ES, and the ablation without a bend on the translated 10-D Rosenbrock function.

Settings are the paper's: x0 = 0, sigma0 = 1, 10 d points per generation, a landscape of its own for each seed. The seeds serve
nothing else: no constant was tuned on them, and no reported result comes from them.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any

import jax
import numpy as np

from thalweg.batch.run_many import Trajectories
from thalweg.objectives import OBJECTIVES, translated
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.registry import with_popsize
from thalweg.strategies.strategy import State, Strategy

FIRST_SEED = 40_000
"""The first of the demonstration's own seeds."""

ROSENBROCK = OBJECTIVES["rosenbrock"]


@dataclass(frozen=True)
class Arm:
    """One of the algorithms that are compared."""

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


BENT, STRAIGHT = Arm("GNN-CMA-ES", "gnn-cma"), Arm("CMA-ES", "cma")
AFFINE = Arm("affine flow, no bend", "gnn-cma", {"flow": "affine"})
"""The ablation: the same step, but the flow can only do what a latent can. What it gains needs no bend."""

ARMS = (BENT, STRAIGHT, AFFINE)
SEARCH = "picture of the bend"
"""The name under which the search for the snapshot reports its progress."""


@dataclass(frozen=True)
class Setting:
    """How large the demonstration is."""

    seeds: int = 8
    dimension: int = 10
    max_evals: int = 24_000
    target: float = 1e-8
    snapshots: int = 100
    """Runs in dimension 2 among which the snapshot of a bend is picked."""
    popsize_2d: int = 100
    generations_2d: int = 12

    @property
    def popsize(self) -> int:
        """The paper's 10 d."""
        return 10 * self.dimension

    @property
    def generations(self) -> int:
        """Of a run that never reaches the target."""
        return -(-self.max_evals // self.popsize)


@dataclass(frozen=True)
class Snapshot:
    """A generation of GNN-CMA-ES and of CMA-ES from the same start and seed, to be looked at."""

    searches: dict[str, Optimizer]
    seed: int
    generation: int
    bend: float
    typical: float
    """The median over all runs of the strongest bend of each."""
    runs: int
    """How many runs it was picked from."""


Report = Callable[[str, int, str], object]
"""Told after every generation: whose, how many generations are done with it, and a word on how it stands."""


def silent(name: str, done: int, note: str) -> None:
    """Report nothing."""


def demonstrate(setting: Setting, report: Report = silent) -> tuple[dict[str, Trajectories], Snapshot]:
    """Run all arms on the same landscapes, and find the snapshot. Two at a time: one compiles while another runs."""
    stop = Event()
    with ThreadPoolExecutor(2) as pool:
        try:
            jobs = {arm.name: pool.submit(compare, setting, arm, report, stop) for arm in ARMS}
            snapshot = pool.submit(clearest_bend, setting, report, stop)
            return {name: job.result() for name, job in jobs.items()}, snapshot.result()
        except BaseException:  # Ctrl-C above all: no thread goes on behind it
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def compare(setting: Setting, arm: Arm, report: Report = silent, stop: Event | None = None) -> Trajectories:
    """One arm from all seeds, each on its own landscape."""
    stop = stop or Event()
    report(arm.name, 0, "compiling")
    shape = setting.seeds, setting.generations
    best, median, x = np.full(shape, np.inf), np.full(shape, np.inf), np.zeros((setting.seeds, setting.dimension))
    for i in range(setting.seeds):
        problem = translated(ROSENBROCK, setting.dimension, FIRST_SEED + i)
        es = Optimizer(
            np.zeros(setting.dimension),
            1.0,
            method=arm.method,
            popsize=setting.popsize,
            seed=FIRST_SEED + i,
            max_iter=setting.generations,
            ftarget=setting.target,
            options=arm.options,
        )
        while not (es.stop() or stop.is_set()):
            X = es.ask()
            F = problem(X)
            es.tell(X, F)
            best[i, es.nit - 1 :], median[i, es.nit - 1 :], x[i] = es.best.f, np.median(F), es.best.x
            report(arm.name, 1, f"run {i + 1} of {setting.seeds}, f {es.best.f:.0e}")
        report(arm.name, setting.generations - es.nit, f"run {i + 1} of {setting.seeds}, f {es.best.f:.0e}")
    return Trajectories(setting.popsize * np.arange(1, setting.generations + 1), best, median, x, {})


def clearest_bend(setting: Setting, report: Report = silent, stop: Event | None = None) -> Snapshot:
    """The generation with the clearest bend among runs of GNN-CMA-ES on the 2-D Rosenbrock function; CMA-ES beside it.

    It is a picked one, and what shows it must say so: most generations are nearly straight.
    """
    stop = stop or Event()
    report(SEARCH, 0, "compiling")
    bends = np.zeros((setting.snapshots, setting.generations_2d))
    for run in range(setting.snapshots):
        es = _search(BENT, FIRST_SEED + run, setting)
        while es.nit < setting.generations_2d and not stop.is_set():
            _advance(es)
            bends[run, es.nit - 1] = bend(_draw(es.strategy, es.state))
            report(SEARCH, 1, f"run {run + 1} of {setting.snapshots}")
    run, generation = (int(i) for i in np.unravel_index(np.argmax(bends), bends.shape))
    searches = {arm.name: _search(arm, FIRST_SEED + run, setting) for arm in (BENT, STRAIGHT)}
    for es in searches.values():
        while es.nit <= generation and not stop.is_set():
            _advance(es)
    typical = float(np.median(bends.max(1)))
    return Snapshot(searches, FIRST_SEED + run, generation + 1, float(bends.max()), typical, setting.snapshots)


def bend(points: np.ndarray) -> float:
    """How clearly points (n, 2) lie along a parabola: its height at a standard deviation of x_1, seen by eye.

    In units of the geometric mean of the width across the parabola and the length along it: a bend shows if it is neither lost
    in the width nor small beside the length. Zero for distributions too small to be seen beside the valley.

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


def _search(arm: Arm, seed: int, setting: Setting) -> Optimizer:
    return Optimizer([-1.0, 1.0], 1.0, method=arm.method, popsize=setting.popsize_2d, seed=seed, options=arm.options)


def _advance(es: Optimizer) -> None:
    X = es.ask()
    es.tell(X, ROSENBROCK(X))


def _draw(strategy: Strategy, state: State) -> np.ndarray:
    """Many points from the search distribution of a state, which stays as it is."""
    with jax.enable_x64(True):
        return np.asarray(_ask(with_popsize(strategy, 2000), state))


@partial(jax.jit, static_argnums=0)
def _ask(strategy: Strategy, state: State) -> jax.Array:
    return strategy.ask(state)[1]
