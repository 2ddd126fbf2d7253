"""Which way of evaluation `workers` and `vectorized` ask for."""

import concurrent.futures as futures
import os
from typing import Any, cast

from thalweg._common.checks import as_count, shortened
from thalweg._common.outcome import Objective
from thalweg.evaluate.base import Batch, Engine
from thalweg.evaluate.dask_engine import Dask
from thalweg.evaluate.executor import ByExecutor
from thalweg.evaluate.processes import Processes
from thalweg.evaluate.ray_engine import Ray
from thalweg.evaluate.serial import Serial
from thalweg.evaluate.whole import MapLike, Mapped, Vectorized

Workers = int | futures.Executor | MapLike | Ray | Dask


def choose(fun: Objective, args: tuple[Any, ...], workers: Any, *, vectorized: bool, timed: bool) -> Engine | Batch:
    """The way of evaluation; `timed` where single evaluations must be given up after a time."""
    if isinstance(workers, Ray | Dask | futures.Executor) or callable(workers):
        if vectorized:
            raise ValueError("vectorized=True hands fun the whole generation at once; leave workers out")
        if isinstance(workers, Ray | Dask):
            return workers.engine(fun, args)
        if isinstance(workers, futures.Executor):
            return ByExecutor(fun, args, workers)
        if timed:
            raise ValueError("a map cannot keep to eval_timeout; pass workers as a number or an executor")
        return Mapped(fun, args, cast("MapLike", workers))
    try:
        number = (os.cpu_count() or 1) if workers == -1 else as_count(workers, "workers")
    except TypeError:
        raise TypeError(
            "workers must be a whole number, a map-like callable, a concurrent.futures.Executor, thalweg.Ray(...) or "
            f"thalweg.Dask(...), got {shortened(workers)}"
        ) from None
    if vectorized:
        if number > 1:
            raise ValueError(f"vectorized=True hands fun the whole generation at once; leave workers={number} out")
        if timed:
            raise ValueError("vectorized=True evaluates in this process and cannot keep to eval_timeout; leave it out")
        return Vectorized(fun, args)
    if number == 1 and not timed:
        return Serial(fun, args)
    return Processes(fun, args, number)  # one too, if it may have to be killed
