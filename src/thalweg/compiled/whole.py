"""Whole numbers in a search over R^d: a margin keeps the neighbouring ones in reach, docs/math.md (46) to (48) and (56).

A search that rounds some of its coordinates stalls: once their standard deviations are far below a step, all points of a
generation have the same whole numbers, and nothing makes the deviations larger again. Here the search distribution is widened
and shifted after each generation so far that the neighbours of the mean's whole numbers keep a small probability, as in CMA-ES
with Margin [Hamano et al. 2022], on intervals of any width, such as those of logarithms.
"""

import jax.numpy as jnp
from jax.scipy.stats import norm

from thalweg.space import SpaceMap
from thalweg.space.cells import Cells
from thalweg.strategies.strategy import Array, State, Strategy


def whole_coordinates(space: SpaceMap, mean: Array) -> Array | None:
    """Return True for each coordinate of R^d that is a whole number; None where none is."""
    cells = space.cells(mean, jnp)
    return None if cells is None else cells.whole


def cells_at(space: SpaceMap, y: Array) -> Cells:
    """Return the cells in which points lie, of a space that has whole numbers."""
    cells = space.cells(y, jnp)
    if cells is None:
        raise TypeError("the space has no whole numbers")
    return cells


def centred(cells: Cells, own: Cells, f: Array) -> Array:
    """Return the points that a strategy learns from instead of those in `cells`, given the mean's cells, (47).

    A number beyond its bounds becomes the image inside that was evaluated, so that the mean stays where the numbers beside it
    are those that it stands for. In the better half a number other than the mean's moves to the centre of its cell: one that
    has just crossed the border counts as the whole step that the objective has seen. The others make up for the bias.
    """
    at: Array = cells.inside
    ranked = jnp.where(jnp.isnan(f), jnp.inf, f)
    better = ranked < jnp.sort(ranked)[len(f) // 2]  # on a plateau none is
    whole = better[:, None] & cells.whole
    other = whole & (cells.number != own.number)
    change: Array = other * (cells.centre - at)
    bias = jnp.sum(change, 0)
    room: Array = (whole & ~other) * (own.centre - at)
    room = (room * bias < 0) * room  # towards the centre alone
    least = jnp.sum(room, 0)
    share = jnp.where(least == 0, 0.0, jnp.clip(-bias / jnp.where(least == 0, 1.0, least), 0.0, 1.0))
    return at + change + share * room


def redrawn(strategy: Strategy, state: State, points: Array, e: Array, y: Array) -> tuple[Array, Array]:
    """Return draws and points of a generation y with `points` in its place, (47)."""
    moved = jnp.any(points != y, -1, keepdims=True)
    change = strategy.invert(state, points) - strategy.invert(state, y)
    return jnp.where(moved, e + change, e), points


def settled(cells: Cells, std: Array, popsize: int) -> Array:
    """Return True for each coordinate of a mean in `cells` that only the margin keeps from settling, (56)."""
    down, up = _distances(cells, std)
    return cells.whole & (_farthest(cells, down, up) > (1 - 1e-6) * _reach(std, popsize))


def margin(cells: Cells, mean: Array, std: Array, popsize: int) -> tuple[Array, Array]:
    """Return factors of the standard deviations and a shift of the mean that keep the neighbours in reach, (48)."""
    at: Array = cells.inside
    below: Array = cells.below
    above: Array = cells.above
    z = _reach(std, popsize)
    down, up = _distances(cells, std)
    near_down, near_up = jnp.minimum(down, z), jnp.minimum(up, z)
    both = jnp.isfinite(below) & jnp.isfinite(above)
    wide = (above - below) / (near_down + near_up)
    between = (below * near_up + above * near_down) / (near_down + near_up)
    # with one neighbour only the mean comes no further away from it than the number itself
    lone = jnp.where(jnp.isfinite(above), jnp.maximum(at, cells.centre), jnp.minimum(at, cells.centre))
    reach = jnp.where(jnp.isfinite(above), above - lone, lone - below) / z
    far = _farthest(cells, down, up) > z
    # beyond 2^53 numbers have no halves, and intervals no width
    lacking = cells.whole & far & (above > below)
    factors = jnp.where(lacking, jnp.where(both, wide, jnp.maximum(reach, std)) / std, 1.0)
    place = jnp.where(lacking, jnp.where(both, between, lone), at)
    return factors, jnp.where(cells.whole, place - mean, 0.0)


def least_probability(d: int, popsize: int) -> float:
    """Return the least probability of a neighbour on one side: a generation has 1 / d of a point beyond the borders."""
    return 1 / (2 * d * popsize)


def _reach(std: Array, popsize: int) -> Array:
    """Return the distance in standard deviations beyond which the least probability lies."""
    return -norm.ppf(jnp.asarray(least_probability(std.shape[-1], popsize), std.dtype))


def _distances(cells: Cells, std: Array) -> tuple[Array, Array]:
    """Return the distances to the two borders in standard deviations; at a bound there is only one."""
    return (cells.inside - cells.below) / std, (cells.above - cells.inside) / std


def _farthest(cells: Cells, down: Array, up: Array) -> Array:
    """Return the distance to the farther border that there is."""
    both = jnp.isfinite(cells.below) & jnp.isfinite(cells.above)
    return jnp.where(both, jnp.maximum(down, up), jnp.minimum(down, up))
