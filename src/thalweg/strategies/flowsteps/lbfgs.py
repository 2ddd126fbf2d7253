"""L-BFGS (Nocedal and Wright 2006, algorithms 3.5, 3.6 and 7.4) in one flat loop: each turn costs one value and gradient."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

from thalweg.strategies.strategy import Array

DECREASE, CURVATURE = 1e-4, 0.9
"""The constants of the Wolfe conditions."""

TRIALS = 20
"""Largest number of trials in one line search."""

dot = partial(jnp.matmul, precision="highest")  # on a GPU, the default for single precision keeps three digits


class Trial(NamedTuple):
    """A trial of the line search: value and slope of the objective at point + length * direction."""

    length: Array
    value: Array
    slope: Array


class SearchState(NamedTuple):
    """The state of the minimisation, within a line search."""

    point: Array
    value: Array
    gradient: Array
    moves: Array
    """The last steps (memory, n), oldest first; 0 in empty places."""
    changes: Array
    """The changes of the gradient (memory, n) by these steps."""
    direction: Array
    slope: Array
    length: Array
    """The length of the next trial, at point + length * direction."""
    low: Trial
    """The lowest trial so far that satisfies the first Wolfe condition; initially the point itself."""
    high: Trial
    """The other end of the interval that holds an acceptable length; initially at infinity."""
    trials: Array
    iterations: Array
    done: Array


class Minimum(NamedTuple):
    point: Array
    value: Array
    before: Array
    """The value at the start."""
    iterations: Array


def minimise(
    objective: Callable[[Array], Array],
    start: Array,
    iterations: int,
    memory: int = 10,
    gradient_tolerance: float = 1e-5,
    value_tolerance: float = 2.2e-9,
) -> Minimum:
    """Minimise a smooth function of a vector, from `start`, with at most `iterations` steps.

    The search stops when the gradient has shrunk by `gradient_tolerance` (relative, as a gradient may have any scale), when a
    step gains less than `value_tolerance` times max(|value|, 1), as in scipy's L-BFGS-B, or when no step gains anything.
    """
    evaluate = jax.value_and_grad(objective)
    before, gradient = evaluate(start)
    enough = gradient_tolerance * jnp.linalg.norm(gradient)
    least = max(value_tolerance, float(jnp.finfo(start.dtype).eps))

    def turn(at: SearchState) -> SearchState:
        point = at.point + at.length * at.direction
        value, gradient = evaluate(point)
        new = Trial(at.length, value, dot(gradient, at.direction))
        trials = at.trials + 1

        falls = value <= at.value + DECREASE * at.length * at.slope  # false for NaN
        accepted = falls & (jnp.abs(new.slope) <= -CURVATURE * at.slope)
        accepted |= falls & (trials > TRIALS)  # then the trial repeats the lowest one
        stuck = ~accepted & (trials > TRIALS)
        low, high = narrow(at.low, at.high, new, falls)
        length = jnp.where(trials < TRIALS, between(low, high), low.length)

        moves, changes = remember(at.moves, at.changes, point - at.point, gradient - at.gradient)
        moved = advance(point, value, gradient, moves, changes, at.iterations + 1)
        gain = at.value - value
        finished = (jnp.linalg.norm(gradient) <= enough) | (gain <= least * jnp.maximum(jnp.abs(value), 1.0))
        moved = moved._replace(done=moved.done | finished)
        still = at._replace(length=length, low=low, high=high, trials=trials, done=stuck)
        return jax.tree.map(partial(jnp.where, accepted), moved, still)

    empty = jnp.zeros((memory, *start.shape), start.dtype)
    at = advance(start, before, gradient, empty, empty, jnp.asarray(0))
    at = jax.lax.while_loop(
        lambda at: ~at.done & (at.iterations < iterations), turn, at._replace(done=at.done | ~jnp.isfinite(before))
    )
    return Minimum(at.point, at.value, before, at.iterations)


def advance(point: Array, value: Array, gradient: Array, moves: Array, changes: Array, iterations: Array) -> SearchState:
    """Begin the line search from a point; the full step is its first trial."""
    direction = -precondition(moves, changes, gradient)
    slope = dot(gradient, direction)
    zero = jnp.zeros_like(value)
    here, far = Trial(zero, value, slope), Trial(zero + jnp.inf, value, slope)
    return SearchState(
        point, value, gradient, moves, changes, direction, slope, zero + 1, here, far, jnp.asarray(0), iterations, ~(slope < 0)
    )


def remember(moves: Array, changes: Array, move: Array, change: Array) -> tuple[Array, Array]:
    """Store a step in place of the oldest one, if its curvature is positive: the approximation must stay positive definite."""
    positive = dot(move, change) > jnp.finfo(move.dtype).eps * dot(change, change)
    shifted = jnp.concatenate([moves[1:], move[None]]), jnp.concatenate([changes[1:], change[None]])
    return jnp.where(positive, shifted[0], moves), jnp.where(positive, shifted[1], changes)


def precondition(moves: Array, changes: Array, gradient: Array) -> Array:
    """Return the approximate inverse Hessian times the gradient.

    The two loops of algorithm 7.4 are two substitutions with the triangle R_ij = moves_i . changes_j, j >= i. While the
    memory is empty, the step has at most length 1.
    """
    products = jnp.triu(dot(moves, changes.T))
    curvature = jnp.diagonal(products)
    triangle = products + jnp.diag(jnp.where(curvature > 0, 0.0, 1.0).astype(products.dtype))
    first = 1 / jnp.maximum(jnp.linalg.norm(gradient), 1.0)
    newest: Array = curvature[-1]
    scale = jnp.where(newest > 0, newest / dot(changes[-1], changes[-1]), first)
    solve = partial(jax.scipy.linalg.solve_triangular, triangle)
    a = solve(dot(moves, gradient))
    rest = scale * (gradient - dot(a, changes))
    return rest + dot(solve(curvature * a - dot(changes, rest), trans=1), moves)


def narrow(low: Trial, high: Trial, new: Trial, falls: Array) -> tuple[Trial, Trial]:
    """Return the interval after a trial that was not accepted, algorithms 3.5 and 3.6."""
    worse = ~(falls & (new.value < low.value))
    turned = ~worse & (new.slope * (high.length - low.length) >= 0)
    choose = partial(jax.tree.map, lambda a, b, c: jnp.where(worse, a, jnp.where(turned, b, c)))
    return choose(low, new, new), choose(new, low, high)


def between(low: Trial, high: Trial) -> Array:
    """Return the next length: twice as far, or the minimum of the cubic through both ends where it lies well inside."""
    width = high.length - low.length
    chord = (high.value - low.value) / width
    a = low.slope + high.slope - 3 * chord
    root = jnp.sqrt(jnp.maximum(a**2 - low.slope * high.slope, 0.0)) * jnp.sign(width)
    share = (root + a - low.slope) / (high.slope - low.slope + 2 * root)
    share = jnp.where(jnp.isfinite(share), jnp.clip(share, 0.1, 0.9), 0.5)
    return jnp.where(jnp.isinf(width), 2 * low.length, low.length + share * width)
