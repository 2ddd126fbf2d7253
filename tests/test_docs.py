"""The code cites equations, and the page of equations names files: both ends must be there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MATH = (ROOT / "docs" / "math.md").read_text()
HEADINGS = {int(n) for n in re.findall(r"^### \((\d+)\)", MATH, re.MULTILINE)}


def cited(text: str) -> set[int]:
    """The equations that a text cites after the name of the page: "docs/math.md (9), (10)" or "(4) to (6)"."""
    numbers: set[int] = set()
    for run in re.findall(r"math\.md\)? ((?:\(\d+\)(?:, | and | to )?)+)", text):
        for first, last in re.findall(r"\((\d+)\)(?: to \((\d+)\))?", run):
            numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def test_the_pattern_finds_what_it_should():
    assert cited("docs/math.md (14), (17) to (19)") == {14, 17, 18, 19}
    assert cited("docs/math.md (15) and (16).") == {15, 16}


def test_every_cited_equation_exists():
    files = [*(ROOT / "src").rglob("*.py"), ROOT / "docs" / "trust_region.md"]
    citing = {path.name: numbers for path in files if (numbers := cited(path.read_text()))}
    assert len(citing) > 10
    assert {name: numbers - HEADINGS for name, numbers in citing.items() if numbers - HEADINGS} == {}


def test_the_equations_are_numbered_without_a_gap():
    assert sorted(HEADINGS) == list(range(1, max(HEADINGS) + 1))


def test_every_file_that_the_page_names_exists():
    lines = re.findall(r"^Code: (.*?)(?:\n\n|\Z)", MATH, re.MULTILINE | re.DOTALL)
    named = {name for line in lines for name in re.findall(r"`([\w/]+\.py|\w+/)`", line)}
    assert len(named) > 15
    assert [name for name in sorted(named) if not (ROOT / "src" / "thalweg" / name).exists()] == []


def test_relative_links_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []
