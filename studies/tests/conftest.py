"""Fixtures of the studies' tests: double precision, bounded memory, and the scripts in benchmarks/."""

import gc
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import jax
import pytest


@pytest.fixture(autouse=True, scope="module")
def x64() -> Iterator[None]:
    """Run a module's tests in double precision, as the library does, without changing the global flag."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(autouse=True, scope="module")
def few_programs() -> Iterator[None]:
    """Release compiled programs before there are too many: each takes a hundred memory maps, of which Linux allows 65,530."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > 20_000:
        jax.clear_caches()
        gc.collect()


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a module of the folder benchmarks/, which is no package; none of them stays imported."""
    folder = Path(__file__).parents[1] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module
    for script in folder.glob("*.py"):
        sys.modules.pop(script.stem, None)
