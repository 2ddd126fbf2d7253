"""Whole runs side by side in one compiled loop: as soon as runs have ended, the next in the queue take their slots.

No array passes between the host and the device from the first generation to the last; a GPU's driver reads a loop's condition.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from thalweg.compiled.steps import is_finite
from thalweg.space.box import Box
from thalweg.strategies import ranking
from thalweg.strategies.strategy import Array, Info, Key, State, Strategy

PARTS = 32
"""Slots are refilled once this part of them is free: a start costs little beside a generation of all, and few of them wait."""


class Static(NamedTuple):
    """What a compiled program is made for."""

    strategy: Strategy
    fun: Callable[..., Array]
    generations: int
    vectorized: bool
    width: int
    """The number of slots."""


class Run(NamedTuple):
    """What differs from run to run."""

    key: Key
    x0: Array
    sigma0: Array
    args: Any


class Slot(NamedTuple):
    """A run on its way."""

    run: Run
    row: Array
    """The number of the run."""
    age: Array
    """Generations made."""
    going: Array
    """False once the run has ended: what it holds stands still."""
    state: State
    best_x: Array
    best_f: Array


class Record(NamedTuple):
    """What all runs did, a row each."""

    x: Array
    best: Array
    median: Array
    info: Info
    generations: Array


class Loop(NamedTuple):
    slots: Slot
    record: Record
    started: Array
    """How many runs have had a slot."""
    rounds: Array
    """How many generations the slots have made side by side."""


@partial(jax.jit, static_argnums=0)
def run_all(static: Static, runs: Run, ftarget: Array, box: Box | None) -> tuple[Record, Array]:
    """All runs from start to end, and the number of rounds it took."""
    total, width = len(runs.x0), static.width
    part = max(1, width // PARTS)
    begin = jax.vmap(partial(_begin, static, box))
    step = jax.vmap(partial(_generation, static, ftarget, box))

    def take(rows: Array) -> Slot:
        return begin(jax.tree.map(lambda leaf: leaf[rows], runs), rows)

    def proceed(loop: Loop) -> Loop:
        going = loop.slots.going
        # the barriers keep the compiler from merging a generation with what is around it, which would change its last digits:
        # so a run is the same with and without others in the queue
        slots, seen = jax.lax.optimization_barrier(step(jax.lax.optimization_barrier(loop.slots)))
        # numbers past the last row, which are not written: one each, as JAX may rely on their being different
        rows: Any = jnp.where(going, slots.row, total + jnp.arange(width))
        return Loop(slots, _write(loop.record, rows, slots, *seen), loop.started, loop.rounds + 1)

    def refill(loop: Loop) -> Loop:
        free = jnp.nonzero(~loop.slots.going, size=part, fill_value=width)[0]
        rows = loop.started + jnp.arange(part)
        free = jnp.where(rows < total, free, width + jnp.arange(part))
        fresh = take(jnp.minimum(rows, total - 1))
        slots = jax.tree.map(lambda old, new: old.at[free].set(new, mode="drop"), loop.slots, fresh)
        return loop._replace(slots=slots, started=loop.started + jnp.sum(free < width))

    def some_going(loop: Loop) -> Array:
        return jnp.any(loop.slots.going)

    def no_room(loop: Loop) -> Array:
        return jnp.any(loop.slots.going) & ((jnp.sum(~loop.slots.going) < part) | (loop.started == total))

    slots = take(jnp.arange(width))
    loop = Loop(slots, _blank(static, total, *jax.eval_shape(step, slots)), jnp.asarray(width), jnp.asarray(0))
    if width == total:
        loop = jax.lax.while_loop(some_going, proceed, loop)
    else:
        loop = jax.lax.while_loop(
            lambda loop: some_going(loop) | (loop.started < total),
            lambda loop: jax.lax.while_loop(no_room, proceed, refill(loop)),
            loop,
        )
    return _held(loop.record), loop.rounds


def _begin(static: Static, box: Box | None, run: Run, row: Array) -> Slot:
    first = run.x0 if box is None else box.into(run.x0, jnp)
    state = static.strategy.init(run.key, run.x0, run.sigma0)
    return Slot(run, row, jnp.asarray(0), jnp.asarray(True), state, first, jnp.full((), jnp.inf, first.dtype))


def _generation(static: Static, ftarget: Array, box: Box | None, slot: Slot) -> tuple[Slot, tuple[Array, Info]]:
    """The slot a generation later, and what was seen: the median value and what the strategy shows."""
    e, y, asked = static.strategy.ask(slot.state)
    x, f = evaluate(static, box, slot.run.args, y)
    told, info = static.strategy.tell(asked, e, y, f)
    ranked = ranking.sanitise(f)
    i = jnp.argmin(ranked)
    better = slot.going & (ranked[i] < slot.best_f)
    best_f = jnp.where(better, ranked[i], slot.best_f)
    sound = is_finite(told)
    age = slot.age + slot.going
    later = slot._replace(
        age=age,
        going=slot.going & sound & ~(best_f <= ftarget) & (age < static.generations),
        state=jax.tree.map(lambda old, new: jnp.where(slot.going & sound, new, old), slot.state, told),
        best_x=jnp.where(better, x[i], slot.best_x),
        best_f=best_f,
    )
    return later, (jnp.median(ranked), info)


def evaluate(static: Static, box: Box | None, args: Any, y: Array) -> tuple[Array, Array]:
    """The points as the objective sees them, and their values."""
    x = y if box is None else box.into(y, jnp)
    f = static.fun(x, *args) if static.vectorized else jax.vmap(lambda point: static.fun(point, *args))(x)
    if jnp.shape(f) != x.shape[:1]:
        raise ValueError(f"fun must return one value per point: got shape {jnp.shape(f)} for {x.shape[0]} points")
    return x, f.astype(x.dtype)


def _blank(static: Static, total: int, slots: Any, seen: tuple[Any, Any]) -> Record:
    """A record in which nothing is written yet, from the shapes that a generation has."""

    def rows(like: Any, *more: int) -> Any:
        return jax.tree.map(lambda leaf: jnp.zeros((total, *more, *leaf.shape[1:]), leaf.dtype), like)

    best, median, info = (rows(part, static.generations) for part in (slots.best_f, *seen))
    return Record(rows(slots.best_x), best, median, info, rows(slots.age))


def _write(record: Record, rows: Array, slots: Slot, median: Array, info: Info) -> Record:
    """Write the newest generation of each slot into its run's row."""

    def at(place: Any) -> Any:
        return partial(jax.tree.map, lambda old, new: old.at[place].set(new, mode="drop", unique_indices=True))

    each, newest = at((rows,)), at((rows, slots.age - 1))
    return Record(
        each(record.x, slots.best_x),
        newest(record.best, slots.best_f),
        newest(record.median, median),
        newest(record.info, info),
        each(record.generations, slots.age),
    )


def _held(record: Record) -> Record:
    """From a run's last generation on, its row stands still."""

    def hold(values: Array) -> Array:
        last = jnp.minimum(jnp.arange(values.shape[1]), record.generations[:, None] - 1)
        return jnp.take_along_axis(values, last.reshape(*last.shape, *[1] * (values.ndim - 2)), 1)

    return record._replace(best=hold(record.best), median=hold(record.median), info=jax.tree.map(hold, record.info))
