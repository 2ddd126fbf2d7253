"""Whole numbers in a search over R^d: a margin keeps the neighbouring ones in reach, docs/math.md (46) to (48).

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


def folded(strategy: Strategy, state: State, cells: Cells, e: Array, y: Array) -> tuple[Array, Array]:
    """Return draws and points with whole numbers beyond their bounds as the images inside that were evaluated, (47).

    The mean, which is an average of such points, then stays where the numbers beside it are those that it stands for.
    """
    moved = jnp.any(cells.inside != y, -1, keepdims=True)
    change = strategy.invert(state, cells.inside) - strategy.invert(state, y)
    return jnp.where(moved, e + change, e), cells.inside


def margin(cells: Cells, mean: Array, std: Array, popsize: int) -> tuple[Array, Array]:
    """Return factors of the standard deviations and a shift of the mean that keep the neighbours in reach, (48)."""
    at: Array = cells.inside
    below: Array = cells.below
    above: Array = cells.above
    z: Array = -norm.ppf(jnp.asarray(least_probability(mean.shape[-1], popsize), mean.dtype))
    # distances to the two borders in standard deviations; at a bound there is only one
    down, up = (at - below) / std, (above - at) / std
    near_down, near_up = jnp.minimum(down, z), jnp.minimum(up, z)
    both = jnp.isfinite(below) & jnp.isfinite(above)
    wide = (above - below) / (near_down + near_up)
    between = (below * near_up + above * near_down) / (near_down + near_up)
    # with one neighbour only the mean comes no further away from it than the number itself
    lone = jnp.where(jnp.isfinite(above), jnp.maximum(at, cells.centre), jnp.minimum(at, cells.centre))
    reach = jnp.where(jnp.isfinite(above), above - lone, lone - below) / z
    far = jnp.where(both, jnp.maximum(down, up), jnp.minimum(down, up)) > z
    # beyond 2^53 numbers have no halves, and intervals no width
    lacking = cells.whole & far & (above > below)
    factors = jnp.where(lacking, jnp.where(both, wide, jnp.maximum(reach, std)) / std, 1.0)
    place = jnp.where(lacking, jnp.where(both, between, lone), at)
    return factors, jnp.where(cells.whole, place - mean, 0.0)


def least_probability(d: int, popsize: int) -> float:
    """Return the least probability of a neighbour on one side: a generation has 1 / d of a point beyond the borders."""
    return 1 / (2 * d * popsize)
