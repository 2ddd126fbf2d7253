"""The command line as a whole: help, version, list of methods, errors, missing extras."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

import thalweg
from thalweg._common.extras import command
from thalweg.cli import main
from thalweg.cli.app import app, describe


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="thalweg")


@pytest.mark.parametrize(
    ("arguments", "expected"), [((), "Commands:"), (("demo",), "--out"), (("methods",), "List the methods")]
)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(arguments: tuple[str, ...], expected: str, option: str):
    result = call(*arguments, option)
    assert result.exit_code == 0
    assert expected in result.stdout


def test_version():
    assert call("--version").stdout == f"thalweg {thalweg.__version__}\n"


def test_methods_lists_the_registry_with_a_line_each():
    lines = call("methods").stdout.splitlines()
    assert [line.split()[0] for line in lines] == thalweg.method_names()
    assert all(len(line.split()) > 4 for line in lines)
    assert describe("snes").startswith("SNES: separable natural evolution strategies")
    assert describe("gnn-snes").startswith("GNN-ES: snes")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nonsense",), "No such command 'nonsense'"),
        (("demo", "--seeds", "0"), "0 is not in the range"),
        (("demo", "--dimension", "ten"), "'ten' is not a valid integer"),
    ],
)
def test_wrong_arguments_are_named(arguments: tuple[str, ...], expected: str):
    result = call(*arguments)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    result = call("demo", "--out", str(tmp_path / "file" / "folder"))
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "Not a directory" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_missing_matplotlib_is_said_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = call("demo", "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert result.stderr == f"Error: a figure needs matplotlib, which is not installed: {command('plots')}\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_a_missing_extra_is_one_sentence(missing: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit, match=rf'{missing}, .*: run pip install "\.\[cli\]" in a clone of'):
        main(["methods"])


def test_imports_are_late():
    """`thalweg.cli` needs neither click nor rich, and the help of all commands needs neither rich nor matplotlib."""
    first = "import sys, thalweg.cli; print('click' in sys.modules)"
    second = "import thalweg.cli.app; print({'rich', 'matplotlib'} & {*sys.modules})"
    command = [sys.executable, "-c", f"{first}; {second}"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert run.stdout.split() == ["False", "set()"]


def test_main_is_the_entry_point(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        main(["methods"])
    assert end.value.code == 0
    assert "gnn-cma" in capsys.readouterr().out
