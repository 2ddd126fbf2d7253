"""`run_restarts`: many problems at once, each with its restarts, for objectives that JAX can trace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from thalweg._common.checks import as_array, as_count, shortened
from thalweg._common.types import ArrayLike
from thalweg.batch.arguments import as_seeds, check_args, check_traceable
from thalweg.batch.chunk import BLOCK, run_chunk
from thalweg.batch.device_loop import forget
from thalweg.batch.scheduler import BatchSettings, RunSummary, Task, run_tasks
from thalweg.search.campaign import Campaign, check_restarts, first_point
from thalweg.search.described import Described
from thalweg.search.stopping import Budget, Tolerances
from thalweg.space import BoundsLike, Mask, Sigma0, Space, Start, make_scaled_space
from thalweg.strategies.registry import Method, make_strategy
from thalweg.strategies.strategy import Array, Strategy


@dataclass(frozen=True)
class Restarted:
    """The results of many problems, each with its restarts."""

    x: np.ndarray
    """Best point of each problem, (problems, d)."""
    fun: np.ndarray
    """Value of the best point, (problems,)."""
    evaluations: np.ndarray
    """Evaluations over all runs of a problem, (problems,)."""
    hits: np.ndarray
    """Evaluations until a value was at or below each target, (problems, targets); inf where that never happened."""
    runs: list[list[RunSummary]]
    """Summaries of the runs of each problem, in their order."""
    chunks: int
    """Number of chunks of generations that the device made."""
    idle: float
    """Share of the device's generations that no run needed."""

    @property
    def restarts(self) -> np.ndarray:
        """Number of restarts of each problem, (problems,)."""
        return np.array([len(runs) - 1 for runs in self.runs])

    @property
    def stop(self) -> list[dict[str, float]]:
        """Reasons for which the last run of each problem ended."""
        return [runs[-1].stop for runs in self.runs]


def run_restarts(
    method: Method | str | Strategy,
    fun: Callable[..., Array],
    x0: Start,
    sigma0: Sigma0 = None,
    *,
    seeds: int | Sequence[int] | np.ndarray,
    max_evals: float,
    restarts: int = 9,
    bipop: bool = False,
    popsize: int | None = None,
    args: tuple[Any, ...] = (),
    ftarget: ArrayLike | None = None,
    targets: ArrayLike = (),
    bounds: BoundsLike = None,
    scale: ArrayLike | None = None,
    log: Mask = None,
    integers: Mask = None,
    vectorized: bool = False,
    batch_size: int | None = None,
    chunk: int = 20,
    options: Mapping[str, Any] | None = None,
) -> Restarted:
    """Minimise many functions at once that JAX can trace, each with its own restarts, budget and targets.

    >>> import jax.numpy as jnp
    >>> def wavy(x, centre):
    ...     return jnp.sum((x - centre) ** 2 + 1 - jnp.cos(6 * (x - centre)))
    >>> found = run_restarts("cma", wavy, [3.0, 3.0], seeds=4, max_evals=5000, args=(np.eye(4, 2),), ftarget=1e-8)
    >>> bool((found.fun <= 1e-8).all()), bool(found.restarts.max() > 0)
    (True, True)

    Args:
        method: A name out of `thalweg.METHODS`, or a strategy; JAX must be able to trace it.
        fun: The objective, called as fun(x, *args) with one point (d,), or with `vectorized` a generation (n, d), within
            `jax.vmap`. The compiled programs are kept for as long as the function object is the same.
        x0: One start (d,) for all problems, one each (problems, d), or a callable that draws one for each run from a numpy
            Generator; None is the middle of the bounds; or a `thalweg.Space`: fun then gets a mapping of names to traced
            numbers.
        sigma0: The first standard deviation as in `minimize`: a number, one for each coordinate, or None.
        seeds: One whole number per problem; an int n stands for range(n). The same seed gives `minimize` the same runs.
        max_evals: A problem ends at this number of evaluations, over all its runs. Of its last generation only as many points
            count as are left.
        restarts: Number of restarts with twice the population; with `bipop` small runs come in addition.
        bipop: True for small runs between the large ones, as in `minimize`.
        popsize: Points per generation of the first run.
        args: Arrays (or pytrees of arrays) whose first axis runs over the problems.
        ftarget: A problem ends once a value is at or below this one; one number, or one each.
        targets: Values for which to record the evaluations until they are reached: (targets,) or (problems, targets).
        bounds: Bounds as in `minimize`; so are scale, log and integers.
        scale: The size of each coordinate.
        log: Coordinates to search by their logarithms.
        integers: Coordinates that take whole numbers.
        vectorized: True if fun takes a whole generation.
        batch_size: Maximal number of runs side by side; by default all.
        chunk: Generations that the device makes before the host tests the stop criteria; a multiple of 10.
        options: Fields of the strategy and stop tolerances, as in `minimize`.
    """
    restarts = check_restarts(restarts, bipop)
    tolerances, rest = Tolerances.pick(options, method)
    strategy = make_strategy(method, popsize, **rest)
    check_traceable(strategy, fun, "run_restarts")
    numbers = as_seeds(seeds)
    check_args(args, len(numbers))
    kinds: dict[str, Any] = {"scale": scale, "log": log, "integers": integers}
    if x0 is None or isinstance(x0, Space):
        described = Described.read(x0, sigma0, bounds, **kinds)
        fun = fun if described.variables is None else described.variables.objective(fun, "traced")
        x0, sigma0, bounds, kinds = described.x0, described.sigma0, described.bounds, described.kinds
    points = _starts(x0, len(numbers))
    coordinates = len(first_point(points[0], numbers[0]))
    goals: list[Any] = [None] * len(numbers) if ftarget is None else _rows(ftarget, "ftarget", len(numbers)).tolist()
    levels = _rows(targets, "targets", len(numbers), wide=True)
    space, step = make_scaled_space(bounds, coordinates, sigma0, **kinds)
    d = len(space.to_search(first_point(points[0], numbers[0])))
    size, budget = strategy.population(d), Budget.checked(max_evals, None, None, None)
    limit = restarts > 0 or budget.max_evals is None
    tasks = [
        Task(point, Campaign(size, step, seed, restarts, bool(bipop), replace(budget, ftarget=goal), limit))
        for point, seed, goal in zip(points, numbers, goals, strict=True)
    ]
    length = as_count(chunk, "chunk")
    if length % BLOCK:
        raise ValueError(f"chunk must be a multiple of {BLOCK}, got {length}")
    lanes = len(numbers) if batch_size is None else min(as_count(batch_size, "batch_size"), len(numbers))
    with jax.enable_x64(True):
        tables = jax.device_put((args, levels, space))
        busy = 0 if jax.default_backend() == "cpu" else 8192  # the order of magnitude of a GPU's cores
        settings = BatchSettings(strategy, fun, vectorized, d, coordinates, tolerances, length, lanes, busy, space, tables)
        forget(run_chunk)
        chunks, idle, hits = run_tasks(settings, tasks, levels)
    bests = [task.campaign.best for task in tasks]
    return Restarted(
        np.array([best.x for best in bests if best is not None]),
        np.array([best.f for best in bests if best is not None]),
        np.array([task.campaign.nfev for task in tasks]),
        hits,
        [task.runs for task in tasks],
        chunks,
        idle,
    )


def _starts(x0: Any, problems: int) -> list[Any]:
    if callable(x0):
        return [x0] * problems
    points = as_array(x0, "x0")
    if points.ndim not in (1, 2) or (points.ndim == 2 and len(points) != problems) or not np.all(np.isfinite(points)):
        raise ValueError(
            f"x0 must be a callable, or finite and of shape (d,) or ({problems}, d), got {shortened(x0)} of shape "
            f"{points.shape}"
        )
    return list(np.broadcast_to(points, (problems, points.shape[-1])))


def _rows(values: Any, name: str, problems: int, *, wide: bool = False) -> np.ndarray:
    """Return a number, or with `wide` a row of numbers, for each problem."""
    given = as_array(values, name)
    shape = (problems, given.shape[-1]) if wide and given.ndim else (problems,)
    if np.any(np.isnan(given)) or given.ndim > len(shape) or (wide and not given.ndim):
        raise ValueError(f"{name} must not be NaN and of shape {shape[1:]} or {shape}, got {shortened(values)}")
    try:
        return np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(f"{name} must be of shape {shape[1:]} or {shape}, got shape {given.shape}") from None
