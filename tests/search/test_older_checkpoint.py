"""A checkpoint from before the stop tests kept the range of values, of the same format: `older.ckpt.gz` is such a file."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import thalweg
from thalweg.cli.app import app

OLDER = Path(__file__).with_name("older.ckpt.gz")
SETTINGS = {"method": "gnn-cma", "seed": 1, "popsize": 4, "restarts": 1}


def fun(x):
    return float(x @ x * (1 + x[0] ** 2))


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "run.ckpt"
    file.write_bytes(gzip.decompress(OLDER.read_bytes()))
    return file


def test_it_is_continued_as_if_it_were_new(path):
    again, whole = (thalweg.Optimizer.load(path), thalweg.Optimizer([1.0, 2.0], **SETTINGS))
    assert again.nfev == 40
    while whole.nfev < 40:
        X = whole.ask()
        whole.tell(X, [fun(x) for x in X])
    for name in ("nit", "recent", "bests", "medians"):
        assert np.allclose(getattr(again.run.tests, name), getattr(whole.run.tests, name), rtol=1e-6), name
    old, new = again.run.tests, whole.run.tests
    assert new.lowest <= old.lowest < old.highest <= new.highest
    assert new.finest <= old.finest < np.inf
    assert np.allclose(again.ask(), whole.ask(), rtol=1e-6)


def test_it_ends_where_a_new_run_ends(path):
    result = thalweg.resume(path, fun, max_evals=4000)
    assert result.success
    assert result.fun < 1e-9
    assert len(result.reevaluated) == 1  # it had no fingerprint
    assert len(result.history.nit) == result.nit - 10


def test_it_can_be_shown(path):
    assert repr(thalweg.Optimizer.load(path).best.f) in CliRunner().invoke(app, ["show", str(path)]).output
