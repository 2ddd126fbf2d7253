"""The result of a search: scipy's `OptimizeResult`, with further fields of an evolution strategy."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.search.campaign import Best
from thalweg.search.constraints import Lagrangian
from thalweg.search.stopping import verdict

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

    from thalweg.search.printable import Result


def make_result(
    x: np.ndarray, fun: float, nfev: int, nit: int, reasons: Mapping[str, float], *, resolved: bool, **more: Any
) -> "Result":
    """Return the result of a run that ended for these reasons; without any, that of a run which still goes on.

    >>> make_result(np.zeros(2), 0.0, nfev=60, nit=10, reasons={"ftarget": 0.0}, resolved=True).message
    'The target value ftarget = 0 was reached.'
    """
    from thalweg.search.printable import Result  # scipy.optimize takes half as long to import as JAX; `thalweg` need not wait

    status, success, message = verdict(reasons, resolved=resolved)
    if nfev > 0 and np.isposinf(fun):
        message += " No finite value was found."
    return Result(
        x=x,
        fun=fun,
        nfev=nfev,
        nit=nit,
        success=success and bool(np.isfinite(fun) or fun == -np.inf),
        status=status,
        message=message,
        stop=dict(reasons),
        **more,
    )


def add_constraints(result: "OptimizeResult", best: Best, lagrangian: Lagrangian) -> None:
    """Add what constraints make of a result: `feasible`, `violation`, `constr` at x and the `multipliers` of the last run."""
    kinds = lagrangian.kinds
    rows = np.full(kinds.number, np.nan) if best.rows is None else best.rows
    result.update(
        feasible=best.violation == 0,
        violation=best.violation,
        constr=rows.copy(),
        equality=kinds.equal,
        multipliers=lagrangian.multipliers.copy(),
    )


def conclude(result: "OptimizeResult", best: Best, lagrangian: Lagrangian | None) -> None:
    """Let the result of all runs show the best point's constraints, and say so if it is not feasible."""
    if lagrangian is None:
        return
    add_constraints(result, best, lagrangian)
    if not result.feasible:
        found = "" if np.isinf(best.violation) else f" The largest violation at x is {best.violation:g}."
        result.update(success=False, message=f"{result.message} No feasible point was found.{found}")
