"""`minimize`: the one loop, in one call."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from thalweg import checkpoint as checkpoints
from thalweg.evaluate import Evaluator, Interrupted, Workers
from thalweg.optimizer import Optimizer
from thalweg.progress import Progress
from thalweg.restarts import Start, Tally, start_of
from thalweg.stopping import Budget, spent
from thalweg.types import Strategy
from thalweg.validation import Seed, as_count, as_seed, shortened

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
        x0: The start, of shape (d,).
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
    restarts = as_count(restarts, "restarts", least=0)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {shortened(callback)}")
    budget = Budget.checked(max_evals, max_iter, ftarget, timeout)
    stored = {} if checkpoint is None or not os.path.exists(checkpoint) else checkpoints.read(checkpoint)[0]["extra"]
    number: int = stored["seed"] if seed is None and stored else as_seed(seed)
    per_run = None if restarts or not budget.limited else inf  # None: the default limit on generations

    def make(start: Start) -> Optimizer:
        return Optimizer(
            start.x0,
            sigma0,
            method=method,
            popsize=start.popsize,
            bounds=bounds,
            seed=start.seed,
            max_iter=per_run,
            options=options,
        )

    es = first = make(Start(x0, popsize, number))
    if checkpoint is not None:
        checkpoints.check(first, checkpoint)
    with Evaluator(fun, args, workers, vectorized=vectorized) as evaluate:
        job = Job(evaluate, budget, number, callback, Progress(enabled=progress, budget=budget), checkpoint)
        if stored:
            job.tally = Tally(**stored["tally"])
            es = make(start_of(job.tally.runs, first.x0, first.box, first.popsize, number)) if job.tally.runs else first
            job.resume(es)
        while True:
            reasons = job.run(es)
            result = job.result(es, reasons)
            logger.info("%s", result.message)
            if job.tally.runs >= restarts or not reasons.keys().isdisjoint(FINAL) or job.spent(es):
                break
            job.tally = job.tally.add(es.report(reasons))
            es = make(start_of(job.tally.runs, first.x0, first.box, first.popsize, number))
        job.progress.show(result, job.elapsed, final=True)
    return result


FINAL = ("ftarget", "callback", "interrupt")
"""Reasons after which nothing is begun again; a budget that is used up is another."""


@dataclass
class Job:
    """One call of `minimize`: what all its runs share."""

    evaluate: Evaluator
    budget: Budget
    seed: int
    callback: "Callable[[OptimizeResult], Any] | None"
    progress: Progress
    checkpoint: str | os.PathLike[str] | None
    tally: Tally = field(default_factory=Tally)
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start, over interruptions."""
        return time.monotonic() - self.started

    def run(self, es: Optimizer) -> dict[str, float]:
        """Run until there is a reason to stop."""
        try:
            while not (reasons := es.stop() | self.spent(es)):
                self.generation(es)
        except KeyboardInterrupt:
            es.halt("interrupt")
            reasons = es.stop()
        return reasons

    def generation(self, es: Optimizer) -> None:
        """Ask, evaluate, tell."""
        X = es.ask()
        failures = self.evaluate.failures
        try:
            F = self.evaluate(X, None if self.budget.timeout is None else max(0.0, self.budget.timeout - self.elapsed))
        except Interrupted as interrupt:
            es.abandon(X, interrupt.values)
            raise
        es.failures += self.evaluate.failures - failures
        es.tell(X, F)
        if self.checkpoint is not None:
            more = {"tally": asdict(self.tally), "seed": self.seed, "elapsed": self.elapsed}
            checkpoints.save(es, self.checkpoint, {**more, "first_failure": self.evaluate.first_failure})
        if self.progress.enabled or self.callback is not None:
            seen = self.result(es, es.stop())
            self.progress.show(seen, self.elapsed)
            try:
                if self.callback is not None:
                    self.callback(seen)
            except StopIteration:
                es.halt("callback")

    def spent(self, es: Optimizer) -> dict[str, float]:
        """What of the budget for all runs is used up."""
        best = min(self.tally.fun, es.best.f)
        return spent(self.budget, self.tally.nfev + es.nfev, self.tally.nit + es.nit, best, self.elapsed)

    def result(self, es: Optimizer, reasons: Mapping[str, float]) -> "OptimizeResult":
        """The result over all runs so far."""
        result = self.tally.include(es.report(reasons))
        result.update(seed=self.seed, first_failure=self.evaluate.first_failure)
        return result

    def resume(self, es: Optimizer) -> None:
        """Continue from the checkpoint."""
        extra = checkpoints.restore(es, self.checkpoint or "")
        self.started -= extra["elapsed"]
        self.evaluate.first_failure = extra["first_failure"]
        self.evaluate.answered = True
        logger.info("continuing from %s after %d evaluations", self.checkpoint, self.tally.nfev + es.nfev)
