"""Fixtures of the studies' tests: those of the library's tests, and the scripts in studies/benchmarks/ as modules."""

import importlib
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]

# Loaded by its path, as test folders are not on sys.path; it also loads the hypothesis profile.
spec = spec_from_file_location("library_conftest", ROOT / "tests" / "conftest.py")
library = module_from_spec(spec)
spec.loader.exec_module(library)
x64, few_programs = library.x64, library.few_programs


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Import a script of studies/benchmarks/ by its name, and forget all of them after the test: the folder is no package."""
    folder = ROOT / "studies" / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module
    for script in folder.glob("*.py"):
        sys.modules.pop(script.stem, None)
