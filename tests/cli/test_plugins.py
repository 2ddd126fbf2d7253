"""Commands of other packages: they come through entry points, and none of them can break the others."""

from collections.abc import Callable
from importlib.metadata import EntryPoints
from pathlib import Path

import pytest

pytest.importorskip("click")

from click.testing import CliRunner, Result

from thalweg.cli import app as module

GREETING = """
import click

@click.command()
@click.option("--name", default="world")
def greet(name):
    "Greet somebody."
    click.echo(f"hello {name}")

text = "no command"
"""


def call(*arguments: str) -> Result:
    return CliRunner().invoke(module.app, arguments, prog_name="thalweg")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Install a package whose entry points are the given lines."""

    def write(lines: str) -> None:
        (tmp_path / "package_for_tests.py").write_text(GREETING)
        metadata = tmp_path / "package_for_tests-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: package-for-tests\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{module.PLUGINS}]\n{lines}\n")
        monkeypatch.syspath_prepend(tmp_path)

    return write


def test_a_command_of_an_installed_package_is_listed_and_runs(install: Callable[[str], None]):
    install("greet = package_for_tests:greet\nminimize = package_for_tests:greet")
    lines = call("--help").stdout.splitlines()
    assert ["greet", "Greet", "somebody."] in map(str.split, lines)
    assert sum(line.split()[:1] == ["minimize"] for line in lines) == 1
    assert call("greet", "--name", "you").stdout == "hello you\n"
    assert "MODULE:FUNCTION" in call("minimize", "--help").stdout, "no package replaces a command of the library"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("not_there_for_tests:command", "ModuleNotFoundError"),
        ("package_for_tests:not_there", "AttributeError"),
        ("package_for_tests:text", "not a click command"),
    ],
)
def test_a_broken_package_spoils_only_its_own_command(install: Callable[[str], None], target: str, reason: str):
    install(f"broken = {target}")
    help_page = call("--help")
    assert help_page.exit_code == 0
    assert "broken" in help_page.stdout
    assert call("minimize", "--help").exit_code == call("methods").exit_code == 0
    for arguments in ((), ("--help",), ("word", "--option", "1")):
        result = call("broken", *arguments)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert reason in result.stderr
        assert target in result.stderr
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("reproduce",), ("reproduce", "fig1", "--quick"), ("bench", "bbob"), ("bench", "--help")]
)
def test_without_the_studies_their_commands_say_what_to_install(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]):
    monkeypatch.setattr(module, "entry_points", lambda **_: EntryPoints())
    assert arguments[0] not in call("--help").stdout
    result = call(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "thalweg-studies" in result.stderr
    assert "pip install ./studies" in result.stderr
    assert len(result.stderr.splitlines()) == 1
