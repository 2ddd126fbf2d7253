"""The registry of engines, and the choice among them by the argument `workers`."""

import sys
from typing import Any

import numpy as np
import pytest

from thalweg.evaluate import ENGINES, Dask, Engine, Evaluator, Ray
from thalweg.evaluate.processes import ProcessesEngine
from thalweg.evaluate.simple_engines import Serial
from thalweg.search.minimize import minimize


class Recording(Serial):
    """Serial evaluation that notes each point."""

    def start(self, point_id, x):
        POINTS.append(x)
        super().start(point_id, x)


class Toy:
    """A factory like `Ray` and `Dask`."""

    def __init__(self, address: Any = None, workers: int | None = None) -> None:
        self.address, self.workers = address, workers

    def engine(self, fun: Any, args: tuple[Any, ...]) -> Engine:
        return Recording(fun, args)


POINTS: list[np.ndarray] = []


def sphere(x):
    return float(x @ x)


def test_a_registered_engine_is_a_name_for_workers(monkeypatch):
    monkeypatch.setitem(ENGINES, "toy", Toy)
    settings = {"method": "cma", "popsize": 4, "seed": 1, "max_iter": 2}
    expected = minimize(sphere, [1.0, 2.0], **settings)
    for workers in ("toy", Toy(workers=3)):
        POINTS.clear()
        found = minimize(sphere, [1.0, 2.0], **settings, workers=workers)
        assert len(POINTS) == found.nfev == 8
        assert found.fun == expected.fun
    with pytest.raises(ValueError, match="leave workers out"):
        Evaluator(sphere, workers="toy", vectorized=True)


def test_names_and_arguments():
    assert list(ENGINES)[:3] == ["processes", "ray", "dask"]
    for factory in ENGINES.values():
        assert factory(address=None, workers=3).workers == 3
        with pytest.raises(ValueError, match="workers"):
            factory(workers=0)
    assert (ENGINES["ray"], ENGINES["dask"]) == (Ray, Dask)
    with pytest.raises(ValueError, match="address"):
        ENGINES["processes"](address="somewhere")


def test_numbers_and_names_choose_the_engine(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert isinstance(Evaluator(sphere).engine, Serial)
    for workers in (-1, "processes"):
        with Evaluator(sphere, workers=workers) as evaluate:
            assert isinstance(evaluate.engine, ProcessesEngine)
            assert evaluate.capacity == 3
    for wrong in ("rey", None, Ray):
        with pytest.raises(TypeError, match="workers"):
            Evaluator(sphere, workers=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "library"), [("ray", "ray"), ("dask", "distributed")])
def test_a_missing_extra_is_named(name, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf'thalweg.{name.title()} needs {library}, .*"\.\[{name}\]"'):
        Evaluator(sphere, workers=name)


def test_a_broken_extra_is_not_called_missing(monkeypatch):
    def broken(name):
        raise ImportError("libray.so: no such file")

    monkeypatch.setattr("importlib.import_module", broken)
    with pytest.raises(ImportError, match=r"ray, which cannot be imported \(libray.so: no such file\)"):
        Evaluator(sphere, workers="ray")
