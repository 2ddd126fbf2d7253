"""The package as users get it: extras, the file that says how to cite it, and what `help` prints."""

import pydoc
import re
import tomllib
from pathlib import Path
from typing import get_args

import yaml

import thalweg

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = set(PROJECT["optional-dependencies"])


def test_every_extra_that_an_error_names_exists():
    named = {
        found
        for path in (ROOT / "src").rglob("*.py")
        for found in re.findall(r'(?:extra=|command\()["\'](\w+)', path.read_text())
    }
    assert {"cli", "plots", "optuna", "tune"} <= named <= EXTRAS


def test_no_error_and_no_page_asks_for_a_package_from_an_index():
    """The library is installed from a clone: pip finds none of its name elsewhere."""
    files = [path for folder in ("src", "studies/src", "docs", "examples") for path in (ROOT / folder).rglob("*.*")]
    files += [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "studies" / "README.md"]
    lines = [line for path in files if path.suffix in (".py", ".md") for line in path.read_text().splitlines()]
    assert [line for line in lines if re.search(r"""pip install ["']?thalweg""", line)] == []


def test_the_page_on_installing_lists_all_extras():
    section = (ROOT / "docs" / "quickstart.md").read_text().partition("## Install\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == EXTRAS


def test_the_citation_is_that_of_this_version_and_of_the_readme():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["title"], citation["version"]) == ("Thalweg", PROJECT["version"])
    assert citation["authors"] == PROJECT["authors"]
    assert (citation["license"], citation["keywords"]) == (PROJECT["license"], PROJECT["keywords"])
    paper, readme = citation["preferred-citation"], " ".join((ROOT / "README.md").read_text().split())
    names = ", ".join(f"{author['given-names'][0]}. {author['family-names']}" for author in paper["authors"])
    assert f"{names}, *{paper['title']}*, [arXiv:{paper['url'].rpartition('/')[2]}]({paper['url']})" in readme


def test_the_workflow_runs_what_there_is():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    steps = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"make demo", ".ci/run"} <= set(steps)
    for words in map(str.split, steps):
        program = [word for word in words if word != "sudo"]
        assert program[1] in targets if program[0] == "make" else (ROOT / program[0]).is_file()


def test_help_is_a_page_with_all_names():
    text = pydoc.plain(pydoc.render_doc(thalweg))
    assert len(text.splitlines()) < 80
    assert {name for name in dir(thalweg) if f"`{name}`" not in text} == {"__version__"}


def test_the_type_of_methods_has_their_names():
    assert set(get_args(thalweg.Method)) == set(thalweg.method_names())
