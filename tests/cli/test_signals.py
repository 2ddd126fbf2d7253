"""Signals to `thalweg minimize` in a process of its own: what it prints, its exit status, and how to go on."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner

from thalweg.cli.app import app

SOURCE = Path(__file__).parents[2] / "src"
CMA = ("--method", "cma", "--seed", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a slow function of a module, which is the current one; forget the module afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "slow_model", raising=False)
    slow = "import time\n\n\ndef slow(x):\n    time.sleep(0.02)\n    return float(sum((x - 1.0) ** 2))\n"
    (tmp_path / "slow_model.py").write_text(slow)
    return tmp_path


def start(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "thalweg", "minimize", *arguments]
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_prints_the_best_so_far_and_how_to_go_on():
    run = start("slow_model.py:slow", "--x0=0,0", "--checkpoint", "my run.ckpt", "--retries", "2", "--out", "r.json", *CMA)
    assert run.stderr is not None
    assert run.stderr.readline().startswith("f ")  # a generation is over
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert out.startswith("Interrupted from the keyboard")
    assert json.loads(Path("r.json").read_text())["success"] is False
    words = shlex.split(err.splitlines()[-1].removeprefix("continue with: thalweg "))
    assert words == ["resume", "my run.ckpt", "slow_model.py:slow", "--retries", "2", "--out", "r.json"]
    result = CliRunner().invoke(app, [*words, "--max-iter", "10"])
    assert result.exit_code == 0, result.output
    assert "60 in 10 generations" in result.output


def test_sigterm_ends_the_programs_too():
    run = start("--command", "echo $$ >> pids; exec sleep 60", "--shell", "--x0=0,0", "--workers", "2", "--quiet", *CMA)
    pids, end = Path("pids"), time.monotonic() + 60
    while not (pids.exists() and len(pids.read_text().split()) == 2) and time.monotonic() < end:
        time.sleep(0.05)
    began = time.monotonic()
    run.send_signal(signal.SIGTERM)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 143, err
    assert time.monotonic() - began < 20
    assert (out, err) == ("", "Terminated before the first evaluation.\n")
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids.read_text().split())


def test_sigterm_says_so_and_how_to_go_on():
    run = start("slow_model.py:slow", "--x0=0,0", "--checkpoint", "run.ckpt", *CMA)
    assert run.stderr is not None
    assert run.stderr.readline().startswith("f ")
    run.send_signal(signal.SIGTERM)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 143, err
    assert out.startswith("Terminated by a signal in generation")
    assert err.splitlines()[-1] == "continue with: thalweg resume run.ckpt slow_model.py:slow"


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_ctrl_c_before_the_first_evaluation_is_one_line(folder: Path, delay: float):
    pressed = f"threading.Timer({delay}, os.kill, (os.getpid(), signal.SIGINT)).start()"
    (folder / "pressed.py").write_text(f"import os, signal, threading, time\n{pressed}\ndef fun(x): time.sleep(60)\n")
    run = start("pressed.py:fun", "--x0=0,0,0", "--method", "gnn-cma", "--checkpoint", "run.ckpt", "--quiet")
    out, err = run.communicate(timeout=60)
    # where the exception has passed through `exec`, Python ends itself by the signal; a shell calls either 130
    assert run.returncode in (130, -signal.SIGINT), err
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("Interrupted")
