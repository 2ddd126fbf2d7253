"""Random keys from seeds of any size, independent of the generator that the user's JAX flags prefer."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from thalweg.strategies.strategy import Key


def seed_words(seed: int) -> np.ndarray:
    """Return the two words of a random key, from a seed of any size."""
    return np.random.SeedSequence(seed).generate_state(2, np.uint32)


def as_key(words: Any) -> Key:
    """Make a random key of two words, or several of (..., 2) words."""
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def make_keys(seeds: Sequence[int]) -> Key:
    """Make one random key for each seed."""
    return as_key(jnp.asarray(np.stack([seed_words(seed) for seed in seeds])))
