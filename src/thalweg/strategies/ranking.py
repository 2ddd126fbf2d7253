"""Ranks and weights from function values.

NaN counts as +inf, so that failures rank last; ties keep the order in which the points were asked, as in pycma.
"""

import jax.numpy as jnp
import numpy as np

from thalweg.strategies.strategy import Array


def sanitise(f: Array) -> Array:
    """Return the values with NaN replaced by +inf: failures rank last."""
    return jnp.where(jnp.isnan(f), jnp.inf, f)


def ascending(f: Array) -> Array:
    """Return the indices that sort the values: best first, failures last, ties in order of arrival."""
    return jnp.argsort(sanitise(f), stable=True)


def assign(f: Array, weights: Array | np.ndarray) -> Array:
    """Give the k-th best point the k-th weight; return the weights in the order of the points."""
    return jnp.zeros(f.shape[-1], f.dtype).at[ascending(f)].set(jnp.asarray(weights, f.dtype))


def nes_utilities(n: int) -> np.ndarray:
    """Return the utilities of NES, best first: max(0, ln(n/2 + 1) - ln rank) scaled to sum 1, less 1/n; docs/math.md (3)."""
    raw = np.maximum(0.0, np.log(n / 2 + 1) - np.log(np.arange(1, n + 1)))
    return raw / raw.sum() - 1 / n


def standardise(f: Array) -> Array:
    """Return (f - mean) / (std + 1e-5), the fitness shaping of the authors' code.

    Failures count as the worst finite value, and -inf, which ranks first, as the best.

    >>> standardise(jnp.asarray([1.0, jnp.nan, 3.0, -jnp.inf])).round(2).tolist()
    [-1.0, 1.0, 1.0, -1.0]
    """
    finite = jnp.isfinite(f)
    worst = jnp.max(jnp.where(finite, f, -jnp.inf))
    best = jnp.min(jnp.where(finite, f, jnp.inf))
    replacement = jnp.where(jnp.any(finite), jnp.where(f == -jnp.inf, best, worst), 0.0)
    filled = jnp.where(finite, f, replacement)
    return (filled - filled.mean()) / (filled.std() + 1e-5)
