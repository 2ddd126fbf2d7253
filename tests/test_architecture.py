"""Promises about the package as a whole: what importing it does, and how large its files may grow."""

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
EXTRAS = {
    "matplotlib",
    "click",
    "rich",
    "cma",
    "cmaes",
    "flowjax",
    "equinox",
    "ray",
    "distributed",
    "pyarrow",
    "gymnasium",
}


def python(code: str, **environment: str) -> list[str]:
    """Run code in a fresh interpreter and give back the words it prints."""
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(SOURCE)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_import_brings_no_extra():
    loaded = python("import thalweg, sys; print(*{name.partition('.')[0] for name in sys.modules})")
    assert {"thalweg", "jax"} <= set(loaded)
    assert not EXTRAS & set(loaded)


@pytest.mark.parametrize("x64", ["0", "1"])
def test_import_leaves_jax_as_it_was(x64):
    """No flag of the user's process is changed, and no array is made: at import it would have the wrong precision."""
    code = """
import jax
before = dict(jax.config.values)
import thalweg
print(jax.config.jax_enable_x64, dict(jax.config.values) == before, len(jax.live_arrays()))
"""
    assert python(code, JAX_ENABLE_X64=x64) == [str(x64 == "1"), "True", "0"]


def test_files_stay_small():
    lines = {path.relative_to(SOURCE): len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
    assert {path: n for path, n in lines.items() if n > 400} == {}
    assert statistics.median(n for n in lines.values() if n > 0) < 200
