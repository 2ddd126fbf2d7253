"""Relative names are those of the working directory at the start, wherever the objective goes."""

import os

import numpy as np
import pytest

from thalweg import minimize
from thalweg.storage.log import read_log


@pytest.mark.parametrize("name", ["run.jsonl", "run.parquet"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_objective_that_changes_it(tmp_path, monkeypatch, name, asynchronous):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()

    def fun(x):
        os.chdir(elsewhere)
        return x @ x

    given = {"method": "cma", "seed": 1, "popsize": 6, "checkpoint": "run.ckpt", "log": name, "asynchronous": asynchronous}
    for max_evals in (24, 36):
        monkeypatch.chdir(here)
        result = minimize(fun, [1.0, 2.0], max_evals=max_evals, **given)
        assert result.nfev == max_evals
        assert len(read_log(here / name)) == max_evals
    assert sorted(os.listdir(here)) == ["run.ckpt", name]
    assert os.listdir(elsewhere) == []


def test_the_result_of_the_command_line(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from thalweg.cli.app import app

    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "goes_away.py").write_text(
        "import os\ndef fun(x):\n    os.chdir(os.path.join(os.path.dirname(__file__), 'elsewhere'))\n    return float(x @ x)\n"
    )
    monkeypatch.chdir(tmp_path)
    words = "minimize goes_away.py:fun --x0 1,2 --method cma --popsize 6 --max-evals 12 --out result.json --quiet"
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 0, done.output
    assert (tmp_path / "result.json").exists()
    assert os.listdir(tmp_path / "elsewhere") == []
    assert np.isfinite(float(done.output.split("\nf ")[1].split()[0]))
