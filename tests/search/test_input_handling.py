"""Bad input: one clear error each, which names the argument and the value."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

from thalweg.search.minimize import minimize
from thalweg.search.optimizer import Optimizer
from thalweg.strategies.registry import METHODS, make_strategy, with_popsize

not_finite = st.sampled_from([float("nan"), float("inf"), -float("inf")])
no_numbers = st.sampled_from(["text", None, object(), {}, b"1", 1j, [1, 2]])


def make(x0: Any = (1.0, 2.0), sigma0: Any = 1.0, **more: Any) -> Optimizer:
    return Optimizer(x0, sigma0, **{"method": "cma", **more})


@given(st.floats(max_value=0.0) | not_finite)
def test_sigma0_not_above_zero(sigma0):
    with pytest.raises(ValueError, match="sigma0 must be") as error:
        make(sigma0=sigma0)
    assert f"{sigma0:g}" in str(error.value)


@given(no_numbers.filter(lambda value: value is not None and value != [1, 2]))
def test_sigma0_no_number(sigma0):
    with pytest.raises(TypeError, match="sigma0 must be a number, got"):
        make(sigma0=sigma0)


@pytest.mark.parametrize("sigma0", [["1", "2"], [[1], [1, 2]], [1j, 1], [True, 1], [object(), 1]])
def test_sigma0_of_coordinates_no_numbers(sigma0):
    with pytest.raises((TypeError, ValueError), match=r"sigma0(\[0\])? must be a"):
        make(sigma0=sigma0)


@given(st.integers(0, 1), st.floats(max_value=0.0) | not_finite)
def test_sigma0_of_a_coordinate_not_above_zero(i, bad):
    sigma0 = [0.5, 0.5]
    sigma0[i] = bad
    with pytest.raises(ValueError, match=rf"^sigma0\[{i}\] must be .*got "):
        make(sigma0=sigma0)


@given(st.lists(st.floats(0.1, 10), max_size=5).filter(lambda steps: len(steps) != 2))
def test_sigma0_of_another_number_of_coordinates(sigma0):
    with pytest.raises(ValueError, match=rf"^sigma0 must be .* each of the 2 coordinates, got shape \({len(sigma0)},\); pass"):
        make(sigma0=sigma0)


@given(st.lists(st.floats(-10, 10), max_size=4), not_finite, st.lists(st.floats(-10, 10), max_size=4))
def test_x0_not_finite(before, bad, after):
    with pytest.raises(ValueError, match=rf"x0 must be finite, got x0\[{len(before)}\] = {bad}"):
        make([*before, bad, *after])


@given(st.lists(st.integers(0, 3), min_size=2, max_size=4))
def test_x0_of_the_wrong_shape(shape):
    with pytest.raises(ValueError, match=r"x0 must be one point of shape \(d,\), got shape \(\d, "):
        make(np.zeros(shape))


def test_x0_empty():
    with pytest.raises(ValueError, match="x0 must have at least one coordinate"):
        make([])


@pytest.mark.parametrize("x0", ["abc", [1j], [[1], [1, 2]], ["1", "2"]])
def test_x0_no_numbers(x0):
    with pytest.raises(TypeError, match="x0 must be an array of real numbers, got"):
        make(x0)


def test_x0_by_name_is_no_space():
    with pytest.raises(TypeError, match=r"x0 describes variables, {'a': 1}; make it a Space"):
        make({"a": 1})


@pytest.mark.parametrize("bounds", [None, (0, 1), (None, 5), Bounds(0, 5), []])
def test_no_x0_and_no_number_of_coordinates(bounds):
    with pytest.raises(ValueError, match=r"^x0 is None and .*bounds.*; pass the start, such as x0=\[0.0, 0.0\], or bounds"):
        make(None, bounds=bounds)


@given(st.integers(max_value=1))
def test_popsize_below_two(popsize):
    with pytest.raises(ValueError, match=f"popsize must be at least 2, got {popsize}"):
        make(popsize=popsize)


def test_popsize_no_whole_number():
    with pytest.raises(ValueError, match=r"popsize must be a whole number, got 6\.5"):
        make(popsize=6.5)
    with pytest.raises(TypeError, match="popsize must be a number, got 'six'"):
        make(popsize="six")


@given(st.sampled_from(["max_evals", "max_iter"]), st.integers(max_value=0))
def test_budgets_below_one(name, value):
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got {value}"):
        make(**{name: value})


def test_budgets_of_other_kinds():
    assert make(max_evals=1e4).campaign.budget.max_evals == 10000
    with pytest.raises(ValueError, match=r"max_evals must be a whole number, got 1\.5"):
        make(max_evals=1.5)
    with pytest.raises(ValueError, match="timeout must be finite and above 0, got -1"):
        make(timeout=-1)
    with pytest.raises(ValueError, match="ftarget must be a number, got nan"):
        make(ftarget=np.nan)
    with pytest.raises(TypeError, match="ftarget must be a number, got '0'"):
        make(ftarget="0")


@given(st.integers(max_value=-1))
def test_negative_seed(seed):
    with pytest.raises(ValueError, match=f"seed must be 0 or above, got {seed}"):
        make(seed=seed)


@pytest.mark.parametrize("seed", ["0", 1.5, True, [1]])
def test_seed_of_the_wrong_type(seed):
    with pytest.raises(TypeError, match="seed must be a whole number, None, a numpy Generator or SeedSequence, got"):
        make(seed=seed)


@given(st.floats(5.01, 1e6) | st.floats(-1e6, -5.01))
def test_x0_outside_the_bounds(value):
    with pytest.raises(ValueError, match=r"x0\[1\] = .* lies outside its bounds \(-5, 5\); move it inside"):
        make([0.0, value], bounds=(-5, 5))


@given(st.floats(-1e3, 1e3), st.floats(0, 1e3))
def test_inverted_bounds_and_bounds_that_leave_nothing(high, gap):
    with pytest.raises(ValueError, match=r"bounds (of coordinate 0 are (inverted|closer)|fix all coordinates)"):
        make([high], bounds=[(high + gap, high)])


@given(st.sampled_from([np.inf, -np.inf]), st.booleans())
def test_infinite_bounds(value, lower):
    with pytest.raises(ValueError, match=r"bounds of coordinate 0 .* use None for an open side"):
        make([0.0], bounds=[(value, 1.0) if lower else (-1.0, value)])


def test_unknown_method():
    with pytest.raises(ValueError, match=r"method 'gnn-cm' is unknown.*'gnn-cma'") as error:
        make(method="gnn-cm")
    for name in METHODS:
        assert repr(name) in str(error.value)
    with pytest.raises(ValueError, match="method 'qqqq' is unknown; the names are"):
        make(method="qqqq")
    for bad in (3, None, make):
        with pytest.raises(TypeError, match="method must be a name or a strategy, got"):
            make(method=bad)


def test_unknown_options():
    with pytest.raises(
        ValueError, match="option 'width' is unknown to method 'cma'; its options are 'defaults', 'active', 'tolx', 'tolfun'"
    ):
        make(options={"width": 3})
    with pytest.raises(ValueError, match=r"option 'width' is unknown to method 'gnn-xnes'; .* 'flow', 'step', 'frame', 'rate'"):
        make(method="gnn-xnes", options={"width": 3})
    with pytest.raises(
        ValueError,
        match=r"option 'flow' must be an object or a name, got 'nicer'; did you mean 'nice'\? The names are 'nice', 'realnvp'",
    ):
        make(method="gnn-cma", options={"flow": "nicer"})
    with pytest.raises(
        ValueError, match=r"option 'tolfum' is unknown to method 'cma'; did you mean 'tolfun'\? .* 'tolfunhist'"
    ):
        make(options={"tolfum": 1e-4})
    with pytest.raises(ValueError, match="option 'max_evals' is an argument of its own; pass max_evals=100"):
        make(options={"max_evals": 100})
    with pytest.raises(ValueError, match="options 'active'"):
        make(method=make_strategy("cma"), options={"active": False})


def test_unhashable_strategy():
    with pytest.raises(TypeError, match="must be hashable"):
        make(options={"active": [True]})


def test_options_reach_the_strategy():
    assert make(options={"active": False, "tolx": 1e-3}).strategy == make_strategy("cma", active=False)
    assert make_strategy("gnn-cma", flow="identity", active=False).latent.active is False  # type: ignore[attr-defined]


def test_popsize_of_a_strategy_object():
    assert make(method=make_strategy("cma"), popsize=9).popsize == 9
    assert make_strategy(make_strategy("gnn-cma"), popsize=9).population(3) == 9

    class Fixed:
        def population(self, d: int) -> int:
            return 3

    with pytest.raises(ValueError, match="popsize"):
        with_popsize(Fixed(), 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"fun": 3}, TypeError, "fun must be callable, got 3"),
        ({"args": 3}, TypeError, "args must be a tuple"),
        ({"callback": 3}, TypeError, "callback must be callable, got 3"),
        ({"restarts": -1}, ValueError, "restarts must be at least 0, got -1"),
        ({"workers": 0}, ValueError, "workers must be at least 1, got 0"),
        ({"workers": "2"}, TypeError, r"workers must be a whole number, not in quotes, .* got '2'; the names are 'processes'"),
        ({"workers": "rey"}, TypeError, "workers .* got 'rey'; did you mean 'ray'"),
        ({"workers": 2j}, TypeError, r"workers must be a whole number, .*Executor, .*Dask\(...\), got 2j"),
        ({"workers": 2, "vectorized": True}, ValueError, "leave workers=2 out"),
        ({"workers": map, "vectorized": True}, ValueError, "leave workers out"),
        (
            {"workers": 2, "args": ((i for i in ()),)},
            ValueError,
            "cannot be pickled .* pass workers=ThreadPoolExecutor",
        ),
        ({"workers": map, "eval_timeout": 1}, ValueError, "a map cannot keep to eval_timeout"),
        ({"vectorized": True, "eval_timeout": 1}, ValueError, "cannot keep to eval_timeout"),
        ({"eval_timeout": 0}, ValueError, "eval_timeout must be finite and above 0, got 0"),
        ({"retries": -1}, ValueError, "retries must be at least 0, got -1"),
        ({"log": 3}, TypeError, "log must be the name of a file, True, False or None, got 3"),
        ({"log": True}, ValueError, "log=True puts the log beside the checkpoint"),
    ],
)
def test_bad_arguments_of_minimize(arguments, error, words):
    fun = arguments.pop("fun", lambda x: 0.0)
    with pytest.raises(error, match=words):
        minimize(fun, [1.0, 2.0], method="cma", **arguments)


@pytest.mark.parametrize("name", ["vectorized", "asynchronous", "bipop"])
@given(value=no_numbers | st.integers())
def test_flags_that_are_none(name, value):
    with pytest.raises(TypeError, match=f"{name} must be True or False, got"):
        minimize(sum, [1.0, 2.0], method="cma", **{name: value})
