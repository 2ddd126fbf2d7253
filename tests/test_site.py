"""The pages that `make docs` makes itself; the site is built, and looked at in a browser, by `make check`."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[1]


def load(name: str):
    specification = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert specification
    module = importlib.util.module_from_spec(specification)
    assert specification.loader
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hooks():
    return load("site_hooks")


def test_every_public_name_has_a_place_in_the_reference(hooks):
    pages = "".join(text for _, text in hooks.reference())
    assert [name for name in dir(thalweg) if name != "__version__" and f"::: thalweg.{name}\n" not in pages] == []
    assert "::: thalweg.plots.run\n" in pages


def test_every_page_has_a_place_in_the_navigation():
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - set(listed) == set()


def test_equations_become_mathml(hooks):
    text = hooks.mathml(r"x \in \mathbb R^d, \quad C = R R^\top \tag{7}", display=True)
    assert "ℝ" in text
    assert "<span>(7)</span>" in text
    assert "\\" not in text


def test_the_notebook_becomes_a_page_with_its_pictures(hooks):
    parts = dict(hooks.notebook(hooks.NOTEBOOK))
    page = parts.pop("notebook.md").decode()
    assert len(parts) == 3
    assert all(f"]({name})" in page and data[:4] == b"\x89PNG" for name, data in parts.items())
    cells = json.loads(hooks.NOTEBOOK.read_text())["cells"]
    assert all("".join(cell["source"]) in page for cell in cells if cell["cell_type"] == "code")
    links = [link for cell in cells for link in re.findall(r"\]\(([^)]+)\)", "".join(cell["source"]))]
    assert len(links) > 3
    assert [link for link in links if not (hooks.NOTEBOOK.parent / link).is_file()] == []


def test_outputs_of_a_notebook_are_compared():
    alike = load("run_notebook").alike
    assert alike("x = 1,000 in 1.5e-3 s", "x = 1,100 in 1.4e-3 s")
    assert not alike("x = 1,000", "x = 2,000")
    assert not alike("x = 1,000", "y = 1,000")
    assert not alike("1, 2", "1")
