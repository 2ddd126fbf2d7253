"""Searches over variables by name: plain values, results, logs and checkpoints by name, and the same search by arrays."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thalweg.search.minimize import minimize, resume
from thalweg.search.optimizer import Optimizer
from thalweg.search.reevaluate import reevaluate
from thalweg.space import Fixed, Integer, Real, Space
from thalweg.storage.log import read_log

SPACE = Space(rate=Real(1e-5, 1e-1, log=True), width=Integer(8, 512, log=True), drop=Real(0, 1), g=Fixed(0.5), n=Fixed(3))
TYPES = {"rate": float, "width": int, "drop": float, "g": float, "n": int}
ARRAYS = {
    "bounds": [(1e-5, 1e-1), (8, 512), (0, 1), (0.5, 0.5), (3, 3)],
    "log": [0, 1],
    "integers": [False, True, False, False, False],
}


def loss(point, offset=0.0):
    assert {name: type(value) for name, value in point.items()} == TYPES
    return value_of(*list(point.values())[:3]) + offset


def value_of(rate, width, drop):
    return (np.log10(rate) + 3) ** 2 + (np.log2(width) - 6.1) ** 2 + (drop - 0.3) ** 2


def portable():
    """Return the loss as a function that other processes need not import."""
    import numpy as np

    return lambda point: (np.log10(point["rate"]) + 3) ** 2 + (np.log2(point["width"]) - 6.1) ** 2 + (point["drop"] - 0.3) ** 2


def by_vector(x):
    return value_of(*x[:3])


def by_columns(point):
    assert point["width"].dtype.kind == point["n"].dtype.kind == "i"
    return value_of(point["rate"], point["width"], point["drop"])


def search(fun=loss, space=SPACE, **more):
    return minimize(fun, space, **{"method": "cma", "seed": 1, "max_evals": 150, **more})


@pytest.fixture(scope="module")
def plain():
    return search()


def test_the_result_has_the_point_by_name(plain):
    assert {name: type(value) for name, value in plain.point.items()} == TYPES
    assert list(plain.point.values()) == plain.x.tolist()
    assert plain.fun == loss(plain.point) < 1e-2
    assert (plain.point["width"], plain.point["g"], plain.point["n"]) == (69, 0.5, 3)
    assert plain.space == SPACE
    assert np.all(plain.std[3:] == 0)


@pytest.mark.parametrize(
    "more",
    [
        {"fun": portable(), "workers": 2},
        {"fun": by_columns, "vectorized": True},
        {"fun": by_vector, "space": SPACE.as_vector()},
        {"fun": by_vector, "space": None, **ARRAYS},
    ],
    ids=["processes", "vectorized", "vector", "arrays"],
)
def test_all_ways_make_the_same_search(plain, more):
    found = search(**more)
    assert found.x.tolist() == plain.x.tolist()
    assert found.nfev == plain.nfev
    assert ("point" in found) == ("bounds" not in more)


def test_arguments_and_callback(plain):
    seen = []
    found = search(args=(2.0,), callback=lambda intermediate_result: seen.append(intermediate_result.point["width"]))
    assert found.fun == pytest.approx(plain.fun + 2)
    assert all(type(width) is int for width in seen)
    assert seen[-1] == 69


def test_late_values_and_a_model():
    with ThreadPoolExecutor(2) as pool:
        found = search(model="quadratic", workers=pool, asynchronous=True, max_evals=100)
    assert found.fun < 0.01
    assert found.failures == 0


def test_a_resumed_search_and_its_log(tmp_path):
    settings = {"restarts": 1, "options": {"tolfun": 1e-2}}
    whole = search(**settings, max_evals=400)
    path = tmp_path / "run.ckpt"
    search(**settings, max_evals=130, checkpoint=path)
    again = resume(path, loss, max_evals=400)
    assert (again.nfev, again.x.tolist(), again.point) == (whole.nfev, whole.x.tolist(), whole.point)
    rows = read_log(f"{path}.jsonl")
    assert all({name: type(value) for name, value in row.point.items()} == TYPES for row in rows)
    assert all(list(row.point.values()) == row.x.tolist() for row in rows)
    assert min(loss(row.point) for row in rows) == whole.fun


def test_points_by_name_can_be_told_and_offered():
    vectors, names = (Optimizer(SPACE, method="cma", popsize=6, seed=1) for _ in range(2))
    known = {"rate": 1e-3, "width": 64, "drop": 0.2}
    vectors.inject(SPACE.vector_of(known))
    names.inject(known)
    for _ in range(2):
        X = vectors.ask()
        points = [SPACE.point(x) for x in names.ask()]
        vectors.tell(X, [by_vector(x) for x in X])
        names.tell(points[3:], [loss(point) for point in points[3:]])
        names.tell(points[:3], [loss(point) for point in points[:3]])
    assert (names.nit, names.ask().tolist()) == (2, vectors.ask().tolist())
    for wrong in ({"rate": 1e-3}, [{"rate": 1e-3, "lr": 1.0}]):
        with pytest.raises(ValueError, match="point"):
            names.inject(wrong)
    with pytest.raises(TypeError, match="points has mappings, which need a Space"):
        Optimizer([0.0, 0.0]).inject({"a": 1.0})


def described(**changes):
    variables = dict(zip(SPACE.names, SPACE.variables, strict=True))
    return Space({name: variable for name, variable in (variables | changes).items() if variable is not None})


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (described(g=Fixed(0.6)), "its x0 is"),
        (described(n=Fixed(3.0)), "its integers is"),
        (described(drop=Real(0, 2, x0=0.5, sigma0=0.3)), "its bounds is"),
        (described(drop=Integer(0, 1, x0=0)), "another problem"),
        (described(n=None), "its dimension is 5, here it is 4"),
        (described(n=None, m=Fixed(3)), "its names is"),
        (SPACE.as_vector(), "its as_vector is False, here it is True"),
        (SPACE.x0, "another problem"),
    ],
)
def test_a_checkpoint_refuses_another_space(tmp_path_factory, plain, space, words):
    path = tmp_path_factory.getbasetemp() / "refuses.ckpt"
    if not path.exists():
        Optimizer(SPACE, method="cma", seed=1).save(path)
    with pytest.raises(ValueError, match=r"belongs to another problem.* here it is") as error:
        search(space=space, checkpoint=path)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_evaluating_again_passes_the_point_by_name(plain):
    again = reevaluate(plain, loss, times=2)
    assert again.failures == 0
    assert again.point == SPACE.point(again.x)


def test_failures_are_told_by_name(caplog):
    with pytest.raises(RuntimeError, match=r"KeyError: 'ratio'; check that fun accepts a mapping with 'rate', 'width'"):
        search(lambda point: point["ratio"])
    assert "at rate = 0.0" in caplog.text
    assert "g = 0.5, n = 3" in caplog.text


@pytest.mark.parametrize("method", ["cma", "gnn-cma"])
def test_variables_without_a_range_change_no_bit(method):
    """One sigma0, no ranges: the search of today."""
    runs = []
    for arguments in (([1.0, 2.0], 0.5), (Space([Real(x0=1, sigma0=0.5), Real(x0=2, sigma0=0.5)]),)):
        seen = []
        found = minimize(lambda x, seen=seen: seen.append(x) or x @ x, *arguments, method=method, seed=1, max_evals=120)
        runs.append((np.array(seen), found.x, found.std, found.mean))
    for one, two in zip(*runs, strict=True):
        assert np.array_equal(one, two)


def test_bounds_of_one_width_change_no_bit():
    """A range for all coordinates needs no units: the box of today."""
    runs = []
    given = {"x0": [0.5] * 2, "bounds": (-2, 3), "sigma0": 1.5}
    for start in ({"x0": None, "bounds": [(-2, 3)] * 2}, {"x0": Space([Real(-2, 3)] * 2)}, given):
        es = Optimizer(**start, method="cma", seed=1)
        for _ in range(10):
            es.tell(X := es.ask(), (X**2).sum(1))
        runs.append(es.ask())
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[0], runs[2])


def test_scale_gives_the_first_steps():
    es = Optimizer([0.0, 0.0], 0.5, scale=[1e-3, 1e3], method="cma", seed=1)
    np.testing.assert_allclose(es.std, [5e-4, 500.0])
    one = Optimizer([0.0, 0.0], 0.5, scale=10, method="cma", seed=1)
    np.testing.assert_allclose(one.std, 5.0)


def test_injected_points_by_name():
    es = Optimizer(SPACE, method="cma", seed=1)
    known = SPACE.vector_of({"rate": 1e-3, "width": 64, "drop": 0.3})
    es.inject(known)
    assert es.ask()[0].tolist() == known.tolist() == [1e-3, 64, 0.3, 0.5, 3]
    outside = "outside its bounds"
    for i, value, words in ((1, 64.5, "must be a whole number"), (3, 0.6, outside), (0, 0.0, outside)):
        wrong = known.copy()
        wrong[i] = value
        with pytest.raises(ValueError, match=rf"points\[0, {i}\] = .* {words}"):
            es.inject(wrong)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"x0": SPACE, "sigma0": 0.5}, ValueError, "sigma0 is part of the Space"),
        ({"x0": SPACE, "bounds": (0, 1)}, ValueError, "bounds is part of the Space"),
        ({"x0": {"a": (0, 1)}}, TypeError, "x0 describes variables"),
        ({"x0": [Real(0, 1)]}, TypeError, "make it a Space"),
        ({"x0": [1.0, 2.0], "scale": [1.0]}, ValueError, "scale must be one number or one for each of the 2 coordinates"),
        ({"x0": [1.0, 2.0], "scale": -1.0}, ValueError, "scale must be finite and above 0, got -1"),
        ({"x0": [1.0, 2.0], "sigma0": [True, True]}, TypeError, "sigma0[0] must be a number, got True"),
        ({"x0": [1.0, 2.0], "log": [2]}, ValueError, "log must have indices from 0 to 1, got 2"),
        ({"x0": [0.0, 2.0], "log": [0]}, ValueError, "x0[0] = 0 must be above 0, as the coordinate is logarithmic"),
        ({"x0": [1.5, 2.0], "integers": [0]}, ValueError, "x0[0] = 1.5 must be a whole number"),
        ({"x0": [1.0, 2.0], "integers": True}, TypeError, "integers must be a list of indices"),
        ({"x0": [1.0, 2.0], "bounds": [(1, 1), (2, 2)]}, ValueError, "bounds fix all coordinates"),
        ({"x0": None, "bounds": (0, 1)}, ValueError, "leave the number of coordinates open"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, words):
    with pytest.raises(error) as raised:
        minimize(by_vector, **arguments)
    assert words in str(raised.value)
