"""`reevaluate`: evaluate what a run with noisy values has found again, and take the point that holds up."""

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg._common.checks import as_count, shortened
from thalweg.evaluate import Evaluator, Workers
from thalweg.space import Space

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


@dataclass(frozen=True)
class Estimate:
    """A point that was evaluated several times, and its values."""

    x: np.ndarray
    values: np.ndarray
    """The values in the order of evaluation; NaN for failures, which do not count in the average."""

    @property
    def fun(self) -> float:
        """The average; inf if there is no value at all."""
        came = self.values[~np.isnan(self.values)]
        return float(came.mean()) if came.size else np.inf

    @property
    def error(self) -> float:
        """The standard error of the average, docs/math.md (37); inf if it is unknown.

        >>> Estimate(np.zeros(2), np.array([1.0, 3.0, np.nan, 2.0])).error
        0.577
        """
        came = self.values[~np.isnan(self.values)]
        known = came.size > 1 and bool(np.all(np.isfinite(came)))
        return float(came.std(ddof=1) / np.sqrt(came.size)) if known else np.inf


def reevaluate(
    result: "OptimizeResult",
    fun: Callable[..., Any],
    times: int = 30,
    *,
    args: tuple[Any, ...] = (),
    workers: Workers = 1,
    vectorized: bool = False,
    retries: int = 0,
    eval_timeout: float | None = None,
) -> "OptimizeResult":
    """Evaluate what a run has found again, and report what holds up: for noisy objectives.

    The best value seen in a run is the luckiest one, and its point is seldom the best. The mean of the search distribution has
    been averaged over generations. Both are evaluated `times` times with fresh noise; the answer is the mean, unless the point
    with the best value is better by two standard errors, or there are constraints, which the mean may violate.

    >>> import thalweg
    >>> rng = np.random.default_rng(1)
    >>> def noisy(x):
    ...     return x @ x + rng.normal()
    >>> options = {"tolstagnation": 0}
    >>> result = thalweg.minimize(noisy, [2.0, 1.0], method="lra-cma", max_evals=2000, options=options, seed=1)
    >>> again = reevaluate(result, noisy, times=100)
    >>> bool(result.fun < -2), bool(abs(again.fun) < 3 * again.fun_error), bool(abs(again.x).max() < 0.3)
    (True, True, True)

    Args:
        result: The result of `minimize`, `resume` or an `Optimizer`.
        fun: The objective, as in `minimize`; each call draws its noise anew.
        times: Number of evaluations of each of the two points.
        args: Further arguments of fun.
        workers: The workers, as in `minimize`.
        vectorized: True if fun takes many points, (n, d), and returns as many values.
        retries: Number of repetitions of an evaluation that fails.
        eval_timeout: Seconds for one evaluation.

    Returns:
        A copy of the result. `x` is the answer, `fun` the average of its new values and `fun_error` the standard error of that;
        `estimates` has both points, "mean" and "best", with all their values; `nfev` and `failures` count the new evaluations
        too.
    """
    as_count(times, "times", least=2)
    missing = [name for name in ("x", "mean", "nfev", "failures") if name not in result]
    if missing:
        raise ValueError(f"result must be one of thalweg's, got {shortened(result)} without {missing[0]!r}")
    points = {"mean": np.array(result.mean, float), "best": np.array(result.x, float)}
    space: Space | None = result.get("space")
    if space is not None:
        fun = space.objective(fun, "columns" if vectorized else "plain")
    evaluator = Evaluator(fun, args, workers, vectorized=vectorized, retries=retries, eval_timeout=eval_timeout)
    with evaluator as evaluate:
        # in turns, so that what drifts in a simulator meets both alike
        values = evaluate(np.tile(np.stack(list(points.values())), (times, 1))).reshape(times, len(points)).T
    estimates = {name: Estimate(x, own) for (name, x), own in zip(points.items(), values, strict=True)}
    mean, best = estimates["mean"], estimates["best"]
    clearly = best.fun + 2 * hypot(mean.error, best.error) < mean.fun
    limited = "feasible" in result  # the mean may violate constraints
    chosen = "best" if clearly or limited or mean.fun == np.inf else "mean"
    answer = estimates[chosen]
    changed = {
        "x": answer.x,
        "fun": answer.fun,
        "fun_error": answer.error,
        "estimates": estimates,
        "nfev": result.nfev + values.size,
        "failures": result.failures + evaluator.failures,
        "message": f"{result.message} {SENTENCES[chosen].format(times)}",
    }
    if space is not None and space.names is not None:
        changed["point"] = space.point(answer.x)
    return type(result)({**result, **changed})


SENTENCES = {
    "mean": "x is the mean of the search distribution, and fun the average of {} new evaluations there.",
    "best": "x is the point with the best value, and fun the average of {} new evaluations there.",
}
