"""`minimize`: the one loop, in one call."""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thalweg import checkpoint as checkpoints
from thalweg.evaluate import Evaluator, Interrupted, Workers
from thalweg.progress import Progress
from thalweg.restarting import RestartingOptimizer, read_account
from thalweg.types import Strategy
from thalweg.validation import Seed, shortened

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    sigma0: float = 1.0,
    *,
    method: str | Strategy = "gnn-cma",
    args: tuple[Any, ...] = (),
    bounds: Any = None,
    popsize: int | None = None,
    max_evals: float | None = None,
    max_iter: float | None = None,
    ftarget: float | None = None,
    timeout: float | None = None,
    restarts: int = 0,
    bipop: bool = False,
    seed: Seed = None,
    workers: Workers = 1,
    vectorized: bool = False,
    callback: "Callable[[OptimizeResult], Any] | None" = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> "OptimizeResult":
    """Minimise a black-box function with an evolution strategy; by default GNN-CMA-ES.

    >>> result = minimize(lambda x: (x[0] - 3) ** 2 + (x[1] + 1) ** 2, [0.0, 0.0], method="cma", seed=1, ftarget=1e-10)
    >>> result.x.round(3).tolist(), result.success
    ([3.0, -1.0], True)

    Args:
        fun: Called as fun(x, *args) with x of shape (d,); returns a number. NaN, None or an exception make the point rank last.
        x0: The start, of shape (d,); or a callable that draws the start of each run from a numpy Generator.
        sigma0: The first standard deviation in every coordinate: about a third of the distance to where the minimum may be.
        method: A name out of `thalweg.METHODS`, or a strategy.
        args: Further arguments of fun.
        bounds: Pairs (low, high), one pair for all coordinates, or `scipy.optimize.Bounds`; None is an open side.
        popsize: Points per generation; by default 4 + 3 ln d.
        max_evals: Stop after the generation that reaches this number of evaluations.
        max_iter: Stop after this number of generations. Without any budget: pycma's limit.
        ftarget: Stop when a value is at or below it.
        timeout: Stop after this number of seconds; evaluations in executors that are still running then are given up.
        restarts: How often to begin again, with twice the population, while there is budget; fresh points in closed bounds.
        bipop: Whether to spend half of the evaluations on runs with smaller populations and steps, which are not counted in
            `restarts` (BIPOP: Hansen 2009).
        seed: A whole number, None, a numpy Generator or SeedSequence. The result says which was used.
        workers: A number of processes (-1: one for each CPU), a map-like callable, or any `concurrent.futures.Executor`.
        vectorized: Whether fun takes the whole generation, (popsize, d), and returns as many values.
        callback: Called as callback(intermediate_result) after each generation; StopIteration ends the run.
        progress: Whether to show a line on stderr.
        checkpoint: A file to write after each generation; if it exists, the run continues from there to the same result.
        options: Fields of the strategy and stop tolerances, by name; see `thalweg.Optimizer`.

    Returns:
        scipy's OptimizeResult: x, fun, nfev, nit, success, status, message, and stop, sigma, mean, std, popsize, method, seed,
        restarts, failures, first_failure, info.
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {shortened(callback)}")
    written = checkpoint if checkpoint is not None and os.path.exists(checkpoint) else None
    if seed is None and written is not None:
        seed = read_account(written)["config"]["seed"]
    es = RestartingOptimizer(
        x0,
        sigma0,
        restarts=restarts,
        bipop=bipop,
        method=method,
        popsize=popsize,
        bounds=bounds,
        seed=seed,
        max_evals=max_evals,
        max_iter=max_iter,
        ftarget=ftarget,
        timeout=timeout,
        options=options,
    )
    if checkpoint is not None:
        checkpoints.check(es.run, checkpoint)
    with Evaluator(fun, args, workers, vectorized=vectorized) as evaluate:
        job = Job(es, evaluate, callback, Progress(enabled=progress, budget=es.budget), checkpoint)
        if written is not None:
            job.resume(written)
        try:
            while not es.stop():
                job.generation()
        except KeyboardInterrupt:
            es.halt("interrupt")
        result = job.result()
        logger.info("%s", result.message)
        job.progress.show(result, es.elapsed, final=True)
    return result


@dataclass
class Job:
    """One call of `minimize`."""

    es: RestartingOptimizer
    evaluate: Evaluator
    callback: "Callable[[OptimizeResult], Any] | None"
    progress: Progress
    checkpoint: str | os.PathLike[str] | None

    def generation(self) -> None:
        """Ask, evaluate, tell."""
        es, timeout = self.es, self.es.budget.timeout
        X = es.ask()
        failures = self.evaluate.failures
        try:
            F = self.evaluate(X, None if timeout is None else max(0.0, timeout - es.elapsed))
        except Interrupted as interrupt:
            es.abandon(X, interrupt.values)
            raise
        es.run.failures += self.evaluate.failures - failures
        es.tell(X, F)
        if self.checkpoint is not None:
            es.save(self.checkpoint, {"first_failure": self.evaluate.first_failure})
        if self.progress.enabled or self.callback is not None:
            seen = self.result()
            self.progress.show(seen, es.elapsed)
            try:
                if self.callback is not None:
                    self.callback(seen)
            except StopIteration:
                es.halt("callback")

    def result(self) -> "OptimizeResult":
        """The result over all runs so far."""
        result = self.es.result
        result.first_failure = self.evaluate.first_failure
        return result

    def resume(self, written: str | os.PathLike[str]) -> None:
        """Continue from the checkpoint."""
        extra = self.es.restore(written)
        self.evaluate.first_failure = extra["first_failure"]
        self.evaluate.answered = True
        logger.info("continuing from %s after %d evaluations", written, self.es.nfev)
