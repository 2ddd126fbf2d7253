"""`minimize`: the one loop, in one call."""

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from thalweg._common.checks import Seed, as_flag, listed, shortened
from thalweg.evaluate import Evaluator, Workers
from thalweg.search import checkpoint as checkpoints
from thalweg.search.asynchronous import Stream
from thalweg.search.loop import Generations
from thalweg.search.optimizer import RestartingOptimizer, read_account
from thalweg.search.progress import Progress
from thalweg.storage.log import open_log, read_log
from thalweg.strategies.strategy import Strategy

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")

CONTINUED = ("args", "workers", "vectorized", "retries", "eval_timeout", "callback", "progress", "log", "asynchronous")
"""Arguments of `minimize` that a checkpoint does not hold, and that `resume` takes."""


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
    asynchronous: bool = False,
    callback: "Callable[[OptimizeResult], Any] | None" = None,
    progress: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    log: str | os.PathLike[str] | bool | None = None,
    retries: int = 0,
    eval_timeout: float | None = None,
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
        timeout: Stop after this number of seconds; evaluations by workers that are still running then are given up.
        restarts: How often to begin again, with twice the population, while there is budget; fresh points in closed bounds.
        bipop: Whether to spend half of the evaluations on runs with smaller populations and steps, which are not counted in
            `restarts` (BIPOP: Hansen 2009).
        seed: A whole number, None, a numpy Generator or SeedSequence. The result says which was used.
        workers: A number of processes (-1: one for each CPU), a map-like callable, any `concurrent.futures.Executor`,
            `thalweg.Ray(...)` or `thalweg.Dask(...)`.
        vectorized: Whether fun takes the whole generation, (popsize, d), and returns as many values.
        asynchronous: Whether to keep all workers busy: a point is begun as soon as a worker is free, and values teach when they
            come, however late. For evaluations that take different times; the result then depends on who is quicker.
        callback: Called as callback(intermediate_result) after each generation; StopIteration ends the run.
        progress: Whether to show a line on stderr.
        checkpoint: A file to write after each generation; if it exists, the run continues from there to the same result.
        log: Where to record every evaluation as soon as it has finished: a file x.jsonl or a folder x.parquet. By default the
            checkpoint's name with .jsonl after it; a run that continues reads there what need not be evaluated again. False:
            nowhere.
        retries: How often to repeat an evaluation that raises, returns no number (NaN counts as one), takes longer than
            `eval_timeout`, or whose worker dies. Then it ranks last.
        eval_timeout: Seconds for one evaluation. It then ends with its worker, which is replaced; executors cannot end theirs,
            so that the worker stays busy. With one worker too it takes a process of its own.
        options: Fields of the strategy and stop tolerances, by name; see `thalweg.Optimizer`.

    Returns:
        scipy's OptimizeResult: x, fun, nfev, nit, success, status, message, and stop, sigma, mean, std, popsize, method, seed,
        restarts, failures, first_failure, info.
    """
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {shortened(callback)}")
    vectorized, asynchronous = as_flag(vectorized, "vectorized"), as_flag(asynchronous, "asynchronous")
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
    extra = {} if written is None else es.restore(written)
    place = log_path(log, checkpoint, vectorized=vectorized)
    with contextlib.ExitStack() as stack:
        since = (es.schedule.runs, es.run.nit)
        past = read_log(place) if asynchronous and written is not None and place and os.path.exists(place) else []
        kept = None if place is None else stack.enter_context(open_log(place, resume=written is not None, since=since))
        evaluator = Evaluator(fun, args, workers, vectorized=vectorized, retries=retries, eval_timeout=eval_timeout)
        evaluate = stack.enter_context(evaluator)
        if written is not None:
            evaluate.first_failure, evaluate.answered = extra.get("first_failure"), es.nfev > 0
            logger.info("continuing from %s after %d evaluations", written, es.nfev)
        shown = Progress(enabled=progress, budget=es.budget)
        if asynchronous:
            if not evaluate.takes_single_points:
                raise ValueError("asynchronous=True needs workers that take single points: a number, an executor, Ray or Dask")
            return Stream(es, evaluate, callback, shown, checkpoint, kept, past).run()
        return Generations(es, evaluate, callback, shown, checkpoint, kept).run()


def resume(
    checkpoint: str | os.PathLike[str],
    fun: Callable[..., Any],
    *,
    method: str | Strategy | None = None,
    x0: Any = None,
    max_evals: float | None = None,
    max_iter: float | None = None,
    ftarget: float | None = None,
    timeout: float | None = None,
    **more: Any,
) -> "OptimizeResult":
    """Continue a run of `minimize` from its checkpoint, to the same result as if it had never been interrupted.

    >>> path = getfixture("tmp_path") / "run.ckpt"
    >>> first = minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_evals=60, checkpoint=path)
    >>> resume(path, lambda x: x @ x, max_evals=120).nfev
    120

    Args:
        checkpoint: The file, which is written again as the run goes on.
        fun: The objective; the file does not hold it.
        method: The strategy, if it was an object and not a name; so `x0`, if it was a callable.
        x0: See above.
        max_evals: A new budget; so `max_iter`, `ftarget` and `timeout`. None: as in the file.
        max_iter: See above.
        ftarget: See above.
        timeout: See above; it counts from the beginning of the run, without the time between.
        more: args, workers, vectorized, retries, eval_timeout, callback, progress, log,
            asynchronous: as in `minimize`.

    Returns:
        As `minimize`.
    """
    if not os.path.exists(checkpoint):
        raise FileNotFoundError(f"there is no checkpoint {os.fspath(checkpoint)!r}; minimize(..., checkpoint=...) writes one")
    if unknown := more.keys() - CONTINUED:
        raise TypeError(f"resume takes no {listed(sorted(unknown))}; beside budgets it takes {listed(CONTINUED)}")
    config = read_account(checkpoint)["config"]
    budgets = {"max_evals": max_evals, "max_iter": max_iter, "ftarget": ftarget, "timeout": timeout}
    config |= {name: value for name, value in {**budgets, "x0": x0}.items() if value is not None}
    if config["x0"] is None:
        raise ValueError(f"checkpoint {os.fspath(checkpoint)!r} is that of starts that a callable draws; pass it as x0")
    strategy = checkpoints.configuration(checkpoint, method)
    config |= {name: strategy[name] for name in ("method", "bounds", "options")}
    return minimize(fun, **config, checkpoint=checkpoint, **more)


def log_path(
    log: str | os.PathLike[str] | bool | None, checkpoint: str | os.PathLike[str] | None, *, vectorized: bool
) -> str | os.PathLike[str] | None:
    """Where the log of the evaluations goes, if there is one.

    >>> log_path(None, "run.ckpt", vectorized=False)
    'run.ckpt.jsonl'
    """
    if log is None:
        log = checkpoint is not None and not vectorized
    if isinstance(log, str | os.PathLike):
        return log
    if not isinstance(log, bool):
        raise TypeError(f"log must be the name of a file, True, False or None, got {shortened(log)}")
    if log and checkpoint is None:
        raise ValueError("log=True puts the log beside the checkpoint; pass checkpoint too, or the log's name")
    return f"{os.fspath(checkpoint)}.jsonl" if log and checkpoint is not None else None
