"""The history of a search: true numbers, thinned, and the same after a resume."""

import logging

import numpy as np
import pytest

import thalweg
from thalweg.search.history import History
from thalweg.space import SpaceMap


def sphere(x):
    return float(x @ x)


def search(**more):
    return thalweg.minimize(sphere, [1.0, 2.0], 0.5, method="cma", seed=1, **more)


def same(one, other):
    names = ("run", "nit", "nfev", "failures", "fun", "sigma", "axes", "mean", "std")
    assert all(np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in names)
    assert one.info.keys() == other.info.keys()
    assert all(np.array_equal(one.info[name], other.info[name], equal_nan=True) for name in one.info)


def test_it_holds_the_numbers_of_each_generation():
    seen = []
    result = search(max_iter=12, callback=lambda r: seen.append((r.nfev, r.fun, r.sigma, *r.mean, *r.std)))
    h = result.history
    assert np.array_equal(np.column_stack([h.nfev, h.fun, h.sigma, h.mean, h.std]), seen)
    assert h.nit.tolist() == list(range(1, 13))
    assert np.all(h.axes[:, 0] >= h.axes[:, 1])
    # the product of the axes is the volume of the distribution, of which sigma is the root
    assert np.all(h.axes[:, 1] <= h.std.max(1))
    assert np.all(h.axes[:, 0] >= h.std.max(1) * (1 - 1e-9))


def test_a_result_does_not_change_later():
    seen = []
    search(max_iter=5, callback=lambda r: seen.append(r.history))
    assert [len(history) for history in seen] == [1, 2, 3, 4, 5]


def test_it_is_in_units_of_the_objective():
    space = thalweg.Space(rate=thalweg.Real(1e-4, 1.0, log=True), fixed=thalweg.Fixed(3.0), width=thalweg.Real(0, 1000))
    seen = []
    result = thalweg.minimize(
        lambda p: p["rate"] + (p["width"] - 500) ** 2, space, method="cma", seed=1, max_iter=4,
        callback=lambda r: seen.append((r.mean, r.std)),
    )  # fmt: skip
    assert np.array_equal(result.history.mean, [mean for mean, _ in seen])
    assert np.array_equal(result.history.std, [std for _, std in seen])


@pytest.mark.parametrize("more", [{}, {"method": "gnn-cma"}, {"restarts": 2, "options": {"tolfun": 1e-3, "tolx": 1e-2}}])
def test_a_resumed_run_has_the_same_history(tmp_path, more):
    method = {"method": "cma", "max_iter": 45} | more
    whole = thalweg.minimize(sphere, [1.0, 2.0], 0.5, seed=1, **method)
    path = tmp_path / "run.ckpt"
    thalweg.minimize(sphere, [1.0, 2.0], 0.5, seed=1, checkpoint=path, **method | {"max_iter": 17})
    resumed = thalweg.resume(path, sphere, max_iter=45)
    same(whole.history, resumed.history)
    same(thalweg.Optimizer.load(path).history, resumed.history)


def test_a_long_history_is_thinned():
    history = History(SpaceMap(), 2)
    sizes = set()
    for i in range(20_000):
        history.add((0, i + 1, i, 0, 0.0, 1.0, 1.0, 1.0), {}, np.zeros(2), np.ones(2))
        sizes.add(len(history))
    assert max(sizes) <= 301
    assert len(history) >= 150
    steps = np.diff(history.nit)
    assert len(set(steps[:-1].tolist())) == 1
    assert history.nit[0] == 1
    assert history.nit[-1] == 20_000


def test_damage_is_reported(tmp_path):
    es = thalweg.Optimizer([1.0, 2.0], method="cma", seed=1)
    es.tell(X := es.ask(), (X**2).sum(1))
    numbers, arrays = es.history.pack()
    for wrong in ({"mean": np.zeros((1, 3))}, {"scalars": np.zeros((1, 8), np.float32)}, {"other": np.zeros(1)}):
        with pytest.raises(ValueError, match="history"):
            es.history.unpack(numbers, arrays | wrong)
    with pytest.raises(ValueError, match="history"):
        es.history.unpack(numbers | {"every": 0}, arrays)


def test_the_log_has_the_numbers_of_each_generation_once(tmp_path):
    seen = []
    search(max_iter=4, log=tmp_path / "run.jsonl", callback=lambda r: seen.append((r.sigma, *r.std, *r.mean)))
    rows = thalweg.read_log(tmp_path / "run.jsonl")
    described = [row for row in rows if "search" in row.extra]
    assert [(row.generation, row.index) for row in described] == [(i, 0) for i in range(4)]
    found = [(row.extra["search"]["sigma"], *row.extra["std"], *row.extra["mean"]) for row in described]
    assert found == [(0.5, 0.5, 0.5, 1.0, 2.0), *seen[:3]]
    assert described[1].extra["search"]["longest"] > described[1].extra["search"]["shortest"] > 0


@pytest.mark.parametrize("workers", [1, 2])
def test_the_log_has_each_traceback_once(tmp_path, workers, caplog):
    caplog.set_level(logging.CRITICAL, "thalweg")  # pytest's workers cannot send the text of this failure

    def fun(x):
        if x[0] < 0.8:
            raise ValueError(f"too low: {x[0]} \udcff")
        if x[1] < 1.7:
            return {}["missing"]
        return x @ x

    thalweg.minimize(fun, [1.0, 2.0], 0.5, method="cma", seed=1, max_iter=5, workers=workers, log=tmp_path / "run.jsonl")
    rows = thalweg.read_log(tmp_path / "run.jsonl")
    failed = [row for row in rows if row.error]
    texts = [row.extra["traceback"] for row in rows if "traceback" in row.extra]
    assert len(failed) > 5
    assert sorted(text.splitlines()[-1].split(":")[0] for text in texts) == ["KeyError", "ValueError"]
    assert all(text.startswith("Traceback (most recent call last)") and "in fun" in text for text in texts)
    assert all("traceback" in row.extra for row in failed[:1])
