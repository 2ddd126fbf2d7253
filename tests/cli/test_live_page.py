"""`--live`: its options, its address on stderr, and the log it needs."""

import re
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

import thalweg
from thalweg.cli.app import app

RUN = ("minimize", "model:loss", "--x0=-1,1", "--method", "cma", "--popsize", "6", "--max-iter", "3", "--seed", "1", "--quiet")
ADDRESS = r"live page: http://127\.0\.0\.1:(\d+)/[\w-]{22}/\n"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], prog_name="thalweg")


@pytest.fixture(autouse=True)
def model(tmp_path, monkeypatch):
    (tmp_path / "model.py").write_text("import numpy as np\ndef loss(x):\n    return np.sum(np.square(x), axis=-1)\n")
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))


@pytest.mark.parametrize(
    "more", [(), ("--vectorized",), ("--checkpoint", "run.ckpt"), ("--log", "run.jsonl"), ("--live-port", 0)]
)
def test_a_run_with_a_page_is_the_run_without(tmp_path, more):
    plain = call(*RUN)
    result = call(*RUN, "--live", *more)
    assert (result.exit_code, plain.exit_code) == (0, 0), result.output
    assert re.sub(r"[\d.]+ s\b", "", result.stdout) == re.sub(r"[\d.]+ s\b", "", plain.stdout)
    assert re.fullmatch(ADDRESS, result.stderr)
    assert list((tmp_path / "tmp").iterdir()) == []
    if "--checkpoint" in more:
        assert len(thalweg.read_log("run.ckpt.jsonl")) == 18
        assert "live page: " in call("resume", "run.ckpt", "model:loss", "--max-iter", "4", "--live", "--quiet").stderr


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--live-port", 8000), "--live-host and --live-port need --live"),
        (("--live-host", "0.0.0.0"), "--live-host and --live-port need --live"),
        (("--live", "--no-log"), "--live reads the log"),
        (("--live", "--log-coordinates", "1"), "needs --checkpoint"),
        (("--live", "--live-port", 70000), "--live-port"),
    ],
)
def test_options_that_make_no_sense(more, expected):
    result = call(*RUN, *more)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_an_interface_that_is_not_there_is_an_error_before_the_run():
    result = call(*RUN, "--live", "--live-host", "192.0.2.1")
    assert result.exit_code == 1
    assert "cannot serve a page on 192.0.2.1, port 0" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not Path("run.ckpt").exists()
