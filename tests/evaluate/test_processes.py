"""Worker processes: scripts without a guard, what the processes inherit, and that none of them stays."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from thalweg.evaluate import Evaluator
from thalweg.search.minimize import minimize

SOURCE = Path(__file__).parents[2] / "src"
POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [-1.0, 5.0]])

SCRIPT = """
import os, sys, threading
import jax.numpy as jnp
import thalweg
print("once")
scale = float(jnp.ones(()))  # JAX runs before the processes are started
def fun(x):  # of __main__, with a global of __main__
    print("noise", flush=True)
    assert "jax" not in sys.modules and "thalweg" not in sys.modules
    return scale * float(x @ x)
workers = {"processes": 2, "ray": thalweg.Ray(workers=2), "dask": thalweg.Dask(workers=2)}[sys.argv[1]]
result = thalweg.minimize(fun, [1.0, 2.0], method="cma", popsize=4, seed=1, max_iter=3, workers=workers)
print("found", result.fun.hex(), result.failures)
"""
"""No `if __name__ == "__main__":`."""


def alive(pids):
    """Those that have not ended, after some patience."""
    end = time.monotonic() + 10
    while (left := [pid for pid in pids if psutil.pid_exists(pid)]) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "JAX_PLATFORMS": "cpu"}
    return subprocess.Popen([sys.executable, "-c", code, *arguments], env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("engine", ["processes", pytest.param("dask", marks=pytest.mark.check)])
def test_a_script_without_a_guard(engine, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = start(
        f"import sys, runpy; sys.argv[0] = {str(script)!r}; runpy.run_path(sys.argv[0], run_name='__main__')", engine
    )
    lines = process.communicate(timeout=120)[0].splitlines()
    assert process.returncode == 0
    assert lines.count("once") == 1
    expected = minimize(lambda x: float(x @ x), [1.0, 2.0], method="cma", popsize=4, seed=1, max_iter=3)
    assert lines[-1] == f"found {expected.fun.hex()} 0"
    if engine == "processes":
        assert " ".join(lines).count("noise") == 12  # two processes may share a line


def test_no_process_stays_or_imports_jax():
    def loaded(x):
        return float("jax" in sys.modules or "thalweg" in sys.modules)

    before = set(psutil.Process().children(recursive=True))
    with Evaluator(loaded, workers=2) as evaluate:
        assert evaluate(POINTS).tolist() == [0.0, 0.0, 0.0]
        ours = set(psutil.Process().children(recursive=True)) - before
        assert len(ours) == 2
        assert {os.getpgid(child.pid) for child in ours} == {child.pid for child in ours}
    assert alive(child.pid for child in ours) == []


def test_processes_end_with_their_parent_together_with_their_children(tmp_path):
    """However it ends, and though they are in the midst of an evaluation."""
    code = f"""
import numpy as np, os, subprocess, pathlib
from thalweg.evaluate import Evaluator
def fun(x):
    child = subprocess.Popen(["sleep", "60"])
    (pathlib.Path({str(tmp_path)!r}) / f"{{os.getpid()}} {{child.pid}}").touch()
    child.wait()
    return 0.0
Evaluator(fun, workers=2)(np.zeros((2, 1)))
"""
    process = start(code)
    while len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert alive(int(pid) for path in tmp_path.iterdir() for pid in path.name.split()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can")
def test_a_process_that_holds_the_gil_ends_with_its_parent(tmp_path):
    code = f"""
import numpy as np, os, pathlib
from thalweg.evaluate import Evaluator
def fun(x):
    (pathlib.Path({str(tmp_path)!r}) / str(os.getpid())).touch()
    return sum(range(10**15))  # a loop in C, in which no other thread gets a turn
Evaluator(fun, workers=2)(np.zeros((2, 1)))
"""
    process = start(code)
    while len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.05)
        assert process.poll() is None
    process.kill()
    process.communicate()
    assert alive(int(path.name) for path in tmp_path.iterdir()) == []


def test_a_timeout_ends_what_the_objective_has_started(tmp_path):
    def fun(x):
        child = subprocess.Popen(["sleep", "60"])
        (tmp_path / str(child.pid)).touch()
        return float(child.wait())

    with Evaluator(fun, workers=1, eval_timeout=0.5) as evaluate, pytest.raises(RuntimeError, match="took longer than"):
        evaluate(POINTS[:1])
    assert len(list(tmp_path.iterdir())) == 1
    assert alive(int(path.name) for path in tmp_path.iterdir()) == []


def test_processes_inherit_path_and_folder(tmp_path, monkeypatch):
    (tmp_path / "thalweg_test_module.py").write_text("def fun(x, factor):\n    return factor * float(x.sum())\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    import thalweg_test_module

    with Evaluator(thalweg_test_module.fun, (2.0,), workers=2) as evaluate:
        assert evaluate(POINTS).tolist() == [2.0, 10.0, 8.0]
    with Evaluator(lambda x: os.getcwd() == str(tmp_path), workers=2) as evaluate:
        assert evaluate(POINTS).tolist() == [1.0, 1.0, 1.0]


class Vanishing:
    """Comes out of its pickle only where it came from."""

    def __init__(self, action="raise ImportError('no such thing here')"):
        self.action = action

    def __call__(self, x):
        return 0.0

    def __reduce__(self):
        return exec, (self.action,)


def test_an_objective_that_cannot_be_loaded():
    with Evaluator(Vanishing(), workers=2) as evaluate, pytest.raises(RuntimeError, match="ImportError: no such thing here"):
        evaluate(POINTS)


def test_processes_that_die_before_they_begin():
    dying = Vanishing("import os; os._exit(7)")
    with (
        Evaluator(dying, workers=2) as evaluate,
        pytest.raises(RuntimeError, match=r"3 worker processes in a row died .* exit code 7"),
    ):
        evaluate(POINTS)


def test_an_objective_that_exits_and_a_process_killed_while_idle():
    with Evaluator(lambda x: sys.exit("enough") if x[0] < 0 else 1.0, workers=2) as evaluate:
        assert np.array_equal(evaluate(POINTS), [1.0, 1.0, np.nan], equal_nan=True)
        assert evaluate.first_failure == "the objective raised SystemExit: enough"
        for worker in evaluate.engine.workers:  # type: ignore[union-attr]
            worker.handle.process.kill()
            worker.handle.process.wait()
        assert evaluate(POINTS[:2]).tolist() == [1.0, 1.0]
    assert evaluate.failures == 1


def test_the_whole_run_has_a_timeout():
    with Evaluator(lambda x: time.sleep(60 if x[0] < 0 else 0) or 1.0, workers=2) as evaluate:
        evaluate(POINTS[:2])  # so that the processes are there
        started = time.monotonic()
        assert np.array_equal(evaluate(POINTS, timeout=0.7), [1.0, 1.0, np.nan], equal_nan=True)
        assert evaluate.first_failure == "the evaluation did not finish"
    assert time.monotonic() - started < 20
