"""Many problems at once, each with its restarts, for objectives that JAX can trace: IPOP and BIPOP on one device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from thalweg._common.checks import as_array, as_count, as_positive, shortened
from thalweg.batch.chunk import BLOCK
from thalweg.batch.run_many import as_seeds, check_args
from thalweg.batch.scheduler import Common, Course, Problem, run_groups
from thalweg.search.campaign import Schedule, check_restarts, first_point
from thalweg.search.stopping import Budget, Tolerances
from thalweg.space.box import parse_bounds
from thalweg.strategies.registry import make_strategy
from thalweg.strategies.strategy import Array, Strategy


@dataclass(frozen=True)
class Restarted:
    """What became of many problems, each with its restarts."""

    x: np.ndarray
    """Best point of each problem, (problems, d)."""
    fun: np.ndarray
    """Its value, (problems,)."""
    evaluations: np.ndarray
    """Over all runs of a problem, (problems,)."""
    hits: np.ndarray
    """Evaluations until a value was at or below each target, (problems, targets); inf where that never happened."""
    courses: list[list[Course]]
    """The runs of each problem, in their order."""
    rounds: int
    """How many stretches of generations the device made."""
    idle: float
    """The share of the slots' generations that no run needed."""

    @property
    def restarts(self) -> np.ndarray:
        """How often each problem was begun again, (problems,)."""
        return np.array([len(course) - 1 for course in self.courses])

    @property
    def stop(self) -> list[dict[str, float]]:
        """Why the last run of each problem ended."""
        return [course[-1].stop for course in self.courses]


def run_restarts(
    method: str | Strategy,
    fun: Callable[..., Array],
    x0: Any,
    sigma0: float = 1.0,
    *,
    seeds: int | Sequence[int] | np.ndarray,
    max_evals: float,
    restarts: int = 9,
    bipop: bool = False,
    popsize: int | None = None,
    args: tuple[Any, ...] = (),
    ftarget: Any = None,
    targets: Any = (),
    bounds: Any = None,
    vectorized: bool = False,
    batch_size: int | None = None,
    stretch: int = 20,
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
        method: As in `minimize`; it must be one that JAX can trace.
        fun: Called as fun(x, *args) with one point (d,), or with `vectorized` a generation (n, d), within `jax.vmap`. The
            compiled programs are kept for as long as the function object is the same.
        x0: One start (d,) for all problems, one each (problems, d), or a callable that draws one for each run from a numpy
            Generator.
        sigma0: The first standard deviation in every coordinate.
        seeds: One whole number per problem; an int n stands for range(n). The same seed gives `minimize` the same runs.
        max_evals: A problem ends with the generation that reaches this number of evaluations, over all its runs.
        restarts: How often to begin again with twice the population; with `bipop` small runs come in addition.
        bipop: Whether there are small runs between the large ones, as in `minimize`.
        popsize: Points per generation of the first run.
        args: Arrays (or pytrees of arrays) whose first axis runs over the problems.
        ftarget: A problem that reaches it has ended; one number, or one each.
        targets: Values of which to record when they were reached, to the evaluation: (targets,) or (problems, targets).
        bounds: As in `minimize`.
        vectorized: Whether fun takes a whole generation.
        batch_size: How many runs side by side at most; by default all.
        stretch: How many generations the device makes between two looks of the host; a multiple of 10.
        options: As in `minimize`.
    """
    restarts = check_restarts(restarts, bipop)
    tolerances, rest = Tolerances.pick(options)
    strategy = make_strategy(method, popsize, **rest)
    if not strategy.traceable:
        raise ValueError(f"{shortened(strategy)} cannot be traced by JAX, and run_restarts compiles whole runs; use minimize")
    if not callable(fun):
        raise TypeError(f"fun must be callable, got {shortened(fun)}")
    numbers = as_seeds(seeds)
    check_args(args, len(numbers))
    points = _starts(x0, len(numbers))
    d = len(first_point(points[0], numbers[0]))
    goals: list[Any] = [None] * len(numbers) if ftarget is None else _rows(ftarget, "ftarget", len(numbers)).tolist()
    levels = _rows(targets, "targets", len(numbers), wide=True)
    first = Schedule(strategy.population(d), as_positive(sigma0, "sigma0"), 0, bool(bipop))
    problems = [
        Problem(point, replace(first, seed=seed), goal) for point, seed, goal in zip(points, numbers, goals, strict=True)
    ]
    length = as_count(stretch, "stretch")
    if length % BLOCK:
        raise ValueError(f"stretch must be a multiple of {BLOCK}, got {length}")
    width = len(numbers) if batch_size is None else min(as_count(batch_size, "batch_size"), len(numbers))
    box, budget = parse_bounds(bounds, d), Budget.checked(max_evals, None, None, None)
    with jax.enable_x64(True):
        tables = jax.device_put((args, levels, box))
        busy = 0 if jax.default_backend() == "cpu" else 8192  # the order of magnitude of a GPU's cores
        common = Common(strategy, fun, vectorized, d, budget, restarts, tolerances, length, width, busy, box, tables)
        rounds, idle, hits = run_groups(common, problems, levels)
    return Restarted(
        np.array([problem.x for problem in problems]),
        np.array([problem.fun for problem in problems]),
        np.array([problem.nfev for problem in problems]),
        hits,
        [problem.courses for problem in problems],
        rounds,
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
    """A number, or with `wide` a row of numbers, for each problem."""
    given = as_array(values, name)
    shape = (problems, given.shape[-1]) if wide and given.ndim else (problems,)
    if np.any(np.isnan(given)) or given.ndim > len(shape) or (wide and not given.ndim):
        raise ValueError(f"{name} must not be NaN and of shape {shape[1:]} or {shape}, got {shortened(values)}")
    try:
        return np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(f"{name} must be of shape {shape[1:]} or {shape}, got shape {given.shape}") from None
