"""`scipy_method`: a method for `scipy.optimize.minimize`, with scipy's names for budgets, tolerance, seed and callback."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg._common.checks import Seed, listed, one_of, shortened
from thalweg.search.constraints import ConstraintsLike
from thalweg.search.minimize import minimize
from thalweg.search.stopping import Tolerances
from thalweg.space import BoundsLike, Start

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

DERIVATIVES = ("jac", "hess", "hessp")
OWN = {"fun", "x0", "args", "bounds", "constraints", "callback"}
"""Arguments of scipy's own, which are no options."""
NAMES = {"maxiter", "maxfev", "disp", *inspect.signature(minimize).parameters} - OWN


def scipy_method(
    fun: Callable[..., Any],
    x0: Start,
    args: tuple[Any, ...] = (),
    *,
    bounds: BoundsLike = None,
    constraints: ConstraintsLike = (),
    callback: Callable[..., Any] | None = None,
    tol: float | None = None,
    maxiter: float | None = None,
    maxfev: float | None = None,
    disp: bool = False,
    rng: Seed = None,
    options: Mapping[str, Any] | None = None,
    **more: Any,
) -> "OptimizeResult":
    """Minimise for `scipy.optimize.minimize(fun, x0, method=thalweg.scipy_method, options=...)`.

    >>> import scipy.optimize
    >>> options = {"sigma0": 0.5, "rng": 1, "maxfev": 2000}
    >>> scipy.optimize.minimize(scipy.optimize.rosen, [-1.0, 1.0], method=scipy_method, options=options).x.round(3).tolist()
    [1.0, 1.0]

    Args:
        fun: The objective.
        x0: The start.
        args: Further arguments of fun.
        bounds: As scipy takes them: `Bounds`, or a pair (low, high) for each coordinate.
        constraints: As scipy takes them: `LinearConstraint`, `NonlinearConstraint`, dictionaries with type and fun, or a list.
        callback: Called after each generation, as scipy tells them apart by the name of the argument: `callback(xk)` with the
            best point so far, or `callback(intermediate_result)` with the result so far. StopIteration ends the run.
        tol: The tolerances `tolx` and `tolfun`, unless `options` has them.
        maxiter: The maximal number of generations.
        maxfev: The maximal number of evaluations.
        disp: True to show the progress on stderr, a line every ten seconds where it is no terminal.
        rng: A whole number, None, a numpy Generator or SeedSequence.
        options: Options of `thalweg.minimize`, which takes a mapping of that name too.
        more: Further arguments of `thalweg.minimize`, such as sigma0, popsize, workers or model, and tolerances, such as tolx.
            Derivatives (jac, hess, hessp) are ignored with a warning.

    Returns:
        The result of `thalweg.minimize`.
    """
    given = [name for name in DERIVATIVES if more.pop(name, None) is not None]
    if given:
        warnings.warn(f"scipy_method needs no derivatives and ignores {', '.join(given)}", RuntimeWarning, stacklevel=3)
    tolerances = {} if tol is None else {"tolx": tol, "tolfun": tol}
    tolerances |= {name: more.pop(name) for name in Tolerances().values if name in more}
    if unknown := sorted(more.keys() - NAMES):
        names = [*sorted(NAMES), *Tolerances().values]
        raise TypeError(f"options have {listed(unknown)}; {one_of(unknown[0], names, 'they may have')}")
    if isinstance(x0, np.ndarray) and x0.dtype == object and x0.size == 1:
        x0 = x0.item()  # scipy has made an array of a function, which `minimize` knows for swapped arguments
    budgets: dict[str, Any] = {"max_iter": maxiter, "max_evals": maxfev, "progress": disp, "rng": rng}
    found = [_constraint(each) for each in (constraints if isinstance(constraints, list | tuple) else [constraints])]
    return minimize(
        fun,
        x0,
        args=args,
        bounds=bounds,
        constraints=found or None,
        callback=None if callback is None else _callback(callback),
        options={**tolerances, **(options or {})},
        **budgets | more,
    )


def _callback(callback: Callable[..., Any]) -> "Callable[[OptimizeResult], Any]":
    """Return the callback as `minimize` calls it."""
    try:
        names = set(inspect.signature(callback).parameters)
    except (TypeError, ValueError):  # a builtin has no signature
        names = set[str]()
    if names == {"intermediate_result"}:
        return lambda result: callback(intermediate_result=result)
    return lambda result: callback(result.x.copy())


def _constraint(constraint: Any) -> Any:
    """Return a constraint as an object of scipy; one by dictionary says that fun(x, *args) is at least 0, or 0."""
    if not isinstance(constraint, Mapping):
        return constraint
    from scipy.optimize import NonlinearConstraint

    kind, fun = constraint.get("type"), constraint.get("fun")
    kind = kind.lower() if isinstance(kind, str) else kind
    if kind not in ("ineq", "eq") or not callable(fun):
        raise ValueError(
            f"constraints by dictionary have a 'type', 'ineq' or 'eq', and a callable 'fun', got {shortened(constraint)}"
        )
    own = tuple(constraint.get("args", ()))
    return NonlinearConstraint(partial(_call, fun, own) if own else fun, 0.0, 0.0 if kind == "eq" else float("inf"))


def _call(fun: Callable[..., Any], args: tuple[Any, ...], x: Any) -> Any:
    return fun(x, *args)
