"""Registry of the engines, and the choice of one by the arguments `workers` and `vectorized`."""

import concurrent.futures as futures
import os
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from thalweg._common.checks import as_count, listed, one_of, shortened
from thalweg._common.outcome import Objective
from thalweg.evaluate.base import Engine, EngineFactory
from thalweg.evaluate.dask_engine import Dask
from thalweg.evaluate.executor import ExecutorEngine
from thalweg.evaluate.processes import Processes
from thalweg.evaluate.ray_engine import Ray
from thalweg.evaluate.simple_engines import GenerationEngine, MapLike, Serial, evaluate_by_map, evaluate_vectorized

ENGINES: dict[str, Callable[..., EngineFactory]] = {
    "processes": Processes,
    "ray": Ray,
    "dask": Dask,
}
"""Factories by name, each called with `address=None, workers=None`. A further engine is a file of its own and an entry here."""

Workers = int | str | futures.Executor | MapLike | EngineFactory
"""Type of the argument `workers`."""


def choose(fun: Objective, args: tuple[Any, ...], workers: Any, *, vectorized: bool, timed: bool) -> Engine | GenerationEngine:
    """Make the engine that the arguments ask for. If `timed`, it must be able to cancel single evaluations."""
    if isinstance(workers, str) and workers in ENGINES:
        workers = ENGINES[workers]()
    elif isinstance(workers, type) and isinstance(workers, EngineFactory):
        raise TypeError(f"workers must be an instance of {workers.__name__}, got the class; add parentheses")
    other = isinstance(workers, futures.Executor | EngineFactory) or callable(workers)
    number = None if other else _number_of(workers)
    if vectorized:
        if number != 1:
            leave_out = "workers" if number is None else f"workers={number}"
            raise ValueError(f"vectorized=True passes whole generations to fun; leave {leave_out} out")
        if timed:
            raise ValueError("vectorized=True evaluates in this process and cannot keep to eval_timeout; leave it out")
        return partial(evaluate_vectorized, fun, args)
    if isinstance(workers, futures.Executor):
        return ExecutorEngine(fun, args, workers)
    if isinstance(workers, EngineFactory):
        return workers.engine(fun, args)
    if number is None:
        if timed:
            raise ValueError("a map cannot keep to eval_timeout; pass workers as a number or an executor")
        return partial(evaluate_by_map, fun, args, cast("MapLike", workers))
    if number == 1 and not timed:
        return Serial(fun, args)
    return Processes(workers=number).engine(fun, args)  # a single process too, as evaluations may have to be killed


def _number_of(workers: Any) -> int:
    try:
        return (os.cpu_count() or 1) if workers == -1 else as_count(workers, "workers")
    except TypeError:
        if isinstance(workers, str):
            raise TypeError(
                f"workers must be a whole number, not in quotes, or the name of an engine, got {shortened(workers)}; "
                f"{one_of(workers, tuple(ENGINES))}"
            ) from None
        raise TypeError(
            f"workers must be a whole number, one of {listed(tuple(ENGINES))}, a map-like callable, a "
            f"concurrent.futures.Executor, thalweg.Ray(...) or thalweg.Dask(...), got {shortened(workers)}"
        ) from None
