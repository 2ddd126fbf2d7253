"""A chunk of generations of many runs side by side in one compiled program, and the little that the stop tests need of each.

Runs begin with a chunk. What a run does after it has stopped is computed and thrown away by the host, which knows when it
stopped; only its random numbers and its place in the program are lost.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.batch.device_loop import Setup, evaluate, limit
from thalweg.compiled.generation import generation, is_finite
from thalweg.compiled.keys import as_key
from thalweg.compiled.steps import scale_of
from thalweg.compiled.whole import whole_coordinates
from thalweg.search.stopping.stop_tests import flat_rank
from thalweg.space import SpaceMap
from thalweg.strategies import ranking
from thalweg.strategies.strategy import Array, State, Strategy

BLOCK = 10
"""The condition number is computed every tenth generation, as in `Optimizer`; a chunk is a multiple of this."""
NEVER = np.iinfo(np.int32).max


class LaneState(NamedTuple):
    """A run in progress."""

    state: State
    mean: Array


class Refill(NamedTuple):
    """Instructions of the host for each lane before a chunk; arrays of numpy or JAX."""

    fresh: Any
    """True where a run begins, from the next three fields."""
    words: Any
    x0: Any
    sigma0: Any
    row: Any
    """Number of the problem."""
    left: Any
    """Evaluations that the budget leaves, at most NEVER: points beyond do not count."""


class Observation(NamedTuple):
    """The summary of a generation for the host; see `ChunkSummary` for the fields after `x`."""

    x: Any
    """Best point, as the objective takes it."""
    best: Any
    place: Any
    median: Any
    high: Any
    worst: Any
    largest: Any
    step: Any
    still: Any
    finite: Any


class ChunkRecord(NamedTuple):
    """The record of a chunk for the host, generations first."""

    observations: Observation
    condition: Any
    """Upper bound of the covariance's condition number after each block; None where the strategy has no affine part."""
    scale: Any
    """The affine root after each block, for the few runs whose condition number must be known."""
    hits: Any
    """Evaluations within the chunk until a value was at or below each target, (runs, targets); NEVER if there was none."""


def blank(setup: Setup, d: int) -> LaneState:
    """Return lanes without runs."""
    words, points = jnp.zeros((setup.lanes, 2), np.uint32), jnp.zeros((setup.lanes, d))
    state = jax.eval_shape(jax.vmap(setup.strategy.init), as_key(words), points, points[:, 0])

    def zeros(leaf: Any) -> Any:
        is_key = jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        return as_key(jnp.zeros((*leaf.shape, 2), np.uint32)) if is_key else jnp.zeros(leaf.shape, leaf.dtype)

    return LaneState(jax.tree.map(zeros, state), points)


@jax.jit
def take(lanes: LaneState, places: Array) -> LaneState:
    """Return the lanes at these places."""
    return jax.tree.map(lambda leaf: leaf[places], lanes)


@partial(jax.jit, static_argnums=0)
def run_chunk(
    setup: Setup, lanes: LaneState, refill: Refill, args: Any, targets: Array, space: SpaceMap
) -> tuple[LaneState, ChunkRecord]:
    """Make `setup.generations` generations in all lanes; `args` and `targets` have a row for each problem."""
    args, targets = jax.tree.map(lambda leaf: leaf[refill.row], (args, targets))
    fresh = jax.vmap(setup.strategy.init)(as_key(refill.words), refill.x0, refill.sigma0)
    lanes = jax.tree.map(partial(_choose, refill.fresh), LaneState(fresh, refill.x0), lanes)
    step, n = jax.vmap(partial(_advance, setup, space)), setup.strategy.population(refill.x0.shape[-1])

    def one(carry: Any, number: Array) -> tuple[Any, Observation]:
        lanes, hits = carry
        # the barriers keep the compiler from merging a generation with what is around it: see `device_loop`
        before = lanes, args, targets, refill.left - number * n
        lanes, seen, places = jax.lax.optimization_barrier(step(*jax.lax.optimization_barrier(before)))
        hits = jnp.where((hits == NEVER) & (places < n), number * n + places + 1, hits)
        return (lanes, hits), seen

    def block(carry: Any, number: Array) -> tuple[Any, Any]:
        carry, seen = jax.lax.scan(one, carry, number * BLOCK + jnp.arange(BLOCK, dtype=np.int32))
        return carry, (seen, jax.vmap(partial(_condition, setup.strategy, space))(carry[0].state))

    blocks = jnp.arange(setup.generations // BLOCK, dtype=np.int32)
    never = jnp.full(targets.shape, NEVER, np.int32)
    (lanes, hits), (seen, (condition, scale)) = jax.lax.scan(block, (lanes, never), blocks)
    seen = jax.tree.map(lambda leaf: leaf.reshape(setup.generations, *leaf.shape[2:]), seen)
    return lanes, ChunkRecord(seen, condition, scale, hits)


def _advance(
    setup: Setup, space: SpaceMap, lane: LaneState, args: Any, targets: Array, left: Array
) -> tuple[LaneState, Observation, Array]:
    """Return the lane a generation later, what was seen, and for each target the first point that reaches it (n: none).

    Of the values only the first `left` are seen.
    """
    x, f, learned = generation(setup.strategy, lane.state, partial(evaluate, setup, space, args), space, limit(space))
    mean, std = learned.mean, learned.std
    finite = is_finite((learned.state, mean, std))
    n = f.shape[0]
    f = jnp.where(jnp.arange(n) < left, ranking.sanitise(f), jnp.inf)
    ranked, place = jnp.sort(f), jnp.argmin(f)
    still = mean == mean + 0.2 * std
    step = jnp.maximum(std, jnp.abs(mean - lane.mean))
    if (whole := whole_coordinates(space, mean)) is not None:
        step = jnp.where(jnp.all(whole), jnp.inf, jnp.where(whole, 0.0, step))
    seen = Observation(
        x[place],
        ranked[0],
        place.astype(np.int32),
        (ranked[(n - 1) // 2] + ranked[n // 2]) / 2,
        ranked[flat_rank(n)],
        ranked[-1],
        jnp.max(std),
        jnp.max(step),
        jnp.where(jnp.any(still), jnp.argmax(still), -1).astype(np.int32),
        finite,
    )
    state = jax.tree.map(partial(_choose, finite), learned.state, lane.state)
    lowest = jax.lax.cummin(f)  # falls, so that the points before a target is reached can be counted
    if n * targets.shape[0] <= 4096:
        places = jnp.sum(lowest[:, None] > targets, 0)
    else:
        places = jnp.searchsorted(-lowest, -targets, method="scan_unrolled")
    return LaneState(state, jnp.where(finite, mean, lane.mean)), seen, places.astype(np.int32)


def _condition(strategy: Strategy, space: SpaceMap, state: State) -> tuple[Array | None, Array | None]:
    """Return an upper bound of the condition number, which costs a tenth of computing it, and the affine root itself."""
    scale = scale_of(strategy, state, space)
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
