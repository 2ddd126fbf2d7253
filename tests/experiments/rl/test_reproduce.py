"""`thalweg reproduce rl`: its files, the same every time. Runs are made up; what they are is tested elsewhere."""

import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")
pytest.importorskip("mujoco")

from click.testing import CliRunner

from thalweg.cli.app import app
from thalweg.experiments.rl.race import PolicyRace, Runs
from thalweg.report import rl_sections


@pytest.fixture(autouse=True)
def computed(monkeypatch):
    """Units are made up instead of run, and the film is a file; the list says which."""
    units = []

    def made_up(race, unit):
        units.append(unit)
        rng = np.random.default_rng([unit.first, unit.dimension, len(unit.method)])
        shapes = ((1, len(race.evaluations)), (1, len(race.evaluations)), (1, unit.dimension), (1,))
        return Runs(*(rng.random(shape) * 400 for shape in shapes))

    def drawn(make, policy, seed, path):
        path.write_text(f"{make} {policy.tolist()} {seed}")
        return make == "swimmer"

    monkeypatch.setattr(PolicyRace, "run", made_up)
    monkeypatch.setattr(rl_sections, "film", drawn)
    return units


def call(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], prog_name="thalweg")


def test_files_and_the_same_bytes_again(tmp_path, computed):
    arguments = ("rl", "--workers", 1, "--nice", "--out", tmp_path)
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    assert len(computed) == 2 * 6 * 5
    assert {unit.dimension for unit in computed} == {11, 26}
    page = (tmp_path / "rl.md").read_text()
    assert all(f"(rl-{name})" in page for name in ("pendulum.png", "swimmer.png", "swimmer.gif"))
    assert "(rl-pendulum.gif)" not in page
    assert "cannot draw" in page
    assert page.count("| GNN-xNES, default flow | 5 |") == page.count("| GNN-CMA-ES | 5 |") == 2
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert call(*arguments).exit_code == 0
    assert len(computed) == 2 * 6 * 5
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_one_environment_as_it_is_today(tmp_path, computed):
    assert call("rl", "--quick", "--workers", 1, "--modern", "--only", "swimmer", "--out", tmp_path).exit_code == 0
    assert {(unit.function, unit.dimension) for unit in computed} == {("swimmer", 16)}
    assert "# Direct policy search" in (tmp_path / "rl.md").read_text()
    result = call("rl", "--quick", "--workers", 1, "--only", "swimmer", "--out", tmp_path)
    assert result.exit_code == 1
    assert "other settings" in result.stderr


def test_options_of_other_parts():
    result = call("fig4", "--modern")
    assert result.exit_code == 2
    assert "for the part rl" in result.stderr


@pytest.mark.parametrize("module", ["gymnasium", "mujoco"])
def test_a_missing_extra_is_one_sentence(tmp_path, computed, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    result = call("rl", "--quick", "--workers", 1, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert module in result.stderr
    assert 'pip install "thalweg[rl]"' in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
