"""Who evaluates: processes, threads that wait for programs, Ray or Dask."""

import contextlib
import os
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

from thalweg.cli.settings import Settings
from thalweg.evaluate import Dask, Ray, Workers
from thalweg.objectives.command import kill_programs


@contextlib.contextmanager
def open_workers(settings: Settings) -> Generator[Workers, None, None]:
    """What `minimize` takes as `workers`; what was started for it ends here."""
    if settings.engine != "processes":
        with shared_path():
            yield (Ray if settings.engine == "ray" else Dask)(address=settings.address, workers=settings.number)
    elif settings.command is None:
        yield 1 if settings.number is None else settings.number
    else:
        pool = ThreadPoolExecutor(settings.number)
        try:
            yield pool
        finally:
            # one that is out of time or interrupted still waits for its program, and may just have begun another
            closing = threading.Thread(target=pool.shutdown, kwargs={"cancel_futures": True})
            closing.start()
            while closing.is_alive():
                kill_programs()
                closing.join(0.05)


@contextlib.contextmanager
def shared_path() -> Generator[None, None, None]:
    """Processes that are started meanwhile import what we can."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def in_words(settings: Settings) -> str:
    """Who evaluates, for people."""
    number = settings.number
    if settings.engine != "processes":
        where = settings.address or "this machine"
        return f"{'all' if number is None else number} of {settings.engine.capitalize()} on {where}"
    if settings.command is not None:
        return f"{number} program{'s at a time' if number != 1 else ''}"
    return "this process" if number == 1 else f"{number} processes"
