"""Trees of arrays in few arrays: each array that goes into a program or comes out of it costs about a microsecond."""

from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SMALL = 1024
"""Numbers up to which an array is copied into the common vector; larger ones stay alone, as copies cost more."""


class Layout:
    """The places of a tree's numbers: a vector of all small arrays in double precision, and each other array as it is.

    >>> layout = Layout({"a": np.ones((2, 2)), "b": np.array(3.0), "c": np.array([7])})
    >>> flat = layout.pack({"a": np.ones((2, 2)), "b": np.array(3.0), "c": np.array([7])}, np)
    >>> flat
    (array([1., 1., 1., 1., 3.]), array([7]))
    >>> layout.unpack(flat)["b"].tolist()
    3.0
    """

    def __init__(self, tree: Any) -> None:
        leaves, self.tree = jax.tree.flatten(tree)
        self.kinds = [_kind(leaf) for leaf in leaves]
        """Shape and type of each array."""
        self.common = [dtype == np.float64 and prod(shape) <= SMALL for shape, dtype in self.kinds]
        """True for each array that is a part of the vector."""

    @property
    def shapes(self) -> Any:
        """The tree with the shapes of its arrays."""
        return jax.tree.unflatten(self.tree, [jax.ShapeDtypeStruct(*kind) for kind in self.kinds])

    @property
    def flat_shapes(self) -> tuple[Any, ...]:
        """Shapes of the arrays that `pack` returns."""
        both = list(zip(self.kinds, self.common, strict=True))
        length = sum(prod(shape) for (shape, _), common in both if common)
        alone = (jax.ShapeDtypeStruct(*kind) for kind, common in both if not common)
        return jax.ShapeDtypeStruct((length,), float), *alone

    def alone(self, i: int) -> int | None:
        """Return the place of array i of the tree among those that `pack` returns; None where it is a part of the vector."""
        return None if self.common[i] else 1 + self.common[:i].count(False)

    def fits(self, tree: Any) -> bool:
        """Return whether a tree has arrays of these shapes and types at these places."""
        leaves, structure = jax.tree.flatten(tree)
        return structure == self.tree and all(hasattr(leaf, "dtype") for leaf in leaves) and self.kinds == [*map(_kind, leaves)]

    def pack(self, tree: Any, xp: Any = jnp) -> tuple[Any, ...]:
        """Return the arrays of a tree that fits; `xp` is numpy or jax.numpy."""
        both = list(zip(jax.tree.leaves(tree), self.common, strict=True))
        parts = [xp.ravel(leaf) for leaf, common in both if common]
        vector = xp.concatenate(parts) if parts else xp.zeros(0)
        return vector, *(leaf for leaf, common in both if not common)

    def unpack(self, flat: tuple[Any, ...]) -> Any:
        """Return the tree whose arrays `pack` has returned."""
        vector, *alone = flat
        leaves, start, rest = list[Any](), 0, iter(alone)
        for (shape, _), common in zip(self.kinds, self.common, strict=True):
            if common:
                leaves.append(vector[start : start + prod(shape)].reshape(shape))
                start += prod(shape)
            else:
                leaves.append(next(rest))
        return jax.tree.unflatten(self.tree, leaves)


def _kind(leaf: Any) -> tuple[tuple[int, ...], Any]:
    return tuple(leaf.shape), np.dtype(leaf.dtype)
