"""The pages are true: links, equations, files, commands, options, names and keyword arguments that they mention exist."""

import ast
import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from thalweg.cli.app import app
from thalweg.search.stopping import CRITERIA

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "studies" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MATH = (ROOT / "docs" / "math.md").read_text()
HEADINGS = {int(n) for n in re.findall(r"^### \((\d+)\)", MATH, re.MULTILINE)}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NOT_NAMES = {"thalweg.commands"}
"""A group of entry points."""

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def cited(text: str) -> set[int]:
    """Return the equations that a text cites after the name of the page: "docs/math.md (9), (10)" or "(4) to (6)"."""
    numbers: set[int] = set()
    for run in re.findall(r"math\.md\)?,? ((?:\(\d+\)(?:, | and | to )?)+)", text):
        for first, last in re.findall(r"\((\d+)\)(?: to \((\d+)\))?", run):
            numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def in_words(text: str) -> set[int]:
    """Return the equations that a page cites as "equation 9" or "equations 9, 14 to 19 and 25"."""
    numbers: set[int] = set()
    for run in re.findall(r"equations?\s((?:\d+(?:,\s|\sand\s|\sto\s)?)+)", text):
        for first, last in re.findall(r"(\d+)(?:\sto\s(\d+))?", run):
            numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def code_blocks(text: str) -> Iterator[str]:
    """Yield the Python of a page: fenced blocks without the prompts and the output of doctests."""
    for language, block in BLOCK.findall(text):
        if language == "pycon":
            yield "\n".join(line[4:] for line in block.splitlines() if line[:3] in (">>>", "..."))
        elif language == "python":
            yield block


def shell_commands(text: str) -> Iterator[str]:
    """Yield the lines of a page that a shell would run, without comments."""
    outside = BLOCK.sub("", text)
    lines = [line for language, block in BLOCK.findall(text) if language == "console" for line in block.splitlines()]
    lines = [line[2:] for line in lines if line.startswith("$ ")]
    lines += re.findall(r"^    (\S.*)$", outside.replace("\\\n", " "), re.MULTILINE)
    lines += re.findall(r"`((?:[A-Z_]+=\S+ )*(?:thalweg|make|python|pip) [^`]+)`", outside.replace("\n", " "))
    for line in lines:
        yield re.sub(r"\s+# .*", "", line)


def dotted_names(text: str) -> set[str]:
    """Return the dotted names of our packages that a page mentions in code, imported ones included."""
    spans = re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    code = list(code_blocks(text))
    names = {name for part in spans + code for name in re.findall(r"(?<![\w./-])(thalweg(?:_studies)?(?:\.\w+)+)", part)}
    for block in code:
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("thalweg"):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names - NOT_NAMES


def found(name: str) -> Any:
    """Return the module, the attribute or the field of that dotted name, or raise an ImportError or an AttributeError."""
    parts = name.split(".")
    thing: Any = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        if inspect.ismodule(thing) and not hasattr(thing, part):
            importlib.import_module(".".join(parts[:i]))
        annotations = getattr(thing, "__annotations__", {}) if inspect.isclass(thing) else {}
        thing = getattr(thing, part, annotations.get(part)) if part in annotations else getattr(thing, part)
    return thing


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def command_of(words: list[str]) -> click.Command | None:
    """Return the command that `thalweg` runs for these words; also those of studies that are not installed."""
    studies = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text())["project"]["entry-points"]["thalweg.commands"]
    if words[0] in studies:
        command = found(studies[words[0]].replace(":", "."))
    else:
        command = app.get_command(click.Context(app), words[0])
    inner = command.commands.get(words[1]) if isinstance(command, click.Group) and len(words) > 1 else None
    return inner or command


def options(command: click.Command) -> set[str]:
    return {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}


def test_the_patterns_find_what_they_should():
    assert cited("docs/math.md (14), (17) to (19)") == {14, 17, 18, 19}
    assert cited("docs/math.md (15) and (16).") == {15, 16}
    assert in_words("equations 9, 14 to 16\nand 25") == {9, 14, 15, 16, 25}
    page = "`thalweg.rl`\n    make test  # all\n```pycon\n>>> from thalweg.plots import x\n1\n```\n"
    assert dotted_names(page) == {"thalweg.rl", "thalweg.plots", "thalweg.plots.x"}
    assert list(shell_commands(page)) == ["make test"]
    assert found("thalweg.Trajectories.best_at")
    with pytest.raises(AttributeError):
        found("thalweg.minimize.nothing")
    with pytest.raises(ImportError):
        found("thalweg.nothing")


def test_every_cited_equation_exists():
    files = [*(ROOT / "src").rglob("*.py"), *PAGES]
    citing = {path.name: cited(path.read_text()) for path in files} | {page.name: in_words(page.read_text()) for page in PAGES}
    assert sum(bool(numbers) for numbers in citing.values()) > 10
    assert {name: numbers - HEADINGS for name, numbers in citing.items() if numbers - HEADINGS} == {}


def test_the_equations_are_numbered_without_a_gap():
    assert sorted(HEADINGS) == list(range(1, max(HEADINGS) + 1))


def test_every_file_that_the_page_of_equations_names_exists():
    lines = re.findall(r"^Code: (.*?)(?:\n\n|\Z)", MATH, re.MULTILINE | re.DOTALL)
    named = {name for line in lines for name in re.findall(r"`([\w/]+\.py|[\w/]+/)`", line)}
    assert len(named) > 15
    assert [name for name in sorted(named) if not (ROOT / "src" / "thalweg" / name).exists()] == []


@each_page
def test_relative_links_and_their_anchors_lead_somewhere(page: Path):
    broken: list[str] = []
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", BLOCK.sub("", page.read_text())):
        if "://" in target:
            continue
        path = page.parent / target if target else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            broken.append(f"{target}#{anchor}")
    assert broken == []


@each_page
def test_every_name_of_the_library_exists(page: Path):
    wrong: list[str] = []
    for name in sorted(dotted_names(page.read_text())):
        try:
            found(name)
        except (ImportError, AttributeError):
            wrong.append(name)
    assert wrong == []


@each_page
def test_keyword_arguments_exist(page: Path):
    """Examples that are not run, such as those for clusters, pass arguments that the functions take."""
    wrong: list[str] = []
    for block in code_blocks(page.read_text()):
        for call in ast.walk(ast.parse(block)):
            name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
            if not isinstance(call, ast.Call) or not re.fullmatch(r"thalweg(\.\w+)+", name):
                continue
            parameters = inspect.signature(found(name)).parameters.values()
            if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
                known = {parameter.name for parameter in parameters} | {None}
                wrong += [f"{name}({keyword.arg}=)" for keyword in call.keywords if keyword.arg not in known]
    assert wrong == []


@each_page
def test_commands_files_and_options_exist(page: Path):
    wrong: list[str] = []
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in shell_commands(page.read_text()):
        words = re.sub(r"^(?:[A-Z_]+=\S+ )+", "", line).split()
        if words[0] == "make":
            wrong += [line] * (words[1] not in targets)
        elif words[0] == "python" and words[1].endswith(".py"):
            wrong += [line] * (not (ROOT / words[1]).exists())
        elif words[0] == "thalweg" and not words[1].startswith("-"):
            command = command_of(words[1:])
            given = {word.partition("=")[0] for word in words[2:] if word.startswith("--")}
            wrong += [line] * (command is None or not given <= options(command))
    assert wrong == []


@each_page
def test_every_extra_exists(page: Path):
    known = {
        name: set(tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]["optional-dependencies"])
        for name, folder in (("", "."), ("./studies", "studies"))
    }
    wrong: list[str] = []
    text = page.read_text()
    for place, named in re.findall(r"(?:thalweg|\.|(\./studies|thalweg-studies))\[([a-z,]+)\]", text):
        wrong += set(named.split(",")) - known["./studies" if place else ""]
    for named in re.findall(r"extras? ((?:`[a-z]+`(?:, | and )?)+)", text):
        wrong += set(re.findall(r"`([a-z]+)`", named)) - known[""]
    assert wrong == []


def test_the_table_of_stop_reasons_is_that_of_the_criteria():
    page = (ROOT / "docs" / "ask_tell.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (yes|no|unless flat) \|", page, re.MULTILINE)
    success = {True: "yes", False: "no"}
    expected = [
        (each.name, str(status), "unless flat" if each.flat else success[each.success]) for status, each in enumerate(CRITERIA)
    ]
    assert rows == expected


def test_the_pages_that_list_pages_list_all_of_them():
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    for index in (ROOT / "README.md", ROOT / "docs" / "index.md"):
        listed = {Path(target).name for target in re.findall(r"\]\(([^)#\s]+\.md)", index.read_text())}
        assert pages - listed == set(), index.name


def test_the_front_page_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= 900
