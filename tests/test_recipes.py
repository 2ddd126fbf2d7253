"""The six recipes of docs/extending.md: one file and one line each, applied to a copy of the package as the page has them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text()
BLOCK = re.compile(r"^`(src/[\w/]+\.py)`:\n\n```(python|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONTRACTS = {
    "tests/strategies/latents/test_contract.py": "cem",
    "tests/strategies/flows/test_contract.py": "parabola",
    "tests/evaluate/test_contract.py": "thread-pool",
    "tests/evaluate/test_registry.py": "names_and_arguments",
    "tests/plots/test_contract.py": "final_values",
    "tests/search/test_stopping.py": "sentence",
}
"""Files of contract tests, each with a word in the names of the tests that look at the toy."""


class Recipe(NamedTuple):
    """A file to add and a file to change."""

    new: str
    text: str
    registry: str
    change: str


def recipes() -> list[Recipe]:
    blocks = BLOCK.findall(PAGE)
    assert [kind for _, kind, _ in blocks] == ["python", "diff"] * 6
    return [Recipe(new, text, old, diff) for (new, _, text), (old, _, diff) in zip(blocks[::2], blocks[1::2], strict=True)]


def changed(text: str, change: str) -> str:
    """Apply a difference without line numbers: each hunk is found by its lines, which must occur once."""
    for hunk in change.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(before) == 1, f"docs/extending.md changes what is not there:\n{before}"
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with all six recipes."""
    tree = tmp_path_factory.mktemp("recipes")
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    for recipe in recipes():
        new, registry = tree / recipe.new, tree / recipe.registry
        assert not new.exists()
        new.write_text(recipe.text)
        registry.write_text(changed(registry.read_text(), recipe.change))
    return tree


def run(tree: Path, *words: str, cwd: Path) -> None:
    path = os.pathsep.join([str(tree / "src"), str(ROOT / "studies" / "src")])
    found = subprocess.run(
        words, cwd=cwd, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=280, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_recipe_is_one_file_and_one_line_with_its_import():
    for recipe in recipes():
        added = [line for line in recipe.change.splitlines() if line.startswith("+")]
        assert len(added) == 2, recipe.registry
        assert added[0].startswith("+from thalweg.")
        assert Path(recipe.new).parent.parts[:3] == Path(recipe.registry).parent.parts[:3]  # within one package


def test_the_rules_and_layers_hold(tree: Path):
    run(tree, sys.executable, "-m", "ruff", "check", "--no-cache", "src", cwd=tree)
    run(tree, sys.executable, "-m", "ruff", "format", "--check", "--no-cache", "src", cwd=tree)
    run(tree, str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache", cwd=tree)


@pytest.mark.check
def test_everything_sees_the_toys(tree: Path):
    words = f"recipes_applied or {' or '.join(CONTRACTS.values())}"
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-o", f"pythonpath={tree / 'src'}", "-k", words]
    run(tree, sys.executable, "-m", "pytest", *options, "tests/recipes_applied.py", *CONTRACTS, cwd=ROOT)
