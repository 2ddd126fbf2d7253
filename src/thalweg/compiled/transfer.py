"""Arrays of JAX in pickles: JAX itself reads them back in single precision, unless the process has chosen double."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True, eq=False)
class Stored:
    """An array that was one of JAX. It is no pytree, so that arrays of numpy beside it stay what they are."""

    array: np.ndarray


def to_host(tree: Any) -> Any:
    """Return the tree with arrays of JAX as stored ones; random keys and foreign objects pickle as they are."""
    return jax.tree.map(lambda leaf: Stored(np.asarray(leaf)) if _is_plain(leaf) else leaf, tree)


def to_device(tree: Any) -> Any:
    """Return the tree that `to_host` was given, with the same bits."""
    with jax.enable_x64(True):
        return jax.tree.map(lambda leaf: jnp.asarray(leaf.array) if isinstance(leaf, Stored) else leaf, tree)


def _is_plain(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
