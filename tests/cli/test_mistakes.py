"""Typical mistakes on the command line: an error of one sentence that names argument, value and fix, with status 2."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

from thalweg.cli.app import app

SOURCE = Path(__file__).parents[2] / "src"
MODEL = """
import sys


def sphere(x):
    print("noise")
    print("more noise", file=sys.__stdout__, flush=True)
    return float(x @ x)


def forgets(x):
    x @ x


def says(x):
    return "much"


def batch(X):
    (X**2).sum(1)


def raises(x):
    raise KeyError("rate")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mistakes_for_tests.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "mistakes_for_tests", raising=False)
    return tmp_path


def call(words: str) -> Result:
    return CliRunner().invoke(app, shlex.split(words), prog_name="thalweg")


F = "mistakes_for_tests:sphere --x0 1,2"
MISTAKES = {
    f"{F} --option tolfum=1e-4": ["option 'tolfum'", "did you mean 'tolfun'?", "'tolx', 'tolfun', 'tolfunhist'"],
    f"{F} --option actve=false": ["option 'actve'", "did you mean 'active'?"],
    f"{F} --option popsize=5": ["option 'popsize'", "argument of its own", "--popsize 5"],
    f"{F} --option flow=nicee": ["'nicee'", "did you mean 'nice'?"],
    f"{F} --option step=trust": ["'trust'", "'trust-region', 'penalised'"],
    f"{F} --method CMA": ["method 'CMA'", "did you mean 'cma'?"],
    f"{F} 3": ["argument (3)", "quotes around a value that has spaces, and commas"],
    "--command ./run {x0} {x1} --x0 1,2": ["argument ({x1})", "quotes"],
    f"{F} --max-evals 0": ["--max-evals must be at least 1, got 0"],
    f"{F} --max-iter 1.5": ["--max-iter must be a whole number, got 1.5"],
    f"{F} --eval-timeout 0": ["--eval-timeout must be", "above 0, got 0"],
    f"{F} --asynchronous --vectorized": ["--asynchronous needs workers that take single points"],
    f"{F} --vectorized --workers 2": ["--vectorized", "leave --workers 2 out"],
    f"{F} --vectorized --eval-timeout 2": ["--vectorized", "--eval-timeout", "leave it out"],
    f"{F} --bipop": ["--bipop needs restarts", "--restarts 9"],
    f"{F} --x0 inf": ["--x0 must be finite, got x0[0] = inf"],
    f"{F} --bounds 5,-5": ["--bounds of coordinate 0 are inverted"],
    f"{F} --integers 2": ["--integers must have indices from 0 to 1, got 2"],
    f"{F} --workers 100000000": ["--workers must be at least 1 and at most 10000", "got 100000000"],
    f"{F} --x0 1,nan": ["--x0", "got nan in '1,nan'"],
    f"{F} --out mistakes_for_tests.py/r.json": ["--out 'mistakes_for_tests.py/r.json' cannot be written", "another name"],
    f"{F} --out /proc/r.json": ["--out '/proc/r.json' cannot be written", "another name"],
    f"{F} --out /dev/stdout": ["--out", "'/dev/stdout'", "pass - for stdout"],
    "mistakes_for_tests:sphere --x0 1 --dimension 99999999999999": ["not enough memory", "--dimension"],
    "--command 'run {x5}' --x0 1,2": ["command has {x5}", "only 2 coordinates, counted from 0"],
    "--command 'run {x[2]}' --x0 1,2": ["command has {x[2]}", "only 2 coordinates, counted from 0"],
    "--command 'run {rat}' --var rate=0..1": ["--command has {rat}", "did you mean 'rate'?"],
    "--command 'run {x0}' --var x1=0..1": ["command has {x0}", "no such variable among 'x1'"],
    "mistakes_for_tests:forgets --x0 1,2": ["the objective returned None", "first 6 points", "a `return` is missing"],
    "mistakes_for_tests:says --x0 1,2": ["the objective returned 'much'", "first 6 points", "return one"],
    "mistakes_for_tests:batch --vectorized --x0 1,2": ["the objective returned None", "a `return` is missing"],
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes(words: str):
    method = "" if "method" in words or "--option" in words else "--method cma"
    result = call(f"minimize {words} --quiet {method}")
    assert result.exit_code == 2, result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: ")
    assert [part for part in MISTAKES[words] if part not in last] == []
    usage = ["Usage:", "Try"] if len(result.stderr.splitlines()) > 1 else []
    assert [line.split()[0] for line in result.stderr.splitlines()[:-1] if line] == usage
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("--command false", "run the command by hand, with a point in the place of its placeholders"),
        ("mistakes_for_tests:raises", "check that mistakes_for_tests:raises accepts a point of shape (d,)"),
        ("mistakes_for_tests:raises --vectorized", "check that mistakes_for_tests:raises accepts a generation"),
    ],
)
def test_a_run_that_fails_says_what_to_look_at_on_the_command_line(words: str, advice: str):
    result = call(f"minimize {words} --x0 1,2 --method cma --quiet")
    assert result.exit_code == 1
    assert advice in result.stderr
    assert "vectorized=True" not in result.stderr


def test_out_to_stdout_has_the_result_and_nothing_else(folder: Path):
    words = "minimize mistakes_for_tests:sphere --x0 1,2 --method cma --seed 1 --max-evals 12 --workers 2 --out -"
    run = subprocess.run(
        [sys.executable, "-m", "thalweg", *words.split()],
        cwd=folder,
        env={"PYTHONPATH": str(SOURCE), "PATH": "", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(run.stdout)["nfev"] == 12
    assert "noise" in run.stderr
    assert "evaluations  12 in 2 generations" in run.stderr
    assert not list(folder.glob("-*"))
