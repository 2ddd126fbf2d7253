"""`thalweg reproduce`: its files, the same every time, and its errors. Runs are made up; what they are is tested elsewhere."""

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from click.testing import CliRunner

from thalweg.cli.app import app
from thalweg_studies.cli.progress import duration
from thalweg_studies.cli.reproduce_parts import PARTS, Plan
from thalweg_studies.paper.comparison import Comparison
from thalweg_studies.paper.report.table1_figure import table1_figure

BOTH = ("png", "svg")
FILES = {
    "fig4": {"fig4.csv", "fig4.md", *(f"fig4{more}.{kind}" for more in ("", "-10-seeds") for kind in BOTH)},
    "table1": {"table1.csv", "table1.md", *(f"table1.{kind}" for kind in BOTH)},
}


@pytest.fixture(autouse=True)
def computed(monkeypatch):
    """Units are made up instead of run; the list says which."""
    units = []

    def made_up(experiment, unit):
        units.append(unit)
        rng = np.random.default_rng([unit.first, unit.dimension, len(unit.method), len(unit.function)])
        return np.cumprod(rng.random((len(unit.seeds), len(experiment.grid(unit.dimension)))), 1)

    monkeypatch.setattr(Comparison, "run", made_up)
    return units


def call(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], prog_name="thalweg")


@pytest.mark.parametrize("part", ["fig4", "table1"])
def test_files_and_the_same_bytes_again(tmp_path, computed, part):
    arguments = (part, "--quick", "--seeds", 3, "--workers", 1, "--out", tmp_path / "new" / "out")
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    folder = tmp_path / "new" / "out"
    assert {path.name for path in folder.iterdir()} == FILES[part] | {"manifest.json", "parts"}
    assert {line.rpartition("/")[2] for line in result.stdout.split()} == FILES[part]
    page = (folder / f"{part}.md").read_text()
    assert all(f"({name})" in page for name in FILES[part] if name.endswith(".png"))
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    done = len(computed)
    assert call(*arguments).exit_code == 0
    assert len(computed) == done
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


def test_a_foreign_folder_is_one_sentence(tmp_path, computed):
    (tmp_path / "mine.txt").write_text("mine")
    result = call("fig4", "--quick", "--out", tmp_path)
    assert result.exit_code == 2
    assert "choose an empty or a new folder" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not computed


def test_quick_and_full_results_do_not_mix(tmp_path, computed):
    call("table1", "--quick", "--seeds", 2, "--workers", 1, "--out", tmp_path)
    computed.clear()
    result = call("table1", "--seeds", 2, "--workers", 1, "--out", tmp_path)
    assert result.exit_code == 2
    assert "other settings" in result.stderr
    assert not computed


def test_arguments_that_are_none():
    assert call("fig9").exit_code == 2
    assert call("fig4", "--seeds", 0).exit_code == 2
    with pytest.raises(ValueError, match="entries"):
        table1_figure([])


def test_seeds_of_a_plan():
    plan = Plan(PARTS["fig4"].plans[0].full, PARTS["fig4"].plans[0].small, most=50)
    assert (plan.seeds(None, quick=False), plan.seeds(None, quick=True), plan.seeds(7, quick=True)) == (50, 5, 7)


def test_duration():
    assert (duration(59.6), duration(3600)) == ("60 s", "60 min")
