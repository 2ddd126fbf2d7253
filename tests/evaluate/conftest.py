"""Engines as the tests share them: one Ray and one Dask cluster for all, as each takes seconds to start."""

import concurrent.futures
import contextlib
import multiprocessing
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from thalweg.evaluate import ENGINES, Dask, Ray


@contextlib.contextmanager
def ray_here() -> Iterator[Ray]:
    import ray

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Ray has to say about its own future
        settings = {"include_dashboard": False, "logging_level": "error", "log_to_driver": False}
        ray.init("local", num_cpus=2, object_store_memory=80 * 2**20, **settings)  # whatever else runs on this machine
    yield Ray(workers=2)
    assert ray.is_initialized()  # it was not ours to shut down
    ray.shutdown()


@contextlib.contextmanager
def dask_here() -> Iterator[Dask]:
    import dask
    import distributed

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Dask(client, workers=2)


@contextlib.contextmanager
def threads() -> Iterator[concurrent.futures.Executor]:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield pool


@contextlib.contextmanager
def pool() -> Iterator[concurrent.futures.Executor]:
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


MAKERS: dict[str, Any] = {
    "serial": lambda: contextlib.nullcontext(1),
    "map": lambda: contextlib.nullcontext(map),
    "processes": lambda: contextlib.nullcontext(2),
    "threads": threads,
    "pool": pool,
    "ray": ray_here,
    "dask": dask_here,
}


@pytest.fixture(scope="session")
def workers(request: pytest.FixtureRequest) -> Iterator[Any]:
    """What `workers=` takes; tests name those that they are about. Engines without a maker here are made by the registry."""
    name = request.param
    with MAKERS[name]() if name in MAKERS else contextlib.nullcontext(ENGINES[name](workers=2)) as made:
        yield made
