"""Whole runs side by side in one compiled loop: as soon as runs have ended, the next ones in the queue take their lanes.

No array passes between the host and the device from the first generation to the last; a GPU's driver reads a loop's condition.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from thalweg.compiled.generation import generation, is_finite
from thalweg.space import SpaceMap
from thalweg.strategies import ranking
from thalweg.strategies.strategy import Array, Info, Key, State, Strategy

REFILL_SHARE = 32
"""Lanes are refilled once one in so many is free: a start costs little beside a generation of all, and few lanes wait."""

KEPT = 32
"""Number of compiled programs that are kept from one call to the next."""


class Setup(NamedTuple):
    """The static arguments that a program is compiled for."""

    strategy: Strategy
    fun: Callable[..., Array]
    generations: int
    vectorized: bool
    lanes: int
    """Number of runs side by side."""


class RunInput(NamedTuple):
    """The arguments that differ from run to run."""

    key: Key
    x0: Array
    sigma0: Array
    args: Any


class Lane(NamedTuple):
    """A run in progress."""

    run: RunInput
    row: Array
    """Number of the run."""
    age: Array
    """Number of generations made."""
    going: Array
    """False once the run has ended; then nothing in the lane changes."""
    state: State
    best_x: Array
    best_f: Array


class RunRecords(NamedTuple):
    """The record of all runs, a row each."""

    x: Array
    best: Array
    median: Array
    info: Info
    generations: Array


class LoopState(NamedTuple):
    lanes: Lane
    records: RunRecords
    started: Array
    """Number of runs that have had a lane."""
    rounds: Array
    """Number of generations that the lanes have made side by side."""


def forget(compiled: Any) -> None:
    """Drop the programs of a function under `jit` if there are `KEPT`; without it, each new population keeps 8 MiB for good."""
    if compiled._cache_size() >= KEPT:
        compiled.clear_cache()


@partial(jax.jit, static_argnums=0)
def run_all(setup: Setup, runs: RunInput, ftarget: Array, space: SpaceMap) -> tuple[RunRecords, Array]:
    """Make all runs from start to end; return their records and the number of rounds."""
    total, width = len(runs.x0), setup.lanes
    part = max(1, width // REFILL_SHARE)
    begin = jax.vmap(partial(_begin, setup, space))
    step = jax.vmap(partial(_advance, setup, ftarget, space))

    def take(rows: Array) -> Lane:
        return begin(jax.tree.map(lambda leaf: leaf[rows], runs), rows)

    def proceed(loop: LoopState) -> LoopState:
        going = loop.lanes.going
        # the barriers keep the compiler from merging a generation with what is around it, which would change its last digits:
        # so a run is the same with and without others in the queue
        lanes, seen = jax.lax.optimization_barrier(step(jax.lax.optimization_barrier(loop.lanes)))
        # numbers past the last row, which are not written: one each, as JAX may rely on their being different
        rows: Any = jnp.where(going, lanes.row, total + jnp.arange(width))
        return LoopState(lanes, _write(loop.records, rows, lanes, *seen), loop.started, loop.rounds + 1)

    def refill(loop: LoopState) -> LoopState:
        free = jnp.nonzero(~loop.lanes.going, size=part, fill_value=width)[0]
        rows = loop.started + jnp.arange(part)
        free = jnp.where(rows < total, free, width + jnp.arange(part))
        fresh = take(jnp.minimum(rows, total - 1))
        lanes = jax.tree.map(lambda old, new: old.at[free].set(new, mode="drop"), loop.lanes, fresh)
        return loop._replace(lanes=lanes, started=loop.started + jnp.sum(free < width))

    def some_going(loop: LoopState) -> Array:
        return jnp.any(loop.lanes.going)

    def no_refill(loop: LoopState) -> Array:
        return jnp.any(loop.lanes.going) & ((jnp.sum(~loop.lanes.going) < part) | (loop.started == total))

    lanes = take(jnp.arange(width))
    loop = LoopState(lanes, _blank(setup, total, *jax.eval_shape(step, lanes)), jnp.asarray(width), jnp.asarray(0))
    if width == total:
        loop = jax.lax.while_loop(some_going, proceed, loop)
    else:
        loop = jax.lax.while_loop(
            lambda loop: some_going(loop) | (loop.started < total),
            lambda loop: jax.lax.while_loop(no_refill, proceed, refill(loop)),
            loop,
        )
    return _held(loop.records), loop.rounds


def evaluate(setup: Setup, space: SpaceMap, args: Any, y: Array) -> tuple[Array, Array]:
    """Return the points as the objective takes them, and their values."""
    x = space.to_objective(y, jnp)
    f = setup.fun(x, *args) if setup.vectorized else jax.vmap(lambda point: setup.fun(point, *args))(x)
    if isinstance(f, tuple | list):
        raise TypeError("fun must return one value per point, got several, as with constraints; those are for `minimize`")
    if jnp.shape(f) != x.shape[:1]:
        raise ValueError(f"fun must return one value per point: got shape {jnp.shape(f)} for {x.shape[0]} points")
    return x, f.astype(x.dtype)


def limit(space: SpaceMap) -> Array | None:
    """Return the largest standard deviations in a space; None without bounds, whose programs need no such limit."""
    return space.widest if space.bounded else None


def _begin(setup: Setup, space: SpaceMap, run: RunInput, row: Array) -> Lane:
    first = space.to_objective(run.x0, jnp)
    state = setup.strategy.init(run.key, run.x0, run.sigma0)
    return Lane(run, row, jnp.asarray(0), jnp.asarray(True), state, first, jnp.full((), jnp.inf, first.dtype))


def _advance(setup: Setup, ftarget: Array, space: SpaceMap, lane: Lane) -> tuple[Lane, tuple[Array, Info]]:
    """Return the lane a generation later, and the median value and info of that generation."""
    x, f, learned = generation(setup.strategy, lane.state, partial(evaluate, setup, space, lane.run.args), space, limit(space))
    ranked = ranking.sanitise(f)
    i = jnp.argmin(ranked)
    better = lane.going & (ranked[i] < lane.best_f)
    best_f = jnp.where(better, ranked[i], lane.best_f)
    sound = is_finite(learned.state)
    age = lane.age + lane.going
    later = lane._replace(
        age=age,
        going=lane.going & sound & ~(best_f <= ftarget) & (age < setup.generations),
        state=jax.tree.map(lambda old, new: jnp.where(lane.going & sound, new, old), lane.state, learned.state),
        best_x=jnp.where(better, x[i], lane.best_x),
        best_f=best_f,
    )
    return later, (jnp.median(ranked), learned.info)


def _blank(setup: Setup, total: int, lanes: Any, seen: tuple[Any, Any]) -> RunRecords:
    """Return empty records, from the shapes of a generation."""

    def rows(like: Any, *more: int) -> Any:
        return jax.tree.map(lambda leaf: jnp.zeros((total, *more, *leaf.shape[1:]), leaf.dtype), like)

    best, median, info = (rows(part, setup.generations) for part in (lanes.best_f, *seen))
    return RunRecords(rows(lanes.best_x), best, median, info, rows(lanes.age))


def _write(records: RunRecords, rows: Array, lanes: Lane, median: Array, info: Info) -> RunRecords:
    """Write the newest generation of each lane into its run's row."""

    def at(place: Any) -> Any:
        return partial(jax.tree.map, lambda old, new: old.at[place].set(new, mode="drop", unique_indices=True))

    each, newest = at((rows,)), at((rows, lanes.age - 1))
    return RunRecords(
        each(records.x, lanes.best_x),
        newest(records.best, lanes.best_f),
        newest(records.median, median),
        newest(records.info, info),
        each(records.generations, lanes.age),
    )


def _held(records: RunRecords) -> RunRecords:
    """Repeat each run's last generation to the end of its row."""

    def hold(values: Array) -> Array:
        last = jnp.minimum(jnp.arange(values.shape[1]), records.generations[:, None] - 1)
        return jnp.take_along_axis(values, last.reshape(*last.shape, *[1] * (values.ndim - 2)), 1)

    return records._replace(best=hold(records.best), median=hold(records.median), info=jax.tree.map(hold, records.info))
