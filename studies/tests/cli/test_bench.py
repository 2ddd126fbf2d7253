"""`thalweg bench bbob`: its files, going on after a cut, and errors of one sentence."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("cocoex")

from click.testing import CliRunner

from thalweg.cli.app import app
from thalweg_studies.bbob import peers, post

SMALL = ("--quick", "--functions", "1", "--instances", "1-2", "--workers", 1, "--no-post")


def written(result):
    """Return the names of the files that are printed after the table."""
    return [line.rpartition("/")[2] for line in result.stdout.splitlines() if line.endswith((".md", ".csv", ".json"))]


def call(*arguments):
    return CliRunner().invoke(app, ["bench", "bbob", *map(str, arguments)], prog_name="thalweg")


def test_a_small_benchmark_and_more_of_it_later(tmp_path):
    out = tmp_path / "out"
    result = call(*SMALL, "--methods", "pycma,cmaes", "--baseline", "cmaes", "--out", out)
    assert result.exit_code == 0, result.output
    assert written(result) == ["summary.md", "summary.csv", "runs.json"]
    table = result.stdout.partition("## d = 2\n")[2]
    assert "| f | pycma | cmaes |" in table
    line = next(line for line in table.splitlines() if line.startswith("| f1 |"))
    assert line in (out / "summary.md").read_text()
    assert {path.name for path in out.iterdir()} == {"manifest.json", "parts", "coco", "summary.md", "summary.csv", "runs.json"}
    assert "`pycma` / `cmaes`" in (out / "summary.md").read_text()
    before = {path: path.stat().st_mtime_ns for path in out.glob("parts/*/*")}
    result = call(*SMALL, "--methods", "pycma,cmaes,scipy-de", "--functions", "1,8", "--out", out)
    assert result.exit_code == 0, result.output
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(json.loads((out / "runs.json").read_text())["runs"]) == 12
    assert call(*SMALL, "--methods", "cmaes", "--out", out, "--budget", 99).exit_code != 0


def test_options_alone_are_those_of_bbob(tmp_path):
    out = str(tmp_path / "out")
    words = ["bench", *map(str, SMALL), "--methods", "cmaes", "--out", out]
    result = CliRunner().invoke(app, words, prog_name="thalweg")
    assert result.exit_code == 0, result.output
    assert "| f1 |" in result.stdout
    for word in ((), ("--help",), ("-h",)):
        assert "bbob" in CliRunner().invoke(app, ["bench", *word], prog_name="thalweg").output


def test_archived_runtimes_beside_ours(tmp_path):
    archive, out = tmp_path / "archive.csv", tmp_path / "out"
    archive.write_text("algorithm,f,d,target,aRT,succ_1e-8\nCMA-ES,1,2,1e-7,200,15/15\nX,1,2,1e-7,100,15/15\n")
    result = call(*SMALL, "--methods", "cmaes", "--reference", archive, "--reference-algorithms", "X", "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.split()[-1].endswith("reference.md")
    assert "| X: aRT | ratio | solved |" in (out / "reference" / "reference.md").read_text()
    assert "X" not in (out / "summary.csv").read_text()


def test_cocopp_draws(tmp_path):
    """For real, with one method: pages and figures of runtime distributions, and nothing printed."""
    if not post.installed():
        pytest.skip("cocopp is not installed")
    out = tmp_path / "a folder"
    result = call("--quick", "--methods", "cmaes", "--workers", 1, "--post", "--out", out)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1].endswith("index.html")
    assert list((out / "ppdata").rglob("pprldmany*.svg"))


def test_a_failure_is_told_at_the_end(tmp_path, monkeypatch):
    def breaks(problem, starts, popsize, bipop):
        raise ArithmeticError("no such root")

    monkeypatch.setitem(peers.PEERS, "scipy-de", breaks)
    result = call(*SMALL, "--methods", "cmaes,scipy-de", "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "2 of 4 runs failed; scipy-de on f1, instance 1, d = 2 failed: ArithmeticError: no such root" in result.stderr
    page = (tmp_path / "out" / "summary.md").read_text()
    assert "These runs failed" in page
    assert "scipy-de on f1, instance 2" in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--methods", "cme"), "method 'cme' is unknown"),
        (("--dims", "4"), "dims must be among 2, 3, 5, 10, 20, 40, got 4"),
        (("--functions", "25"), "functions must be among 1 to 24, got 25"),
        (("--budget", "0"), "budget must be finite and above 0"),
        (("--baseline", "pycma"), "baseline must be one of the methods"),
        (("--reference-algorithms", "lq-CMA-ES"), "give --reference too"),
        (("--engine", "jax", "--model", "quadratic"), "gnn-cma+quadratic has a model, which --engine jax cannot run"),
        (("--engine", "jax", "--methods", "pycma"), "pycma is not a method that JAX can compile"),
        (("--logger", "ioh", "--post"), "--post needs what COCO's observer writes"),
    ],
)
def test_errors_are_one_sentence(tmp_path, arguments, sentence):
    result = call("--quick", "--out", tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_reference_that_is_not_there(tmp_path):
    result = call("--quick", "--out", tmp_path / "out", "--reference", "nowhere.csv")
    assert result.exit_code == 2
    assert "'--reference': File 'nowhere.csv' does not exist" in result.stderr.splitlines()[-1]


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cocoex", None)
    result = call("--quick", "--out", tmp_path / "out")
    assert 'needs coco-experiment, which is not installed: run pip install "./studies[bbob]"' in result.stderr
