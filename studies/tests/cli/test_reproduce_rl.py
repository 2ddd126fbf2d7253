"""`thalweg reproduce rl`: its files, the same every time. Runs are made up; real ones are tested elsewhere."""

import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")
pytest.importorskip("mujoco")

from click.testing import CliRunner

from thalweg.cli.app import app
from thalweg_studies.rl.comparison import PolicyComparison, PolicyRuns
from thalweg_studies.rl.report import sections
from thalweg_studies.rl.report.film import Shown
from thalweg_studies.rl.report.returns_figure import STYLES
from thalweg_studies.rl.settings import MAIN, NICE


def made_up(d, method, seed, generations=1):
    """One run; its policy and its return are the same for any number of generations."""
    rng = np.random.default_rng([seed, d, len(method)])
    final, policy = rng.random(1) * 400, rng.random((1, d))
    mean, best = rng.random((2, 1, generations)) * 400
    return PolicyRuns(mean, best, policy, final)


@pytest.fixture(autouse=True)
def computed(monkeypatch):
    """Units are made up instead of run, and the film is a file; the list says which."""
    units = []

    def run(comparison, unit):
        units.append(unit)
        return made_up(unit.dimension, unit.method, unit.first, len(comparison.evaluations))

    def drawn(make, shown, seed, path):
        path.write_text(f"{make} {shown} {seed}")
        return None if make == "swimmer" else "no screen"

    monkeypatch.setattr(PolicyComparison, "run", run)
    monkeypatch.setattr(sections, "film", drawn)
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
    assert "needs EGL: `no screen`" in page
    for method in (*MAIN, *NICE):  # the film has the best policy of each
        runs = [made_up(26, method, seed) for seed in range(1000, 1005)]
        best = int(np.argmax([run.final[0] for run in runs]))
        shown = Shown(
            method,
            f"seed {1000 + best}, mean return {runs[best].final[0]:,.0f}",
            STYLES[method][0],
            runs[best].policy[0].tolist(),
        )
        assert str(shown) in (tmp_path / "rl-swimmer.gif").read_text()
        assert f"{shown.name}, {shown.note}" in page
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
    assert result.exit_code == 2
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
    assert 'pip install ".[rl]"' in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
