"""A checkpoint and its log belong to one run at a time, and to each other."""

import os
import shutil

import numpy as np
import pytest

import thalweg.search.minimize as front
from thalweg import minimize, resume
from thalweg.storage.log import open_log, read_log

SETTINGS = {"x0": [1.0, 2.0], "method": "cma", "popsize": 6, "seed": 1}


def sphere(x):
    return float(x @ x)


@pytest.mark.parametrize("first", [{"log": False}, {"vectorized": True}, {"log": "a.jsonl"}])
def test_two_runs_never_share_a_checkpoint(tmp_path, monkeypatch, first):
    monkeypatch.chdir(tmp_path)
    refused = []

    def fun(x):
        if not refused:
            with pytest.raises(ValueError, match=r"checkpoint './run\.ckpt' is in use") as error:
                minimize(sphere, **SETTINGS, max_evals=12, checkpoint="./run.ckpt", log=False)
            refused.append(error)
        return (x**2).sum(-1)

    assert minimize(fun, **SETTINGS, max_evals=12, checkpoint="run.ckpt", **first).nfev == 12
    assert refused
    assert not list(tmp_path.glob(".run.ckpt*"))  # the lock is gone
    assert resume("run.ckpt", sphere, max_evals=18, log=False).nfev == 18


def test_a_lock_that_a_killed_run_has_left_stops_nobody(tmp_path):
    (tmp_path / ".run.ckpt.lock").touch()
    assert minimize(sphere, **SETTINGS, max_evals=12, checkpoint=tmp_path / "run.ckpt").nfev == 12


def test_checkpoint_and_log_are_two_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("run.ckpt", "link")
    for log in ("run.ckpt", tmp_path / "run.ckpt", "link"):
        with pytest.raises(ValueError, match=r"log and checkpoint are both 'run\.ckpt'"):
            minimize(sphere, **SETTINGS, max_evals=12, checkpoint="run.ckpt", log=log)
    assert os.listdir() == ["link"]


def test_an_asynchronous_run_reads_the_log_once_nobody_else_writes(tmp_path, monkeypatch):
    """Another run of the same checkpoint evaluates to the end just before this one gets the lock of the log."""
    path, evaluated = tmp_path / "run.ckpt", []
    settings = {**SETTINGS, "asynchronous": True, "max_evals": 24}
    minimize(sphere, **{**settings, "max_evals": 6}, checkpoint=path)
    shutil.copytree(tmp_path, tmp_path / "other")
    minimize(sphere, **settings, checkpoint=tmp_path / "other" / "run.ckpt")

    def late(place, **more):
        shutil.copy(tmp_path / "other" / "run.ckpt.jsonl", place)
        return open_log(place, **more)

    def fun(x):
        evaluated.append(x)
        return sphere(x)

    monkeypatch.setattr(front, "open_log", late)
    assert minimize(fun, **settings, checkpoint=path, trust=True).nfev == 24
    assert not evaluated
    assert len({tuple(row.x) for row in read_log(f"{path}.jsonl")}) == len(read_log(f"{path}.jsonl")) == 24


def test_nothing_is_locked_for_ever_by_an_error(tmp_path):
    with pytest.raises(RuntimeError, match="have failed"):
        minimize(lambda x: 1 / 0, **SETTINGS, max_evals=12, checkpoint=tmp_path / "run.ckpt")
    assert np.isfinite(minimize(sphere, **SETTINGS, max_evals=12, checkpoint=tmp_path / "run.ckpt").fun)
