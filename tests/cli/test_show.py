"""`thalweg show`: the summary, the figure, and what is refused."""

import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

import thalweg
from thalweg._common.extras import command
from thalweg.cli.app import app
from thalweg.plots import page
from thalweg.storage.log import open_log


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["show", *map(str, arguments)], prog_name="thalweg")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.ckpt"
    space = thalweg.Space(rate=thalweg.Real(1e-5, 1e-1, log=True), width=thalweg.Integer(8, 120))

    def fun(point):
        if point["width"] > 75:
            raise ValueError("too wide")
        return (np.log10(point["rate"]) + 3) ** 2 + (point["width"] - 64) ** 2

    return thalweg.minimize(fun, space, method="cma", seed=1, max_iter=9, popsize=6, checkpoint=path), path


def rows(result: Result) -> dict[str, str]:
    assert result.exit_code == 0, result.output
    return {line[:11].strip(): line[13:] for line in result.stdout.splitlines()}


def test_a_checkpoint(run):
    result, path = run
    found = rows(call(path))
    assert found["run"] == "run.ckpt, 2 variables, method cma, seed 1"
    assert found["status"] == result.message
    assert found["f"].startswith(f"{result.fun!r}, at evaluation ")
    assert found["point"] == f"rate={result.x[0]!r}, width={int(result.x[1])}".replace("np.float64(", "").replace(")", "")
    assert found["evaluations"].startswith("54 in ")
    assert found["failures"] == f"{result.failures}, the first: the objective raised ValueError: too wide"


def test_a_log_alone(run, tmp_path):
    path = run[1]
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes(path.with_name("run.ckpt.jsonl").read_bytes())
    found = rows(call(alone))
    assert found["run"] == "alone.jsonl, 2 variables"
    assert found["status"] == "a log does not tell whether its run has ended"
    assert found["evaluations"] == "54"
    with alone.open("ab") as file:
        file.write(alone.read_bytes().splitlines(keepends=True)[-1])
    assert rows(call(alone))["evaluations"] == "55"


def test_before_the_first_checkpoint_the_log_is_shown(run, tmp_path):
    (tmp_path / "new.ckpt.jsonl").write_bytes(run[1].with_name("run.ckpt.jsonl").read_bytes())
    assert rows(call(tmp_path / "new.ckpt"))["evaluations"] == "54"


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_figures(run, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / f"run{suffix}"
    assert rows(call(run[1], "--out", out))
    assert out.read_bytes().startswith(start)


def test_a_page(run, tmp_path):
    assert rows(call(run[1], "--out", tmp_path / "run.html"))
    assert (tmp_path / "run.html").read_text() == page(run[1])


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("missing.jsonl", None, "there is no file"),
        ("thesis.tex", b"A sentence.\n", "holds no evaluation"),
        ("empty.jsonl", b"", "holds no evaluation yet"),
        ("run.ckpt", b"PK\x03\x04rest", "damaged"),
    ],
)
def test_what_is_no_run_is_refused_in_one_sentence(tmp_path, name, content, expected):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = call(tmp_path / name)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert name in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_figure_of_another_kind_and_one_without_matplotlib(run, tmp_path, monkeypatch):
    result = call(run[1], "--out", tmp_path / "run.bmp")
    assert result.exit_code == 2
    assert "--out must end in .html, .png, .svg, .pdf" in result.stderr
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = call(run[1], "--out", tmp_path / "run.png")
    assert result.stderr == f"Error: a figure needs matplotlib, which is not installed: {command('plots')}\n"
    assert not (tmp_path / "run.png").exists()
    assert rows(call(run[1]))


def test_a_folder_of_parquet(run, tmp_path):
    pytest.importorskip("pyarrow")
    with open_log(tmp_path / "run.parquet", resume=False) as log:
        log.append(thalweg.read_log(run[1].with_name("run.ckpt.jsonl")))
    assert rows(call(tmp_path / "run.parquet"))["evaluations"] == "54"
