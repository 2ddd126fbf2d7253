"""Promises about the package as a whole: its imports, its names, its size, its layers and its prose."""

import ast
import os
import re
import runpy
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
LINES = {path.relative_to(SOURCE): len(path.read_text().splitlines()) for path in SOURCE.rglob("*.py")}
PACKAGES = {
    "_common",
    "batch",
    "cli",
    "compiled",
    "evaluate",
    "integrations",
    "models",
    "objectives",
    "plots",
    "rl",  # the short name of objectives.rl
    "search",
    "space",
    "storage",
    "strategies",
}
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
    "optuna",
    "nevergrad",
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


def test_users_see_what_they_may_use_and_no_more():
    tree = ast.parse((SOURCE / "thalweg" / "__init__.py").read_text())
    (names,) = (node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    assert dir(thalweg) == sorted(ast.literal_eval(names))
    assert all(hasattr(thalweg, name) for name in dir(thalweg))


def test_the_packages_at_the_root():
    found = {path.name for path in (SOURCE / "thalweg").iterdir()} - {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
    assert found == PACKAGES


def test_files_stay_small():
    assert {path: n for path, n in LINES.items() if n > 400} == {}
    assert statistics.median(n for n in LINES.values() if n > 0) < 120


def test_the_library_stays_small():
    assert sum(LINES.values()) <= 24_500  # 21,000 before the integrations


def test_the_picture_of_the_layers_is_what_the_command_draws():
    script = runpy.run_path(str(ROOT / "scripts" / "draw_layers.py"))
    assert script["PICTURE"].read_text() == script["draw"](), "run `make picture`"


def test_docstrings_say_what_a_thing_does():
    """None begins with a question word, be it of a module, a class, a function or a field."""
    riddle = re.compile(r"\s*(What|How|Whether|Who|Which|Of)\b")
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text[:60]}"
        for folder in (SOURCE, ROOT / "studies" / "src")
        for path in sorted(folder.rglob("*.py"))
        for line, text in strings(ast.parse(path.read_text()))
        if riddle.match(text)
    ]
    assert found == []


def strings(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the strings that stand as statements, each with its line: docstrings, also of fields."""
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return [(each.lineno, each.value) for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
