"""Checkpoints: a resumed run equals the uninterrupted one to the last bit; what does not fit is refused."""

import json
import os

import numpy as np
import pytest

from thalweg.search.minimize import minimize
from thalweg.search.optimizer import Optimizer
from thalweg.storage import archive
from thalweg.strategies.latents.cmaes import CMAES


def rosenbrock(x):
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def make(**more):
    return Optimizer([0.0, 0.5], 0.7, **{"method": "cma", "popsize": 6, "seed": 4, "bounds": [(-3, 3), (None, 4)], **more})


def advance(es, generations):
    for _ in range(generations):
        X = es.ask()
        es.tell(X, [rosenbrock(x) for x in X])
    return es


def same(one, other):
    for name in ("fun", "nfev", "nit", "success", "status", "message", "stop", "sigma", "seed", "failures", "popsize"):
        assert one[name] == other[name], name
    for name in ("x", "mean", "std"):
        assert np.array_equal(one[name], other[name]), name


@pytest.mark.parametrize("method", ["cma", "xnes", "gnn-cma"])
def test_saved_and_loaded_goes_on_to_the_same_bits(tmp_path, method):
    whole = advance(make(method=method), 22)
    half = advance(make(method=method), 11)
    half.save(tmp_path / "run.npz")
    again = Optimizer.load(tmp_path / "run.npz")
    assert again.nit == 11
    advance(again, 11)
    same(again.result, whole.result)
    assert np.array_equal(again.ask(), whole.ask())
    assert again.run.tests == whole.run.tests


def test_an_open_generation_is_asked_again(tmp_path):
    es = advance(make(), 3)
    es.inject([0.25, 0.25])
    X = es.ask()
    es.save(tmp_path / "run.npz")
    again = Optimizer.load(tmp_path / "run.npz")
    assert np.array_equal(again.ask(), X)
    with pytest.raises(ValueError, match="call ask first"):
        Optimizer.load(tmp_path / "run.npz").tell(X, np.zeros(6))


def test_load_keeps_budgets_and_tolerances(tmp_path):
    make(max_evals=300, options={"tolx": 1e-5, "active": False}).save(tmp_path / "run.npz")
    again = Optimizer.load(tmp_path / "run.npz")
    assert again.campaign.budget.max_evals == 300
    assert again.tolerances.tolx == 1e-5
    assert again.strategy == CMAES(popsize=6, active=False)


def test_a_strategy_object_must_be_given_again(tmp_path):
    advance(make(method=CMAES(popsize=6), popsize=None), 2).save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="method"):
        Optimizer.load(tmp_path / "run.npz")
    assert Optimizer.load(tmp_path / "run.npz", method=CMAES(popsize=6)).nit == 2
    with pytest.raises(ValueError, match="belongs to another problem: its strategy is"):
        Optimizer.load(tmp_path / "run.npz", method=CMAES(popsize=6, active=False))


@pytest.mark.parametrize("restarts", [0, 3])
@pytest.mark.parametrize("last", [5, 37, 150])
def test_minimize_killed_and_called_again(tmp_path, death, restarts, last):
    calls = []

    def fun(x):
        calls.append(0)
        if len(calls) == last * 6 + 2:
            death.strike()
        return rosenbrock(x)

    settings = {"method": "cma", "popsize": 6, "seed": 1, "restarts": restarts, "max_iter": 200}
    whole = minimize(rosenbrock, [0.0, 0.0], **settings)
    path = tmp_path / "run.ckpt"
    result = minimize(fun, [0.0, 0.0], checkpoint=path, **settings)
    if len(calls) >= last * 6 + 2:  # the run has not ended before
        death.restore()
        result = minimize(fun, [0.0, 0.0], checkpoint=str(path), **{**settings, "seed": None})
    same(result, whole)
    assert result.restarts == whole.restarts
    finished = minimize(fun, [0.0, 0.0], checkpoint=path, **settings)
    same(finished, whole)


def test_a_finished_run_goes_on_with_a_larger_budget(tmp_path):
    path = tmp_path / "run.npz"
    first = minimize(rosenbrock, [0.0, 0.0], method="cma", seed=1, max_evals=60, checkpoint=path)
    more = minimize(rosenbrock, [0.0, 0.0], method="cma", seed=1, max_evals=600, checkpoint=path)
    assert first.nfev == 60
    same(more, minimize(rosenbrock, [0.0, 0.0], method="cma", seed=1, max_evals=600))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "xnes"}, "its strategy is"),
        ({"x0": [0.0, 0.1]}, r"its x0 is \[0\.0, 0\.0\], here it is \[0\.0, 0\.1\]"),
        ({"x0": [0.0, 0.0, 0.0]}, "its dimension is 2, here it is 3"),
        ({"popsize": 8}, "its strategy is|its popsize is 6"),
        ({"seed": 2}, "its seed is 1, here it is 2"),
        ({"bounds": (-9, 9)}, "its bounds is None"),
        ({"sigma0": 2.0}, r"its sigma0 is 1\.0, here it is 2\.0"),
        ({"sigma0": [1.0, 2.0]}, r"its sigma0 is 1\.0, here it is \[1\.0, 2\.0\]"),
    ],
)
def test_a_checkpoint_of_another_problem(tmp_path, change, words):
    path = tmp_path / "run.npz"
    settings = {"x0": [0.0, 0.0], "method": "cma", "seed": 1, "max_iter": 2, "checkpoint": path}
    minimize(rosenbrock, **settings)
    with pytest.raises(ValueError, match=f"belongs to another problem: ({words})") as error:
        minimize(rosenbrock, **{**settings, **change})
    assert "\n" not in str(error.value)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    es = advance(make(), 1)
    es.save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        advance(es, 1).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_plain_arrays_and_json_inside(tmp_path):
    path = tmp_path / "run.npz"
    es = advance(make(), 2)
    es.save(path)
    with np.load(path, allow_pickle=False) as file:
        meta = json.loads(file["meta"].tobytes())
        assert meta["format"] == archive.FORMAT
        assert meta["version"] == archive.version()
        assert all(file[name].dtype.kind in "biuf" for name in file.files)
        assert np.array_equal(file["state.mean"], es.state.mean)
        assert file["state.key"].dtype == np.uint32


def test_numbers_of_numpy_as_settings(tmp_path):
    es = advance(make(popsize=np.int64(6), max_evals=np.float64(900), options={"tolx": np.float64(1e-5), "active": True}), 2)
    es.save(tmp_path / "run.npz")
    again = Optimizer.load(tmp_path / "run.npz")
    assert np.array_equal(again.ask(), es.ask())
    assert again.tolerances.tolx == 1e-5


class Opaque(CMAES):
    traceable = False


def test_a_third_party_object_cannot_be_stored(tmp_path):
    es = make(method=Opaque(popsize=6), popsize=None)
    with pytest.raises(ValueError, match="third-party object that a checkpoint cannot store"):
        es.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match="third-party object"):
        minimize(unreachable, [0.0, 0.0], method=Opaque(), checkpoint=tmp_path / "run.npz")


def unreachable(x):
    raise AssertionError("nothing may be evaluated")


def test_a_missing_directory_is_found_before_the_first_evaluation(tmp_path):
    with pytest.raises(ValueError, match="directory that does not exist"):
        minimize(unreachable, [0.0, 0.0], method="cma", checkpoint=tmp_path / "missing" / "run.npz")


def test_a_directory_is_found_before_the_first_evaluation(tmp_path):
    with pytest.raises(ValueError, match="is no file; pass the name of one"):
        minimize(unreachable, [0.0, 0.0], method="cma", checkpoint=tmp_path)


def test_what_killed_writers_left_is_removed_in_time(tmp_path):
    path = tmp_path / "[run].ckpt"
    old, young, other = (tmp_path / name for name in (".[run].ckpt.7-a.new", ".[run].ckpt.8-b.new", ".run.ckpt.9-c.new"))
    for file in (old, young, other):
        file.touch()
    for file in (old, other):
        os.utime(file, (1.0, 1.0))
    make().save(path)
    assert {file.name for file in tmp_path.iterdir()} == {path.name, young.name, other.name}


def test_the_folder_is_synced_after_the_file(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.path.isdir(f"/proc/self/fd/{handle}")) or fsync(handle))
    make().save(tmp_path / "run.npz")
    assert synced == [False, True]
