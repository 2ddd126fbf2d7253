"""The command line: what it prints, where, and how it fails."""

import functools
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result
from rich.console import Console

import thalweg
from thalweg.batch.run_many import Trajectories
from thalweg.cli import demo as demo_command
from thalweg.cli import main
from thalweg.cli.app import app, describe
from thalweg.cli.demo_runs import ARMS, SEARCH, Setting


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


def test_demo_prints_a_table_and_writes_two_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo_command, "Setting", functools.partial(Setting, popsize_2d=20, generations_2d=3))
    out = tmp_path / "new" / "folder"
    tiny = ("--dimension", "2", "--seeds", "2", "--max-evals", "1000", "--snapshots", "2")
    result = call("demo", "--out", str(out), *tiny)
    assert result.exit_code == 0, result.output
    assert "2 seeds" in result.stdout
    for arm in ARMS:
        assert arm.name in result.stdout
    assert "ratio to CMA-ES" in result.stdout
    assert result.stderr == "", "no progress in a pipe"
    assert "\x1b" not in result.stdout
    for name in ("convergence.png", "bend.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
        assert str(out / name) in result.stdout


def trajectories(best: list[list[float]]) -> Trajectories:
    values = np.array(best)
    return Trajectories(np.array([5000, 10_000, 20_000]), values, values, np.zeros((len(values), 10)), {})


def test_summary_has_medians_and_their_ratio():
    runs = {
        "GNN-CMA-ES": trajectories([[4, 1, 1e-9], [4, 1, 1e-9], [8, 8, 8]]),
        "CMA-ES": trajectories([[8, 4, 1e-9], [8, 5, 1e-9], [2, 2, 2]]),
        "affine flow, no bend": trajectories([[8, 2, 1], [8, 2, 1], [8, 2, 1]]),
    }
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(demo_command.summary(Setting(seeds=3), runs))
    rows = {line[:21].strip(): line[21:].split() for line in console.export_text().splitlines()}
    assert rows["GNN-CMA-ES"] == ["4", "1", "1", "20,000", "2", "of", "3"]
    assert rows["affine flow, no bend"] == ["8", "2", "2", "-", "0", "of", "3"]
    assert rows["ratio to CMA-ES"] == ["0.5", "0.25", "0.25", "1.00"]


def test_progress_shows_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def demonstrate(setting, report):
        for name in [*(arm.name for arm in ARMS), SEARCH]:
            report(name, 0, "compiling")
            report(name, 1, "run 1 of 1")

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(demo_command, "demonstrate", demonstrate)
    demo_command.with_progress(Setting(seeds=1))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "run 1 of 1" in shown.err
    assert SEARCH in shown.err


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
    assert result.stderr == 'Error: figures need matplotlib, which is not installed: run pip install "thalweg[plots]"\n'
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_a_missing_extra_is_one_sentence(missing: str):
    """In a process of its own, since the modules are loaded here already."""
    code = f"import sys; sys.modules[{missing!r}] = None; from thalweg.cli import main; main(['methods'])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1
    assert run.stderr.strip().endswith('which is not installed: run pip install "thalweg[cli]"')
    assert len(run.stderr.splitlines()) == 1


def test_main_is_the_entry_point(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        main(["methods"])
    assert end.value.code == 0
    assert "gnn-cma" in capsys.readouterr().out
