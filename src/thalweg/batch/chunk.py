"""A stretch of generations of many runs side by side in one compiled program, and the little that the stop tests need of each.

Runs begin with a stretch. What a run does after it has stopped is computed and thrown away by the host, which knows when it
stopped; only its random numbers and its place in the program are lost.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.batch.device_loop import Static, evaluate
from thalweg.compiled import steps as stepping
from thalweg.search.stopping import flat_place
from thalweg.space.box import Box
from thalweg.strategies import ranking
from thalweg.strategies.strategy import Array, State, Strategy

BLOCK = 10
"""The condition number is looked at every tenth generation, as in `Optimizer`; a stretch is a whole number of these."""
NEVER = np.iinfo(np.int32).max


class Going(NamedTuple):
    """A run on its way."""

    state: State
    mean: Array


class Begin(NamedTuple):
    """What the host says about each slot before a stretch; arrays of numpy or JAX, as below."""

    fresh: Any
    """Whether a run begins here; then from the next three."""
    words: Any
    x0: Any
    sigma0: Any
    row: Any
    """The number of the problem."""


class Glance(NamedTuple):
    """What is seen of a generation."""

    x: Any
    """Its best point, as the objective sees it."""
    best: Any
    place: Any
    median: Any
    high: Any
    worst: Any
    largest: Any
    moved: Any
    still: Any
    finite: Any


class Record(NamedTuple):
    """What is seen of a stretch, generations first."""

    glances: Glance
    condition: Any
    """At least the condition number of the covariance, for each block; None where the strategy has no affine part."""
    scale: Any
    """The affine part after each block, for the few whose condition number must be known."""
    hits: Any
    """Evaluations within the stretch until a value was at or below each target, (runs, targets); NEVER if there was none."""


def blank(static: Static, d: int) -> Going:
    """Slots in which nothing runs yet."""
    words, points = jnp.zeros((static.width, 2), np.uint32), jnp.zeros((static.width, d))
    state = jax.eval_shape(jax.vmap(static.strategy.init), stepping.as_key(words), points, points[:, 0])

    def zeros(leaf: Any) -> Any:
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return stepping.as_key(jnp.zeros((*leaf.shape, 2), np.uint32)) if is_key else jnp.zeros(leaf.shape, leaf.dtype)

    return Going(jax.tree.map(zeros, state), points)


@jax.jit
def take(slots: Going, places: Array) -> Going:
    """The slots at these places."""
    return jax.tree.map(lambda leaf: leaf[places], slots)


@partial(jax.jit, static_argnums=0)
def run_stretch(static: Static, slots: Going, begin: Begin, args: Any, targets: Array, box: Box | None) -> tuple[Going, Record]:
    """So many generations of all slots; `args` and `targets` have a row for each problem."""
    args, targets = jax.tree.map(lambda leaf: leaf[begin.row], (args, targets))
    fresh = jax.vmap(static.strategy.init)(stepping.as_key(begin.words), begin.x0, begin.sigma0)
    slots = jax.tree.map(partial(_choose, begin.fresh), Going(fresh, begin.x0), slots)
    step, n = jax.vmap(partial(_generation, static, box)), static.strategy.population(begin.x0.shape[-1])

    def generation(carry: Any, number: Array) -> tuple[Any, Glance]:
        slots, hits = carry
        # the barriers keep the compiler from merging a generation with what is around it: see `slots`
        slots, glance, places = jax.lax.optimization_barrier(step(*jax.lax.optimization_barrier((slots, args, targets))))
        hits = jnp.where((hits == NEVER) & (places < n), number * n + places + 1, hits)
        return (slots, hits), glance

    def block(carry: Any, number: Array) -> tuple[Any, Any]:
        carry, glances = jax.lax.scan(generation, carry, number * BLOCK + jnp.arange(BLOCK, dtype=np.int32))
        return carry, (glances, jax.vmap(partial(_condition, static.strategy))(carry[0].state))

    blocks = jnp.arange(static.generations // BLOCK, dtype=np.int32)
    never = jnp.full(targets.shape, NEVER, np.int32)
    (slots, hits), (glances, (condition, scale)) = jax.lax.scan(block, (slots, never), blocks)
    glances = jax.tree.map(lambda leaf: leaf.reshape(static.generations, *leaf.shape[2:]), glances)
    return slots, Record(glances, condition, scale, hits)


def _generation(static: Static, box: Box | None, slot: Going, args: Any, targets: Array) -> tuple[Going, Glance, Array]:
    """The slot a generation later, what was seen, and for each target the first point that reaches it: n if none does."""
    strategy = static.strategy
    e, y, asked = strategy.ask(slot.state)
    x, f = evaluate(static, box, args, y)
    told, _ = strategy.tell(asked, e, y, f)
    mean, std = strategy.spread(told)
    finite = stepping.is_finite((told, mean, std))
    f = ranking.sanitise(f)
    ranked, place, n = jnp.sort(f), jnp.argmin(f), f.shape[0]
    still = mean == mean + 0.2 * std
    glance = Glance(
        x[place],
        ranked[0],
        place.astype(np.int32),
        (ranked[(n - 1) // 2] + ranked[n // 2]) / 2,
        ranked[flat_place(n)],
        ranked[-1],
        jnp.max(std),
        jnp.max(jnp.abs(mean - slot.mean)),
        jnp.where(jnp.any(still), jnp.argmax(still), -1).astype(np.int32),
        finite,
    )
    state = jax.tree.map(partial(_choose, finite), told, slot.state)
    lowest = jax.lax.cummin(f)  # falls, so that the points before a target is reached can be counted
    if n * targets.shape[0] <= 4096:
        places = jnp.sum(lowest[:, None] > targets, 0)
    else:
        places = jnp.searchsorted(-lowest, -targets, method="scan_unrolled")
    return Going(state, jnp.where(finite, mean, slot.mean)), glance, places.astype(np.int32)


def _condition(strategy: Strategy, state: State) -> tuple[Array | None, Array | None]:
    """An upper bound of the condition number, which costs a tenth of its value, and the matrix itself."""
    scale = stepping.scale_of(strategy, state)
    if scale is None:
        return None, None
    if scale.ndim == 1:
        size = jnp.abs(scale)
        return (jnp.max(size) / jnp.min(size)) ** 2, scale
    # Frobenius' norm is at least the spectral one
    return jnp.sum(scale**2) * jnp.sum(jnp.linalg.inv(scale) ** 2), scale


def _choose(condition: Array, new: Array, old: Array) -> Array:
    more = new.ndim - condition.ndim
    return jnp.where(condition.reshape(*condition.shape, *[1] * more), new, old)
