"""`thalweg reproduce`: its files, the same every time, and its errors."""

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from click.testing import CliRunner

from thalweg.cli.app import app
from thalweg.cli.reproduce import duration
from thalweg.experiments.paper import work
from thalweg.report.table1_figure import table1_figure

FILES = {
    "fig4": {"fig4.csv", "fig4.md", *(f"fig4-{f}-d2.{kind}" for f in ("bent-cigar", "rosenbrock") for kind in ("png", "svg"))},
    "table1": {"table1.csv", "table1.md", "table1.png", "table1.svg"},
}


@pytest.fixture(autouse=True)
def computed(monkeypatch):
    """Units are made up instead of run; the list says which."""
    units = []

    def made_up(experiment, unit):
        units.append(unit)
        rng = np.random.default_rng([unit.first, unit.dimension, len(unit.method), len(unit.function)])
        return np.cumprod(rng.random((len(unit.seeds), len(experiment.grid(unit.dimension)))), 1)

    monkeypatch.setattr(work, "best_values", made_up)
    return units


def call(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], prog_name="thalweg")


@pytest.mark.parametrize("experiment", ["fig4", "table1"])
def test_files_and_the_same_bytes_again(tmp_path, computed, experiment):
    arguments = (experiment, "--quick", "--seeds", 3, "--workers", 1, "--out", tmp_path / "new" / "out")
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    folder = tmp_path / "new" / "out"
    assert {path.name for path in folder.iterdir()} == FILES[experiment] | {"manifest.json", "parts"}
    assert {line.rpartition("/")[2] for line in result.stdout.split()} == FILES[experiment]
    page = (folder / f"{experiment}.md").read_text()
    assert all(f"({name})" in page for name in FILES[experiment] if name.endswith(".png"))
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    done = len(computed)
    assert call(*arguments).exit_code == 0
    assert len(computed) == done
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


def test_both_experiments_share_a_folder(tmp_path):
    for experiment in FILES:
        assert call(experiment, "--quick", "--seeds", 2, "--workers", 1, "--out", tmp_path).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == FILES["fig4"] | FILES["table1"] | {"manifest.json", "parts"}


def test_a_foreign_folder_is_one_sentence(tmp_path, computed):
    (tmp_path / "mine.txt").write_text("mine")
    result = call("fig4", "--quick", "--out", tmp_path)
    assert result.exit_code == 1
    assert "choose an empty or a new folder" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not computed


def test_quick_and_full_results_do_not_mix(tmp_path, computed):
    call("table1", "--quick", "--seeds", 2, "--workers", 1, "--out", tmp_path)
    computed.clear()
    result = call("table1", "--seeds", 2, "--workers", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "other settings" in result.stderr
    assert not computed


def test_arguments_that_are_none():
    assert call("fig9").exit_code == 2
    assert call("fig4", "--seeds", 0).exit_code == 2
    with pytest.raises(ValueError, match="entries"):
        table1_figure([])


def test_duration():
    assert (duration(59.6), duration(3600)) == ("60 s", "60 min")
