"""`scipy.optimize.minimize` with our method: scipy's own arguments do what scipy says they do."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import thalweg

START = [-1.0, 1.0]
OPTIONS = {"sigma0": 0.5, "rng": 1, "method": "cma"}


def paraboloid(x: np.ndarray, shift: float = 0.0) -> float:
    return float((x[0] - shift) ** 2 + (x[1] - shift) ** 2)


def minimize(fun: Any = paraboloid, x0: Any = START, **more: Any) -> Any:
    options = OPTIONS | more.pop("options", {})
    return optimize.minimize(fun, x0, method=thalweg.scipy_method, options=options, **more)


def test_the_same_result_as_without_scipy():
    through, direct = minimize(), thalweg.minimize(paraboloid, START, 0.5, method="cma", seed=1)
    assert (through.x.tolist(), through.fun, through.nfev) == (direct.x.tolist(), direct.fun, direct.nfev)
    assert through.success


def test_budgets_and_arguments():
    assert minimize(options={"maxiter": 3}).nit == 3
    assert minimize(options={"maxfev": 25}).nfev == 25
    assert minimize(args=(2.0,)).x == pytest.approx([2, 2], abs=1e-5)
    assert minimize(args=2.0, options={"maxiter": 2}).nit == 2  # scipy makes it a tuple


def test_the_tolerance_ends_the_run_earlier():
    assert minimize(tol=1e-3).nfev < 0.7 * minimize().nfev
    assert minimize(tol=1e-3, options={"options": {"tolx": 1e-12, "tolfun": 1e-12}}).nfev > 0.9 * minimize().nfev


@pytest.mark.parametrize("bounds", [optimize.Bounds([0.5, -5], [5, 5]), [(0.5, None), (None, 5)], ((0.5, 5), (-5, 5))])
def test_bounds_as_scipy_takes_them(bounds):
    result = minimize(x0=[1.0, 1.0], bounds=bounds, options={"maxiter": 60})
    assert result.x == pytest.approx([0.5, 0.0], abs=1e-3)
    assert result.x[0] >= 0.5


@pytest.mark.parametrize(
    "constraint",
    [
        {"type": "ineq", "fun": lambda x, least: x[0] - least, "args": (0.5,)},
        {"type": "eq", "fun": lambda x: x[0] - 0.5},
        optimize.LinearConstraint([[1, 0]], 0.5, np.inf),
        [optimize.NonlinearConstraint(lambda x: x[0], 0.5, np.inf)],
    ],
)
def test_constraints_as_scipy_takes_them(constraint):
    assert minimize(constraints=constraint).x == pytest.approx([0.5, 0.0], abs=1e-3)


@pytest.mark.parametrize("bad", [{"type": "le", "fun": paraboloid}, {"type": "eq"}, {"fun": paraboloid}])
def test_constraints_by_a_wrong_dictionary(bad):
    with pytest.raises(ValueError, match="constraints by dictionary have a 'type'"):
        minimize(constraints=bad)


def test_both_kinds_of_callback():
    points, results = [], []

    def by_point(xk: np.ndarray) -> None:
        points.append(xk)

    def by_result(intermediate_result: Any) -> None:
        results.append(intermediate_result)

    end = minimize(callback=by_point, options={"maxiter": 3})
    minimize(callback=by_result, options={"maxiter": 3})
    assert [x.tolist() for x in points] == [result.x.tolist() for result in results]
    assert len(points) == 3
    assert points[-1].tolist() == end.x.tolist()
    assert results[-1].fun == end.fun


def test_a_callback_ends_the_run():
    def enough(xk: np.ndarray) -> None:
        raise StopIteration

    assert minimize(callback=enough).nit == 1


@pytest.mark.parametrize("derivative", [{"jac": lambda x: 2 * x}, {"hess": lambda x: np.eye(2)}, {"hessp": lambda x, p: 2 * p}])
def test_derivatives_are_ignored_with_a_warning(derivative):
    with pytest.warns(RuntimeWarning, match=f"ignores {next(iter(derivative))}"):
        result = minimize(options={"maxiter": 2}, **derivative)
    assert result.fun == minimize(options={"maxiter": 2}).fun


def test_values_with_gradients():
    with pytest.warns(RuntimeWarning, match="ignores jac"):
        result = minimize(lambda x: (paraboloid(x), 2 * x), jac=True, options={"maxiter": 2})
    assert result.fun == minimize(options={"maxiter": 2}).fun


def test_disp_shows_the_progress(capsys):
    minimize(options={"maxiter": 2})
    assert capsys.readouterr().err == ""
    minimize(options={"maxiter": 2, "disp": True})
    assert "12 evaluations" in capsys.readouterr().err


@pytest.mark.parametrize("rng", [3, np.random.SeedSequence(3)])
def test_rng_is_the_seed(rng):
    by_seed = thalweg.minimize(paraboloid, START, 0.5, method="cma", seed=rng, max_iter=2)
    assert thalweg.minimize(paraboloid, START, 0.5, method="cma", rng=rng, max_iter=2).fun == by_seed.fun


def test_one_name_of_the_seed():
    with pytest.raises(TypeError, match="seed and rng are two names"):
        thalweg.minimize(paraboloid, START, seed=1, rng=1)


def test_swapped_arguments():
    with pytest.raises(TypeError, match=r"fun must be callable, got \[-1.0, 1.0\], and x0 is callable: .*minimize\(fun, x0\)"):
        thalweg.minimize(START, paraboloid)  # pyright: ignore[reportArgumentType]


def test_swapped_arguments_of_scipy():
    with pytest.raises(TypeError, match=r"pass the function first"):
        optimize.minimize(START, paraboloid, method=thalweg.scipy_method)  # pyright: ignore


def test_options_by_our_own_names():
    assert minimize(options={"max_evals": 30}).nfev == minimize(options={"maxfev": 30}).nfev == 30
    assert minimize(options={"max_iter": 3}).nit == 3
    loose = minimize(options={"tolx": 1e-2})
    assert "tolx" in loose.stop
    assert loose.nfev == minimize(options={"options": {"tolx": 1e-2}}).nfev


def test_an_unknown_option_says_what_was_meant():
    with pytest.raises(TypeError, match=r"options have 'maxit'; did you mean 'maxiter'\?"):
        minimize(options={"maxit": 3})
    with pytest.raises(TypeError, match=r"options have 'gtol'.* 'tolfun'"):
        minimize(options={"gtol": 1e-3})


def test_inside_other_algorithms_of_scipy():
    local = {"method": thalweg.scipy_method, "options": {**OPTIONS, "maxiter": 5}}
    result = optimize.basinhopping(paraboloid, START, niter=2, minimizer_kwargs=local, rng=1)
    assert result.fun < paraboloid(np.array(START))
