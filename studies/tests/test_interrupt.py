"""Tests of studies/benchmarks/interrupt.py, which presses Ctrl-C in many runs: forty, and each check finds its fault."""

import gc
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import thalweg

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a timer of the kernel and /proc")


@pytest.mark.timeout(180)
def test_every_interrupt_gives_a_result(benchmark, tmp_path):
    interrupt = benchmark("interrupt")
    report = {"seconds": 0.0, "counts": {}, "faults": []}
    interrupt.measure(report, 40, tmp_path / "interrupt.json")
    assert report["faults"] == []
    assert interrupt.number(report) == 40
    assert sum(each.get("interrupted", 0) for each in report["counts"].values()) > 4
    assert json.loads((tmp_path / "interrupt.json").read_text())["counts"] == report["counts"]
    assert interrupt.show(report).startswith("40 interrupts, ")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_faults_are_found(benchmark, tmp_path, monkeypatch):
    interrupt = benchmark("interrupt")
    monkeypatch.chdir(tmp_path)
    left = []

    def faulty(fun, x0, **given):
        if given["checkpoint"] in os.listdir():
            return thalweg.Optimizer(x0).result
        fun(thalweg.Optimizer(x0).mean)
        (tmp_path / "run.ckpt").touch()
        (tmp_path / ".run.ckpt.lock").touch()
        left.extend([os.open(os.devnull, os.O_RDONLY), subprocess.Popen(["sleep", "60"])])
        raise StopIteration("next")

    gc.collect()  # files that other tests have left open would be closed in the midst
    with ThreadPoolExecutor(1) as pool:
        series = interrupt.Series(pool)
        series.references["restarts"], series.durations["restarts"] = thalweg.Optimizer([1.0, 2.0]).result, [10.0]
        monkeypatch.setattr(interrupt, "thalweg", type("module", (), {"minimize": staticmethod(faulty)}))
        outcome, faults = series.interrupted("restarts", 1.0)
    os.close(left[0])
    left[1].kill()
    left[1].wait()
    assert outcome == "escaped"
    assert [fault.partition(":")[0] for fault in faults] == [
        "StopIteration",
        ".run.ckpt.lock stays",
        "a process stays",
        "1 descriptors stay",
    ]
