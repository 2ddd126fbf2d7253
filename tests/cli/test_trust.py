"""The command line refuses the checkpoint of another objective."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

from thalweg.cli.app import app

MODEL = "def loss(x):\n    return float(x[0] ** 2 + x[1] ** 2) + 0\n"
RUN = ("--x0=1,2", "--method", "cma", "--seed", 1, "--popsize", 6, "--checkpoint", "run.ckpt", "--max-evals", 12)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def call(*arguments: object) -> Result:
    sys.modules.pop("model", None)  # as in a new process
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="thalweg")


def refused(result: Result) -> bool:
    """Return whether a call ended with the one sentence, and printed no result."""
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith(("f ", "the objective raised"))]
    return len(lines) == 1 and "of another objective" in lines[0] and "--trust" in lines[0]


def test_an_edited_function_and_another_kind_of_objective(folder: Path):
    model = folder / "model.py"
    model.write_text(MODEL)
    first = call("minimize", "model.py:loss", *RUN)
    assert first.exit_code == 0, first.output
    assert call("minimize", "model.py:loss", *RUN).exit_code == 0
    model.write_text(MODEL.replace("+ 0", "+ 5"))
    assert refused(call("minimize", "model.py:loss", *RUN))
    for more in ((), ("--max-evals", 24), ("--workers", 2, "--asynchronous")):
        assert refused(call("resume", "run.ckpt", "model.py:loss", *more))
    assert refused(call("resume", "run.ckpt", "--command", "echo 5"))
    model.write_text(MODEL)
    assert call("resume", "run.ckpt", "model.py:loss").exit_code == 0
    model.write_text(MODEL.replace("+ 0", "+ 5"))
    trusted = call("resume", "run.ckpt", "model.py:loss", "--trust", "--out", "result.json")
    assert trusted.exit_code == 0, trusted.output
    assert "trusting the values of run.ckpt" in trusted.stderr
    assert "which were trusted" in trusted.stdout
    assert "which were trusted" in json.loads(Path("result.json").read_text())["message"]
    assert call("resume", "run.ckpt", "model.py:loss").exit_code == 0
    assert refused(call("resume", "run.ckpt", "model.py:loss", "--no-trust", "--quiet"))


def test_an_edited_script(folder: Path):
    script, command = folder / "run.sh", ("--command", "sh run.sh {x}")
    script.write_text("expr 3 + 4")
    assert call("minimize", *command, *RUN).exit_code == 0
    script.write_text("# a comment\nexpr 3 + 4")
    assert "has the same value, 7" in call("resume", "run.ckpt", *command).stderr
    assert "has the same value" not in call("resume", "run.ckpt", *command).stderr
    script.write_text("expr 3 + 5")
    assert refused(call("resume", "run.ckpt", *command))
    assert refused(call("minimize", *command, *RUN))
    script.write_text("exit 3")
    assert refused(call("resume", "run.ckpt", *command, "--max-evals", 24))


def test_trust_without_a_checkpoint():
    result = call("minimize", "math:fsum", "--x0=1,2", "--trust")
    assert (result.exit_code, "trust" in result.stderr) == (2, True)
