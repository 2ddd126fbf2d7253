"""The command line tells from where a run goes on."""

from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner, Result

from thalweg.cli.app import app

RUN = ("minimize", "math:fsum", "--x0=1,2", "--method", "cma", "--seed", 1, "--checkpoint", "run.ckpt", "--max-iter")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="thalweg")
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("panel", [False, True])
def test_stderr_says_from_where_a_run_goes_on(monkeypatch: pytest.MonkeyPatch, panel: bool):
    if panel:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "200")
    assert "continuing" not in call(*RUN, 5).stderr
    finished, more = call(*RUN, 5), call("resume", "run.ckpt", "math:fsum", "--max-iter", 7)
    assert "already finished, nothing to do: run.ckpt has 30 evaluations" in finished.stderr
    assert "s, all of them in earlier calls\n" in finished.stdout
    assert "continuing from run.ckpt after 30 evaluations" in more.stderr
    assert "s, 30 of them in earlier calls\n" in more.stdout
    assert call(*RUN, 7, "--quiet").stderr == ""
