"""The values that a user tells, as numbers."""

import logging
from typing import Any, TypeGuard

import jax
import numpy as np

from thalweg._common.checks import is_plain, shortened
from thalweg._common.outcome import Failure, to_value

logger = logging.getLogger("thalweg")


def numbers(F: Any, name: str = "F") -> tuple[np.ndarray, int]:
    """Return the values as numbers, NaN where there is none, and how many of them are no numbers.

    >>> numbers([1, None, np.array([2.0])])
    (array([ 1., nan,  2.]), 1)
    """
    if is_plain(F) and F.ndim == 1:
        return F, 0
    try:
        values = F if _is_vector(F) else [to_value(returned) for returned in F]
    except TypeError:
        raise TypeError(f"{name} must be a sequence of values, one for each point, got {shortened(F)}") from None
    if not isinstance(values, list):
        return np.asarray(values, float), 0
    failed = [value.reason for value in values if isinstance(value, Failure)]
    if failed:
        logger.debug("values were told that are no numbers, the first: %s", failed[0])
    return np.array([np.nan if isinstance(value, Failure) else value for value in values], float), len(failed)


def _is_vector(values: Any) -> TypeGuard[np.ndarray]:
    """Return whether the values are numbers already, in an array of numpy or JAX."""
    return (
        isinstance(values, np.ndarray | jax.Array)
        and not np.ma.is_masked(values)
        and values.ndim == 1
        and values.dtype.kind in "biuf"
    )
