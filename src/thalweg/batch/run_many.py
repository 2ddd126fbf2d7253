"""Many whole runs at once, for objectives that JAX can trace: compiled, vectorised over runs, on CPU or GPU."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from thalweg._common.checks import as_array, as_count, as_number, as_seed, shortened
from thalweg.batch.device_loop import Run, Static, run_all
from thalweg.compiled.steps import make_keys
from thalweg.space.box import parse_bounds
from thalweg.strategies.registry import make_strategy
from thalweg.strategies.strategy import Array, Strategy


class Work(NamedTuple):
    """What it took to make all runs side by side."""

    generations: np.ndarray
    """How many generations each run made, (runs,)."""
    slots: int
    """How many runs went side by side."""
    rounds: int
    """How many generations the slots made side by side until the last run had ended."""

    @property
    def idle(self) -> float:
        """The share of the slots' generations that no run needed any more."""
        return 1 - float(self.generations.sum()) / (self.slots * self.rounds)


@dataclass(frozen=True)
class Trajectories:
    """What many runs did, generation by generation.

    A run ends when it reaches the target or breaks down (its numbers are no longer finite); from there on its rows stand still.
    """

    evaluations: np.ndarray
    """Evaluations after each generation, (generations,)."""
    best: np.ndarray
    """Best value so far, (runs, generations)."""
    median: np.ndarray
    """Median value of each generation, failures as inf, (runs, generations)."""
    x: np.ndarray
    """Best point of each run, (runs, d)."""
    info: dict[str, np.ndarray]
    """What the strategy shows, each (runs, generations)."""
    work: Work | None = None
    """What the device had to do for it; None where it was not `run_many` that ran."""

    @property
    def fun(self) -> np.ndarray:
        """Best value of each run."""
        return self.best[:, -1]

    @property
    def sigma(self) -> np.ndarray:
        """Step-size, (runs, generations)."""
        return self.info["sigma"]

    def evaluations_to(self, target: float) -> np.ndarray:
        """Evaluations until the best value was at or below the target; inf for runs that never got there."""
        reached = self.best <= target
        return np.where(reached.any(1), self.evaluations[reached.argmax(1)], np.inf)

    def best_at(self, evaluations: float) -> np.ndarray:
        """Best value of each run within that many evaluations; inf if that is less than a generation."""
        generation = int(np.searchsorted(self.evaluations, evaluations, side="right")) - 1
        return self.best[:, generation] if generation >= 0 else np.full(len(self.best), np.inf)


def run_many(
    strategy: str | Strategy,
    fun: Callable[..., Array],
    x0: Any,
    sigma0: Any = 1.0,
    *,
    seeds: int | Sequence[int] | np.ndarray,
    generations: int,
    args: tuple[Any, ...] = (),
    ftarget: float = -np.inf,
    bounds: Any = None,
    vectorized: bool = False,
    batch_size: int | None = None,
    dtype: Any = np.float64,
) -> Trajectories:
    """Run a strategy from many seeds at once on an objective that JAX can trace.

    >>> runs = run_many("cma", lambda x, t: ((x - t) ** 2).sum(), np.zeros(2), seeds=3, generations=90, args=(np.eye(3, 2),))
    >>> runs.best.shape, bool((runs.fun < 1e-8).all())
    ((3, 90), True)

    Args:
        strategy: A strategy, or the name of a method.
        fun: Called as fun(x, *args) with one point (d,), or with `vectorized` a generation (n, d), within `jax.vmap`. The
            compiled program is kept for as long as the function object is the same.
        x0: One start (d,) for all runs, or one each (runs, d).
        sigma0: One number, or one each.
        seeds: One whole number per run; an int n stands for range(n). The same seed gives an `Optimizer` the same draws.
        generations: How many generations each run makes at most.
        args: Arrays (or pytrees of arrays) whose first axis runs over the runs.
        ftarget: A run that reaches it has ended.
        bounds: As in `minimize`.
        vectorized: Whether fun takes a whole generation.
        batch_size: How many runs at once, to bound the memory; by default all, which is fastest while it fits. Runs that have
            ended make room for the next ones.
        dtype: float64, or float32: half the memory and faster on a GPU with many runs, but values below about 1e-7 of their
            terms are rounding errors. JAX draws other random numbers in float32 from the same seed.
    """
    strategy = make_strategy(strategy)
    if not strategy.traceable:
        raise ValueError(f"{shortened(strategy)} cannot be traced by JAX, and run_many compiles whole runs; use minimize")
    if not callable(fun):
        raise TypeError(f"fun must be callable, got {shortened(fun)}")
    numbers = as_seeds(seeds)
    runs = len(numbers)
    x0, sigma0 = as_array(x0, "x0"), as_array(sigma0, "sigma0")
    if x0.ndim not in (1, 2) or (x0.ndim == 2 and len(x0) != runs) or not np.all(np.isfinite(x0)):
        raise ValueError(f"x0 must be finite and of shape (d,) or ({runs}, d), got {shortened(x0)} of shape {x0.shape}")
    if sigma0.shape not in ((), (runs,)) or not np.all((sigma0 > 0) & np.isfinite(sigma0)):
        raise ValueError(f"sigma0 must be above 0, one number or one for each of the {runs} runs, got {shortened(sigma0)}")
    d = x0.shape[-1]
    box = parse_bounds(bounds, d)
    if box is not None:
        if not np.all(box.contains(x0)):
            raise ValueError(f"x0 must lie inside the bounds, got {shortened(x0)}")
        x0 = box.out_of(x0)
    check_args(args, runs)
    static = Static(
        strategy,
        fun,
        as_count(generations, "generations"),
        vectorized,
        runs if batch_size is None else min(as_count(batch_size, "batch_size"), runs),
    )
    precision = as_precision(dtype)
    with jax.enable_x64(precision == np.float64):
        # one transfer to the device and one back: between them there is none
        x0, sigma0 = (np.broadcast_to(part, shape).astype(precision) for part, shape in ((x0, (runs, d)), (sigma0, (runs,))))
        each = Run(make_keys(numbers), jax.device_put(x0), jax.device_put(sigma0), jax.device_put(args))
        target = jax.device_put(np.asarray(as_number(ftarget, "ftarget"), precision))
        record, rounds = jax.device_get(run_all(static, each, target, jax.device_put(box)))
    evaluations = strategy.population(d) * np.arange(1, static.generations + 1)
    work = Work(record.generations, static.width, int(rounds))
    return Trajectories(evaluations, record.best, record.median, record.x, record.info, work)


def as_seeds(seeds: int | Sequence[int] | np.ndarray) -> Sequence[int]:
    """One whole number per run.

    >>> list(as_seeds(3))
    [0, 1, 2]
    """
    return range(as_count(seeds, "seeds")) if np.ndim(seeds) == 0 else [as_seed(seed) for seed in np.asarray(seeds).tolist()]


def check_args(args: Any, runs: int) -> None:
    """Complain about arguments of the objective that are not one for each run."""
    for leaf in jax.tree.leaves(args):
        if np.ndim(leaf) == 0 or len(leaf) != runs:
            raise ValueError(
                f"args must hold arrays with one entry for each of the {runs} runs, got shape {np.shape(leaf)}; bind what all "
                "runs share with functools.partial"
            )


def as_precision(dtype: Any) -> np.dtype[Any]:
    """float64 or float32.

    >>> as_precision("float32")
    dtype('float32')
    """
    try:
        precision = np.dtype(dtype)
    except TypeError:
        precision = None
    if precision is None or precision.name not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {shortened(dtype)}")
    return precision
