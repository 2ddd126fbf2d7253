"""`run_many`: many whole runs at once, for objectives that JAX can trace; compiled, vectorised over runs, on CPU or GPU."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import DTypeLike

from thalweg._common.checks import as_array, as_count, as_number, shortened
from thalweg._common.types import ArrayLike
from thalweg.batch.arguments import as_precision, as_seeds, check_args, check_traceable
from thalweg.batch.device_loop import RunInput, Setup, forget, run_all
from thalweg.batch.trajectories import Trajectories, Work
from thalweg.compiled.keys import make_keys
from thalweg.search.described import Described, check_start
from thalweg.space import BoundsLike, Mask, Space, make_scaled_space
from thalweg.strategies.registry import Method, make_strategy
from thalweg.strategies.strategy import Array, Strategy


def run_many(
    strategy: Method | str | Strategy,
    fun: Callable[..., Array],
    x0: ArrayLike | Space | None,
    sigma0: ArrayLike | None = None,
    *,
    seeds: int | Sequence[int] | np.ndarray,
    generations: int,
    args: tuple[Any, ...] = (),
    ftarget: float = -np.inf,
    bounds: BoundsLike = None,
    scale: ArrayLike | None = None,
    log: Mask = None,
    integers: Mask = None,
    vectorized: bool = False,
    batch_size: int | None = None,
    dtype: DTypeLike = np.float64,
) -> Trajectories:
    """Run a strategy from many seeds at once on an objective that JAX can trace.

    >>> runs = run_many("cma", lambda x, t: ((x - t) ** 2).sum(), np.zeros(2), seeds=3, generations=90, args=(np.eye(3, 2),))
    >>> runs.best.shape, bool((runs.fun < 1e-8).all())
    ((3, 90), True)

    Args:
        strategy: A strategy, or the name of a method.
        fun: The objective, called as fun(x, *args) with one point (d,), or with `vectorized` a generation (n, d), within
            `jax.vmap`. The compiled program is kept for as long as the function object is the same.
        x0: One start (d,) for all runs, or one each (runs, d); None is the middle of the bounds; or a `thalweg.Space`: fun then
            gets a mapping of names to traced numbers.
        sigma0: One number, or one for each run; None is 0.3 times the width of a coordinate with two bounds, 1 for others. For
            coordinates of different sizes pass `scale`, in units of which sigma0 is.
        seeds: One whole number per run; an int n stands for range(n). The same seed gives an `Optimizer` the same draws.
        generations: Maximal number of generations of each run.
        args: Arrays (or pytrees of arrays) whose first axis runs over the runs.
        ftarget: A run ends once a value is at or below this one.
        bounds: Bounds as in `minimize`; so are scale, log and integers.
        scale: The size of each coordinate.
        log: Coordinates to search by their logarithms.
        integers: Coordinates that take whole numbers.
        vectorized: True if fun takes a whole generation.
        batch_size: Number of runs at once, to bound the memory; by default all, which is fastest while it fits. Runs that
            have ended make room for the next ones.
        dtype: float64, or float32: half the memory and faster on a GPU with many runs, but values below about 1e-7 of their
            terms are rounding errors. JAX draws other random numbers in float32 from the same seed.
    """
    strategy = make_strategy(strategy)
    check_traceable(strategy, fun, "run_many")
    numbers = as_seeds(seeds)
    runs = len(numbers)
    kinds: dict[str, Any] = {"scale": scale, "log": log, "integers": integers}
    variables = x0 if isinstance(x0, Space) else None
    where: Any = x0
    if x0 is None or variables is not None:
        one = variables is not None or sigma0 is None or np.ndim(sigma0) == 0
        described = Described.read(x0, sigma0 if one else None, bounds, **kinds)
        where, bounds, kinds = described.x0, described.bounds, described.kinds
    if variables is not None:
        fun, steps = variables.objective(fun, "traced"), variables.steps
    else:
        steps = None if sigma0 is None else 1.0
    check_start(where)
    start = as_array(where, "x0")
    if start.ndim not in (1, 2) or (start.ndim == 2 and len(start) != runs) or not np.all(np.isfinite(start)):
        raise ValueError(f"x0 must be finite and of shape (d,) or ({runs}, d), got {shortened(where)} of shape {start.shape}")
    space, step = make_scaled_space(bounds, start.shape[-1], steps, **kinds)
    given = as_array(1.0 if sigma0 is None else sigma0, "sigma0")
    if np.asarray(sigma0).dtype == bool:
        raise TypeError(f"sigma0 must be one number or one for each run, got {shortened(sigma0)}")
    if given.shape not in ((), (runs,)) or not np.all((given > 0) & np.isfinite(given)):
        raise ValueError(
            f"sigma0 must be above 0, one number or one for each of the {runs} runs, got {shortened(sigma0)}; pass scale for "
            "coordinates of different sizes"
        )
    steps0 = step * given
    space.check(start, "x0")
    points = space.to_search(start)
    d = points.shape[-1]
    check_args(args, runs)
    setup = Setup(
        strategy,
        fun,
        as_count(generations, "generations"),
        vectorized,
        runs if batch_size is None else min(as_count(batch_size, "batch_size"), runs),
    )
    precision = as_precision(dtype)
    with jax.enable_x64(precision == np.float64):
        # one transfer to the device and one back: between them there is none
        first, sizes = (np.broadcast_to(a, shape).astype(precision) for a, shape in ((points, (runs, d)), (steps0, (runs,))))
        each = RunInput(make_keys(numbers), jax.device_put(first), jax.device_put(sizes), jax.device_put(args))
        target = jax.device_put(np.asarray(as_number(ftarget, "ftarget"), precision))
        forget(run_all)
        record, rounds = jax.device_get(run_all(setup, each, target, jax.device_put(space)))
    evaluations = strategy.population(d) * np.arange(1, setup.generations + 1)
    work = Work(record.generations, setup.lanes, int(rounds))
    return Trajectories(evaluations, record.best, record.median, record.x, record.info, work)
