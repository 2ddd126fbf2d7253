"""The workers that evaluate points for the command line: processes, threads that wait for programs, Ray or Dask."""

import contextlib
import os
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

from thalweg.cli.settings import RunSettings
from thalweg.evaluate import ENGINES, Workers
from thalweg.objectives.command import kill_programs


@contextlib.contextmanager
def open_workers(settings: RunSettings) -> Generator[Workers, None, None]:
    """Yield the argument `workers` of `minimize`; end the threads and programs that were started for it."""
    if settings.engine != "processes":
        with exported_path():
            yield ENGINES[settings.engine](address=settings.address, workers=settings.worker_count)
    elif settings.command is None:
        yield 1 if settings.worker_count is None else settings.worker_count
    else:
        pool = ThreadPoolExecutor(settings.worker_count)
        try:
            yield pool
        finally:
            # after a timeout or an interrupt a thread still waits for its program, and may just have started another one
            closing = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True})
            closing.start()
            while closing.is_alive():
                kill_programs()
                closing.join(0.05)


@contextlib.contextmanager
def exported_path() -> Generator[None, None, None]:
    """Put `sys.path` into PYTHONPATH, so that processes started meanwhile find the user's modules."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        yield
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


def describe_workers(settings: RunSettings) -> str:
    """Return the number and kind of the workers, as the panel shows them."""
    count = settings.worker_count
    if settings.engine != "processes":
        where = settings.address or "this machine"
        return f"{settings.engine.capitalize()} on {where}, {'all' if count is None else count} workers"
    if settings.command is not None:
        return f"{count} program{'s at a time' if count != 1 else ''}"
    return "this process" if count == 1 else f"{count} processes"
