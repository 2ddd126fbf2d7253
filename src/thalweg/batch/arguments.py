"""Checks of arguments that `run_many` and `run_restarts` share."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from thalweg._common.checks import as_count, as_seed, shortened
from thalweg.strategies.strategy import Strategy

MOST = 2**31 - 1
"""Largest number of runs: that of a length in XLA."""


def check_traceable(strategy: Strategy, fun: Any, caller: str) -> None:
    """Raise an error if JAX cannot trace the strategy, or fun cannot be called."""
    if not strategy.traceable:
        raise ValueError(f"{shortened(strategy)} cannot be traced by JAX, and {caller} compiles whole runs; use minimize")
    if not callable(fun):
        raise TypeError(f"fun must be callable, got {shortened(fun)}")


def as_seeds(seeds: int | Sequence[int] | np.ndarray) -> Sequence[int]:
    """Return one whole number per run.

    >>> list(as_seeds(3))
    [0, 1, 2]
    """
    given: Any = seeds.tolist() if isinstance(seeds, np.ndarray | jax.Array) else seeds
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        number = as_count(given, "seeds")
        if number > MOST:
            raise ValueError(f"seeds must be at most {MOST} runs, got {number:.6g}")
        return range(number)
    if not given:
        raise ValueError("seeds must have one number for each run, got none")
    return [as_seed(seed, f"seeds[{i}]") for i, seed in enumerate(given)]


def check_args(args: Any, runs: int) -> None:
    """Raise a ValueError if the arguments of the objective are not one for each run."""
    for leaf in jax.tree.leaves(args):
        if np.ndim(leaf) == 0 or len(leaf) != runs:
            raise ValueError(
                f"args must hold arrays with one entry for each of the {runs} runs, got shape {np.shape(leaf)}; bind what all "
                "runs share with functools.partial"
            )


def as_precision(dtype: Any) -> np.dtype[Any]:
    """Return the type, float64 or float32.

    >>> as_precision("float32")
    dtype('float32')
    """
    try:
        precision = np.dtype(dtype)
    except TypeError:
        precision = None
    if precision is None or precision.name not in ("float64", "float32"):
        raise ValueError(f"dtype must be 'float64' or 'float32', got {shortened(dtype)}")
    return precision
