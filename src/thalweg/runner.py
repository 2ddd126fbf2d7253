"""Many whole runs at once, for objectives that JAX can trace: compiled, vectorised over runs, on CPU or GPU."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg import ranking
from thalweg.bounds import Box, parse_bounds
from thalweg.methods import make_strategy
from thalweg.stepping import is_finite, make_keys
from thalweg.types import Array, Key, State, Strategy
from thalweg.validation import as_array, as_count, as_number, as_seed, shortened


@dataclass(frozen=True)
class Trajectories:
    """What many runs did, generation by generation. A run that has reached the target, or has broken down, stands still."""

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
        generations: How many generations each run makes.
        args: Arrays (or pytrees of arrays) whose first axis runs over the runs.
        ftarget: A run that reaches it stands still.
        bounds: As in `minimize`.
        vectorized: Whether fun takes a whole generation.
        batch_size: How many runs at once, to bound the memory; by default all.
    """
    strategy = make_strategy(strategy)
    if not strategy.traceable:
        raise ValueError(f"{shortened(strategy)} cannot be traced by JAX, and run_many compiles whole runs; use minimize")
    if not callable(fun):
        raise TypeError(f"fun must be callable, got {shortened(fun)}")
    numbers = range(as_count(seeds, "seeds")) if np.ndim(seeds) == 0 else [as_seed(seed) for seed in np.asarray(seeds).tolist()]
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
    for leaf in jax.tree.leaves(args):
        if np.ndim(leaf) == 0 or len(leaf) != runs:
            raise ValueError(
                f"args must hold arrays with one entry for each of the {runs} runs, got shape {np.shape(leaf)}; bind what all "
                "runs share with functools.partial"
            )
    static = Static(
        strategy, fun, as_count(generations, "generations"), vectorized, batch_size and as_count(batch_size, "batch_size")
    )
    with jax.enable_x64(True):
        each = Run(
            make_keys(numbers),
            jnp.broadcast_to(x0, (runs, d)),
            jnp.broadcast_to(sigma0, (runs,)),
            jax.tree.map(jnp.asarray, args),
        )
        x, best, median, info = jax.device_get(_run_all(static, each, as_number(ftarget, "ftarget"), box))
    evaluations = strategy.population(d) * np.arange(1, static.generations + 1)
    return Trajectories(evaluations, best, median, x, info)


class Static(NamedTuple):
    """What a compiled program is made for."""

    strategy: Strategy
    fun: Callable[..., Array]
    generations: int
    vectorized: bool
    batch_size: int | None


class Run(NamedTuple):
    """What differs from run to run."""

    key: Key
    x0: Array
    sigma0: Array
    args: Any


@partial(jax.jit, static_argnums=0)
def _run_all(static: Static, runs: Run, ftarget: Array, box: Box | None) -> Any:
    one = partial(_run_one, static, ftarget, box)
    return jax.vmap(one)(runs) if static.batch_size is None else jax.lax.map(one, runs, batch_size=static.batch_size)


def _run_one(static: Static, ftarget: Array, box: Box | None, run: Run) -> tuple[Array, Array, Array, dict[str, Array]]:
    strategy = static.strategy

    def evaluate(y: Array) -> tuple[Array, Array]:
        x = y if box is None else box.into(y, jnp)
        f = static.fun(x, *run.args) if static.vectorized else jax.vmap(lambda point: static.fun(point, *run.args))(x)
        if jnp.shape(f) != x.shape[:1]:
            raise ValueError(f"fun must return one value per point: got shape {jnp.shape(f)} for {x.shape[0]} points")
        return x, f.astype(x.dtype)

    def generation(carry: tuple[State, Array, Array], _: None) -> tuple[tuple[State, Array, Array], Any]:
        state, best_x, best_f = carry
        e, y, asked = strategy.ask(state)
        x, f = evaluate(y)
        told, info = strategy.tell(asked, e, y, f)
        ranked = ranking.sanitise(f)
        i = jnp.argmin(ranked)
        frozen = best_f <= ftarget
        better = ~frozen & (ranked[i] < best_f)
        kept = frozen | ~is_finite(told)
        state = jax.tree.map(lambda old, new: jnp.where(kept, old, new), state, told)
        best = jnp.where(better, x[i], best_x), jnp.where(better, ranked[i], best_f)
        return (state, *best), (best[1], jnp.median(ranked), info)

    start = strategy.init(run.key, run.x0, run.sigma0)
    first = run.x0 if box is None else box.into(run.x0, jnp)
    (_, x, _), (best, median, info) = jax.lax.scan(generation, (start, first, jnp.asarray(jnp.inf)), None, static.generations)
    return x, best, median, info
