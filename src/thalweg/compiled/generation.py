"""One generation of a strategy: ask, evaluate, tell. Host and device loops make their generations of these functions."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from thalweg.compiled.whole import cells_at, centred, margin, redrawn, settled
from thalweg.space import SpaceMap
from thalweg.strategies.strategy import Array, HasShift, HasSqueeze, Info, State, Strategy

Evaluate = Callable[[Array], tuple[Array, Array]]
"""Maps points y of R^d to the points x that the objective takes, and their values f."""


class Learned(NamedTuple):
    """A strategy after a generation."""

    state: State
    mean: Array
    std: Array
    info: Info


class Generation(NamedTuple):
    """The points and values of a generation, and the strategy after it."""

    x: Array
    f: Array
    learned: Learned


def learn(strategy: Strategy, state: State, e: Array, y: Array, f: Array, space: SpaceMap | None = None) -> Learned:
    """Tell a strategy the values f of its points y, and summarise its search distribution.

    The space, if given, has whole numbers, which the strategy learns about as they are, and cannot settle on too early.
    """
    if space is None or not isinstance(strategy, HasShift) or space.cells(y, jnp) is None:
        state, info = strategy.tell(state, e, y, f)
        return Learned(state, *strategy.spread(state), info)
    mean, std = strategy.spread(state)
    own = cells_at(space, mean)
    e, y = redrawn(strategy, state, centred(cells_at(space, y), own, f), e, y)
    told, info = strategy.tell(state, e, y, f)
    state = strategy.resized(state, told, ~settled(own, std, len(f)))
    mean, std = strategy.spread(state)
    if "sigma" in info:
        info["sigma"] = info["sigma"] * std[0] / strategy.spread(told)[1][0]
    factors, shift = margin(cells_at(space, mean), mean, std, len(f))
    state = strategy.shifted(strategy.squeezed(state, factors), shift)
    return Learned(state, mean + shift, std * factors, info)


def generation(
    strategy: Strategy, state: State, evaluate: Evaluate, space: SpaceMap | None = None, widest: Array | None = None
) -> Generation:
    """Make a whole generation, for objectives that JAX can trace; `widest` limits the standard deviations after it."""
    e, y, asked = strategy.ask(state)
    x, f = evaluate(y)
    learned = learn(strategy, asked, e, y, f, space)
    if widest is None or not isinstance(strategy, HasSqueeze):
        return Generation(x, f, learned)
    factors = jnp.minimum(1.0, widest / learned.std)
    narrower = squeeze(strategy, learned, factors)
    return Generation(x, f, jax.tree.map(lambda new, old: jnp.where(jnp.any(factors < 1), new, old), narrower, learned))


def squeeze(strategy: HasSqueeze, learned: Learned, factors: Array) -> Learned:
    """Multiply a search distribution by factors around its mean, and what is shown of it."""
    info = learned.info.copy()
    if "sigma" in info:
        info["sigma"] = info["sigma"] * jnp.exp(jnp.mean(jnp.log(factors)))
    return Learned(strategy.squeezed(learned.state, factors), learned.mean, learned.std * factors, info)


def is_finite(tree: State) -> Array:
    """Return whether all floating-point numbers of a state are finite."""
    arrays = [leaf for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype")]  # a third-party object is a leaf too
    floats = [leaf for leaf in arrays if jnp.issubdtype(leaf.dtype, jnp.floating)]
    if not floats:
        return jnp.asarray(True)
    return jnp.all(jnp.isfinite(jnp.concatenate([jnp.ravel(leaf) for leaf in floats])))  # one reduction, not one each
