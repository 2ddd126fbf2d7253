"""A generation that was drawn: as a tree of arrays, or as the compiled steps leave it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.compiled.layout import Layout
from thalweg.compiled.transfer import to_device, to_host
from thalweg.strategies.strategy import State


class Drawn(NamedTuple):
    """A generation: standard draws, points of R^d, and the state that has drawn them."""

    e: Any
    y: Any
    state: State

    def __reduce__(self) -> tuple[Any, ...]:
        return _drawn, to_host(tuple(self))


class Ahead:
    """A generation that was drawn along with the update before it.

    Its points are on the host. All else is still as the program returned it, and made when it is asked for; the program of the
    next update takes it as it is.
    """

    def __init__(self, flat: tuple[Any, ...], y: np.ndarray, layout: Layout, moved: Sequence[int]) -> None:
        self.flat, self.y, self.layout, self.moved = flat, y, layout, moved

    def __reduce__(self) -> tuple[Any, ...]:
        return self.drawn.__reduce__()

    @property
    def before(self) -> State:
        """The state before the generation was drawn."""
        return self._tree[0]

    @property
    def e(self) -> Any:
        return self._tree[1][0]

    @property
    def state(self) -> State:
        return self.drawn.state

    @cached_property
    def drawn(self) -> Drawn:
        """The generation as a tree of arrays."""
        before, (e, y, moved) = self._tree
        return Drawn(e, y, moved_on(before, self.moved, moved))

    @cached_property
    def _tree(self) -> Any:
        vector, *alone = self.flat
        with jax.enable_x64(True):
            return jax.tree.map(jnp.asarray, self.layout.unpack((np.asarray(vector), *alone)))


def moved_on(state: State, places: Sequence[int], leaves: Sequence[Any]) -> State:
    """Return a state with other leaves at these places: those that drawing a generation changes."""
    all_leaves, tree = jax.tree.flatten(state)
    for i, leaf in zip(places, leaves, strict=True):
        all_leaves[i] = leaf
    return jax.tree.unflatten(tree, all_leaves)


def _drawn(*parts: Any) -> Drawn:
    return Drawn(*to_device(parts))
