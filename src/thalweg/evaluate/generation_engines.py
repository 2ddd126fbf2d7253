"""Evaluation of whole generations in one call: by a vectorized objective, or by a map."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from thalweg._common.outcome import Objective, Outcome, raised, to_value
from thalweg.evaluate.pickling import PortableObjective, as_outcome

MapLike = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
GenerationEngine = Callable[[np.ndarray], Iterable[Outcome] | np.ndarray]
"""A function from the points of a generation to their outcomes in order, or to an array of values if all are numbers."""


def evaluate_vectorized(fun: Objective, args: tuple[Any, ...], points: np.ndarray) -> list[Outcome] | np.ndarray:
    """Pass the whole generation to the objective."""
    started, returned, failure = time.perf_counter(), None, None
    try:
        returned = fun(points, *args)
    except Exception as error:
        failure = raised(error)
    seconds = time.perf_counter() - started
    if returned is None:
        return [Outcome(failure or to_value(None), None, seconds)] * len(points)
    try:
        values = np.asarray(returned)
    except ValueError:  # a ragged list
        values = np.asarray(returned, dtype=object)
    if values.shape not in ((len(points),), (len(points), 1)):
        raise ValueError(
            f"with vectorized=True fun must return one value per point: got shape {values.shape} for points of shape "
            f"{points.shape}, wanted ({len(points)},)"
        )
    values = values.reshape(len(points))
    if values.dtype.kind in "biuf":  # numbers already: no loop over large generations
        return values.astype(float)
    return [Outcome(to_value(value), None, seconds) for value in values.tolist()]


def evaluate_by_map(fun: Objective, args: tuple[Any, ...], mapper: MapLike, points: np.ndarray) -> Iterator[Outcome]:
    """Call a function like the built-in `map`, for instance that of a `multiprocessing.Pool`."""
    number = 0
    for answer in mapper(PortableObjective(fun, args), list(points)):
        number += 1
        if number <= len(points):
            yield as_outcome(answer)
    if number != len(points):
        raise ValueError(f"workers must return one value per point, as map does: got {number} for {len(points)} points")
