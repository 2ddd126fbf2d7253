"""The pages that `make docs` makes itself; the site is built, and looked at in a browser, by `make check`."""

import importlib.util
import json
from pathlib import Path

import pytest

import thalweg

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def hooks():
    specification = importlib.util.spec_from_file_location("site_hooks", ROOT / "scripts" / "site_hooks.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_every_public_name_has_a_place_in_the_reference(hooks):
    pages = "".join(text for _, text in hooks.reference())
    assert [name for name in dir(thalweg) if name != "__version__" and f"::: thalweg.{name}\n" not in pages] == []
    assert "::: thalweg.plots.run\n" in pages


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
    assert all("".join(cell["source"]) in page for cell in json.loads(hooks.NOTEBOOK.read_text())["cells"][1:])
