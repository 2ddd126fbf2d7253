"""`thalweg minimize` and `thalweg resume`: options, results, progress and errors."""

import json
import logging
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

import thalweg
from thalweg.cli.app import app
from thalweg.cli.problem import find_function, read_bounds, read_options, read_start
from thalweg.objectives.command import Command

SOURCE = Path(__file__).parents[2] / "src"
MODEL = """
OFFSET = 1.0


def sphere(x):
    return float(sum((x - OFFSET) ** 2))


def batch(X):
    return ((X - OFFSET) ** 2).sum(1)


def refuses(x):
    if x[0] > 0.5:
        raise ValueError("too much")
    return sphere(x)


def fails(x):
    raise OSError("no licence")
"""
CMA = ("--method", "cma", "--seed", "1")
LIMIT = ("--max-iter", "10")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with a module of objectives, and forget the module afterwards."""
    (tmp_path / "model_for_tests.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "model_for_tests", raising=False)
    return tmp_path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="thalweg")


def rows(result: Result) -> dict[str, str]:
    """Return the lines of the summary by name; the first one is the message."""
    message, *lines = result.stdout.splitlines()
    return {"message": message, **{line[:11].strip(): line[13:] for line in lines}}


def test_a_function_of_a_module_in_this_folder(folder: Path):
    result = call(
        "minimize", "model_for_tests:sphere", "--x0=0,-1,2", "--sigma0", 0.5, "--out", "new/result.json", *CMA, *LIMIT
    )
    assert result.exit_code == 0, result.output
    expected = thalweg.minimize(lambda x: float(sum((x - 1) ** 2)), [0, -1, 2], 0.5, method="cma", seed=1, max_iter=10)
    summed = rows(result)
    assert summed["message"] == expected.message
    assert float(summed["f"]) == expected.fun
    assert [float(word) for word in summed["x"].split(",")] == expected.x.tolist()
    assert summed["evaluations"].startswith("70 in 10 generations")
    assert summed["seed"] == "1"
    assert "f " in result.stderr
    assert "70 evaluations" in result.stderr
    written = json.loads((folder / "new" / "result.json").read_text())
    assert set(expected) - {"history"} | {"seconds"} == set(written)
    assert written["x"] == expected.x.tolist()
    assert written["stop"] == {"max_iter": 10}
    assert [path.name for path in (folder / "new").iterdir()] == ["result.json"]
    again = call("minimize", "model_for_tests:sphere", "--x0", "@new/result.json", *CMA, "--max-iter", 1, "--quiet")
    assert again.exit_code == 0
    assert again.stderr == ""


def test_all_options_reach_minimize(monkeypatch: pytest.MonkeyPatch):
    given = {}

    def minimize(fun, x0, sigma0, **arguments):
        given.update(arguments, fun=fun, x0=x0, sigma0=sigma0)
        raise ValueError("far enough")

    monkeypatch.setattr(thalweg, "minimize", minimize)
    common = [
        "minimize",
        "model_for_tests:batch",
        "--dimension",
        2,
        "--bounds=-5,5",
        "--sigma0=0.1,1",
        "--popsize",
        12,
        "--ftarget=-1",
    ]
    result = call(*common, "--max-evals", 1e4, "--timeout", 60, "--restarts", 3, "--bipop", "--option", "tolx=1e-9")
    assert result.stderr == "Error: far enough\n"
    assert given.pop("fun").__name__ == "batch"
    assert given.pop("x0") is None
    assert isinstance(given.pop("seed"), int)
    assert given == {
        "sigma0": [0.1, 1.0],
        "bounds": [(-5.0, 5.0), (-5.0, 5.0)],
        "method": "gnn-cma",
        "model": None,
        "popsize": 12,
        "max_evals": 10_000,
        "max_iter": None,
        "ftarget": -1.0,
        "timeout": 60.0,
        "restarts": 3,
        "bipop": True,
        "options": {"tolx": 1e-9},
        "known": None,
        "scale": None,
        "integers": None,
        "checkpoint": None,
        "workers": 1,
        "progress": True,
    }
    given.clear()
    call(
        *common,
        "--workers",
        3,
        "--retries",
        2,
        "--eval-timeout",
        5,
        "--asynchronous",
        "--log",
        "x.parquet",
        "--quiet",
        "--model",
        "quadratic",
    )
    expected = {"model": "quadratic", "workers": 3, "retries": 2, "eval_timeout": 5.0, "asynchronous": True, "log": "x.parquet"}
    assert {name: given[name] for name in expected} == expected
    assert "progress" not in given
    call(*common, "--no-log", "--engine", "ray", "--address", "auto")
    assert given["log"] is False
    assert type(given["workers"]) is thalweg.evaluate.Ray
    assert (given["workers"].address, given["workers"].workers) == ("auto", None)
    call(*common, "--engine", "dask", "--workers", 5)
    assert (type(given["workers"]), given["workers"].workers) == (thalweg.evaluate.Dask, 5)
    given.clear()
    call("minimize", "--command", "run {x}", "--x0", 1, "--shell", "--scratch", "--eval-timeout", 9, "--workers", 7)
    assert given["fun"] == Command("run {x}", timeout=9.0, shell=True, scratch=True)
    assert given["workers"]._max_workers == 7
    assert "eval_timeout" not in given


def test_known_evaluations_out_of_a_log(monkeypatch: pytest.MonkeyPatch):
    call("minimize", "model_for_tests:sphere", "--x0=0,-1,2", *CMA, *LIMIT, "--log", "run.jsonl")
    log = thalweg.read_log("run.jsonl")
    given: dict[str, object] = {}
    monkeypatch.setattr(thalweg, "minimize", lambda *arguments, **more: given.update(more, x0=arguments[1]) or 1 / 0)
    call("minimize", "model_for_tests:sphere", "--known", "run.jsonl")
    known = given["known"]
    assert isinstance(known, thalweg.Known)
    assert known.table()[1].tolist() == [row.f for row in log]
    assert (known.similar, given["x0"], given["bounds"]) == (False, None, None)
    call("minimize", "model_for_tests:sphere", "--known", "run.jsonl", "--known-similar", "--bounds=-9,9")
    assert given["known"].similar
    assert given["bounds"] == [(-9.0, 9.0)] * 3
    monkeypatch.undo()
    refused = call("minimize", "model_for_tests:sphere", "--x0", 1, "--known-similar")
    assert refused.exit_code == 2
    assert "--known-similar needs --known" in refused.stderr


def test_a_whole_generation_at_once():
    result = call("minimize", "model_for_tests.py:batch", "--vectorized", "--x0", 0, "--dimension", 3, *CMA, *LIMIT)
    assert result.exit_code == 0, result.output
    assert rows(result)["evaluations"].startswith("70 in 10")


def test_failures_are_counted_and_told_unless_quiet(monkeypatch: pytest.MonkeyPatch):
    arguments = ("minimize", "model_for_tests:refuses", "--x0=0,0", *CMA, *LIMIT)
    with monkeypatch.context() as patch:
        patch.setattr(logging.getLogger(), "handlers", [])  # those of pytest, which would keep warnings from stderr
        result, silent = call(*arguments), call(*arguments, "--quiet")
    assert result.exit_code == silent.exit_code == 0
    assert rows(result)["failures"].endswith("the first: the objective raised ValueError: too much")
    assert rows(result)["failures"] == rows(silent)["failures"]
    assert 'raise ValueError("too much")' in result.stderr
    assert " failed" in result.stderr.splitlines()[-1]
    assert silent.stderr == ""


def test_a_terminal_gets_a_panel_or_with_plain_a_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    arguments = ("minimize", "model_for_tests:sphere", "--x0=0,0", *CMA, *LIMIT)
    shown = call(*arguments)
    assert "waiting for the first value" in shown.stderr
    assert "this process" in shown.stderr
    assert "\x1b" not in shown.stdout
    assert call(*arguments, "--plain").stderr.splitlines()[-1].startswith("f ")


def test_a_program(monkeypatch: pytest.MonkeyPatch):
    script = 'read -r point && echo "$point" >&2; case "$point" in *-*) exit 3;; esac; echo "{\\"f\\": 0.5}"; echo bye'
    result = call(
        "minimize", "--command", f"sh -c {shlex.quote(script)}", "--x0=0.4,0.4", "--workers", 2, *CMA, "--max-iter", 2
    )
    assert result.exit_code == 0, result.output
    assert rows(result)["f"] == "0.5"
    assert "exited with status 3; stderr: [" in rows(result)["failures"]
    assert "exited with status 3; stderr: [" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_program_out_of_time():
    result = call("minimize", "--command", "sleep 60", "--x0=0,0", "--eval-timeout", 0.1, "--workers", 6, *CMA)
    assert result.exit_code == 1
    assert (
        "Error: all 6 evaluations so far have failed, the first one with ProgramError: 'sleep 60' was killed" in result.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("model_for_tests:sphere", ["--x0", "--dimension", "--bounds"]),
        ("model_for_tests:sphere --x0 0,zero", ["--x0", "random", "0,zero"]),
        ("model_for_tests:sphere --x0 1,2 --dimension 3", ["--x0 has 2 coordinates", "--dimension is 3"]),
        ("model_for_tests:sphere --dimension 3 --bounds 0, --x0 random", ["--bounds", "closed", "--x0"]),
        ("model_for_tests:sphere --x0 1 --sigma0 a", ["--sigma0 must be a number", "'a'"]),
        ("model_for_tests:sphere --x0 1 --sigma0 0", ["sigma0 must be", "above 0, got 0"]),
        ("model_for_tests:sphere --x0 1 --sigma0 1,2", ["sigma0 must be", "1 coordinates, got shape (2,)"]),
        ("model_for_tests:sphere --x0 1 --bounds 0", ["--bounds", "pair", "'0'"]),
        ("model_for_tests:sphere --x0 1 --bounds 0,one", ["--bounds", "numbers", "'one'"]),
        ("model_for_tests:sphere --x0 9 --bounds 0,1", ["x0[0] = 9", "bounds (0, 1)"]),
        ("model_for_tests:sphere --x0 @x.txt", ["--x0", "@x.txt", ".json, .csv or .npy"]),
        ("model_for_tests:sphere --x0 @x.csv", ["--x0 @x.csv", "no such file"]),
        ("model_for_tests:sphere --x0 @bad.json", ["--x0", "@bad.json", "JSON"]),
        ("model_for_tests:spheer --x0 1", ["'model_for_tests'", "'spheer'", "did you mean 'sphere'?"]),
        ("model_for_tests:OFFSET --x0 1", ["'model_for_tests:OFFSET'", "function", "1.0"]),
        ("model_for_tests --x0 1", ["'model_for_tests'", "module:function"]),
        ("modle:sphere --x0 1", ["'modle:sphere'", "module 'modle'"]),
        ("modle.py:sphere --x0 1", ["'modle.py:sphere'", "file 'modle.py'"]),
        ("broken.py:sphere --x0 1", ["'broken.py:sphere'", "ZeroDivisionError: division by zero"]),
        ("lacking.py:f --x0 1", ["'lacking.py:f'", "No module named 'not_there'"]),
        ("json.py:f --x0 1", ["'json'", "rename the file"]),
        ("model_for_tests:sphere --x0 1 --method cam", ["method 'cam'", "did you mean 'cma'?"]),
        ("model_for_tests:sphere --x0 1 --option tolx", ["--option", "name=value", "'tolx'"]),
        ("model_for_tests:sphere --x0 1 --option tolx=a", ["option 'tolx'", "'a'"]),
        ("model_for_tests:sphere --x0 1 --out .", ["--out", "'.'", "folder"]),
    ],
)
def test_mistakes_are_one_sentence(folder: Path, arguments: str, named: list[str]):
    (folder / "broken.py").write_text("1 / 0\n")
    (folder / "lacking.py").write_text("import not_there\n")
    (folder / "json.py").write_text("f = abs\n")
    (folder / "bad.json").write_text("[0, 1")
    result = call("minimize", *arguments.split(), "--seed", 1, "--quiet")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert [word for word in named if word not in result.stderr] == []
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_a_run_that_fails_is_no_mistake_of_the_command_line():
    result = call("minimize", "model_for_tests:fails", "--x0", "1", *CMA, "--quiet")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: all 4 evaluations so far have failed, the first one with OSError: no licence;")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--x0 1", ["MODULE:FUNCTION", "--command"]),
        ("math:cos --command true", ["MODULE:FUNCTION", "--command"]),
        ("math:cos --shell", ["--shell", "--command"]),
        ("math:cos --scratch", ["--scratch", "--command"]),
        ("--command true --vectorized", ["--vectorized", "--command"]),
        ("math:cos --address auto", ["--address", "--engine ray or dask"]),
        ("math:cos --log x.jsonl --no-log", ["--log", "--no-log"]),
        ("math:cos --workers 0", ["--workers", "at least 1", "got 0"]),
        ("math:cos --model cubic", ["--model", "'cubic'", "quadratic"]),
        ("math:cos --engine mpi", ["--engine", "'mpi'", "processes"]),
    ],
)
def test_wrong_options_are_named(arguments: str, named: list[str]):
    result = call("minimize", *arguments.split())
    assert result.exit_code == 2
    assert [word for word in named if word not in result.stderr.splitlines()[-1]] == []


def test_bounds_and_starts_out_of_files(folder: Path):
    (folder / "b.csv").write_text("-1,1\n0,\n,inf\n")
    (folder / "b.json").write_text("[[-1, 1], [0, null], [null, null]]")
    assert read_bounds("@b.csv") == read_bounds("@b.json") == [(-1.0, 1.0), (0.0, None), (None, None)]
    np.save(folder / "b.npy", [[-1.0, 1.0], [0.0, np.inf]])
    assert read_bounds("@b.npy") == [(-1.0, 1.0), (0.0, None)]
    np.save(folder / "x.npy", np.arange(3.0))
    (folder / "x.csv").write_text("0,1,2\n")
    (folder / "column.csv").write_text("0\n1\n2\n")
    (folder / "x.json").write_text("[0, 1, 2]")
    for name in ("x.npy", "x.csv", "column.csv", "x.json"):
        assert read_start(f"@{name}", None, None, seed=0).tolist() == [0.0, 1.0, 2.0]


def test_a_random_start_depends_on_the_seed_alone():
    starts = [read_start("random", 3, (2, 4), seed).tolist() for seed in (1, 1, 2)]
    assert starts[0] == starts[1] != starts[2]
    assert all(2 < value < 4 for start in starts for value in start)


def test_options_and_methods_of_objects():
    assert read_options([]) is None
    assert read_options(["a=null", "b=x=y"]) == {"a": None, "b": "x=y"}
    assert find_function("os:path.join")("a", "b") == "a/b"


@pytest.mark.parametrize("model", [(), ("--model", "quadratic")], ids=str)
def test_resume_goes_on_to_the_same_end(folder: Path, model: tuple[str, ...]):
    drawn = str(2**64 - 3)  # as large as a seed may be that was drawn
    common = ("model_for_tests:sphere", "--x0=0,0", "--method", "cma", "--seed", drawn, *model)
    whole = rows(call("minimize", *common, "--max-iter", 12))
    assert call("minimize", *common, "--max-iter", 5, "--checkpoint", "run.ckpt").exit_code == 0
    result = call("resume", "run.ckpt", "model_for_tests:sphere", "--max-iter", 12)
    assert result.exit_code == 0, result.output
    resumed = rows(result)
    assert [resumed[name] for name in ("message", "f", "x", "seed")] == [whole[name] for name in ("message", "f", "x", "seed")]
    again = call(
        "minimize", *common[:2], "--method", "cma", *model, "--max-iter", 12, "--checkpoint", "run.ckpt"
    )  # no seed: the file's
    assert rows(again)["x"] == whole["x"]
