"""`minimize`: a whole search in one call, and `resume`, which continues one."""

import contextlib
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from thalweg._common.checks import Seed, as_flag, as_seed, listed, one_of, shortened
from thalweg._common.interrupts import Guard, interruptible
from thalweg._common.types import ArrayLike
from thalweg.evaluate import Evaluator, Workers
from thalweg.models import Quadratic
from thalweg.search import checkpoint as checkpoints
from thalweg.search.asynchronous import AsynchronousLoop
from thalweg.search.constraints import ConstraintsLike
from thalweg.search.continuing import Origin, announce
from thalweg.search.fingerprint import fingerprint
from thalweg.search.known import KnownLike
from thalweg.search.optimizer import Optimizer
from thalweg.search.progress import Progress
from thalweg.search.synchronous import SynchronousLoop
from thalweg.search.trust import check_objective, check_trust
from thalweg.space import BoundsLike, Mask, Sigma0, Start
from thalweg.storage.lock import checkpoint_lock
from thalweg.storage.log import open_log, read_log
from thalweg.strategies.registry import Method
from thalweg.strategies.strategy import Strategy

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


class Continued(TypedDict, total=False):
    """Arguments of `minimize` that a checkpoint does not hold; `resume` takes them."""

    args: tuple[Any, ...]
    workers: Workers
    vectorized: bool
    retries: int
    eval_timeout: float | None
    callback: "Callable[[OptimizeResult], Any] | None"
    progress: bool | Progress
    log: str | os.PathLike[str] | bool | None
    asynchronous: bool
    trust: bool | None


CONTINUED = tuple(Continued.__annotations__)


def minimize(
    fun: Callable[..., Any],
    x0: Start = None,
    sigma0: Sigma0 = None,
    *,
    method: Method | str | Strategy = "gnn-cma",
    model: str | Quadratic | None = None,
    args: tuple[Any, ...] = (),
    bounds: BoundsLike = None,
    scale: ArrayLike | None = None,
    integers: Mask = None,
    constraints: ConstraintsLike = None,
    popsize: int | None = None,
    max_evals: float | None = None,
    max_iter: float | None = None,
    ftarget: float | None = None,
    timeout: float | None = None,
    restarts: int = 0,
    bipop: bool = False,
    known: KnownLike = None,
    seed: Seed = None,
    rng: Seed = None,
    workers: Workers = 1,
    vectorized: bool = False,
    asynchronous: bool = False,
    callback: "Callable[[OptimizeResult], Any] | None" = None,
    progress: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
    trust: bool | None = None,
    log: str | os.PathLike[str] | bool | Mask = None,
    retries: int = 0,
    eval_timeout: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> "OptimizeResult":
    """Minimise a black-box function with an evolution strategy; by default GNN-CMA-ES.

    >>> result = minimize(lambda x: (x[0] - 3) ** 2 + (x[1] + 1) ** 2, [0.0, 0.0], method="cma", seed=1, ftarget=1e-10)
    >>> result.x.round(3).tolist(), result.success
    ([3.0, -1.0], True)

    Args:
        fun: The objective, called as fun(x, *args) with x of shape (d,); returns a number. NaN, None or an exception make the
            point rank last.
        x0: The start, of shape (d,); or a callable that draws the start of each run from a numpy Generator; or a
            `thalweg.Space`, which describes the variables by name: fun then gets a mapping, and the result has `point`. None
            starts in the middle of `bounds`, which must then have a pair for each coordinate; a coordinate that is open on a
            side starts at 0, or one sigma0 inside its bound where 0 is not as far inside.
        sigma0: The first standard deviation, about a third of the distance to where the minimum may be: a number for all
            coordinates, or one for each. With one for each the search runs in units of them, so that variables of very
            different sizes need no scaling by hand. None: 0.3 times the width of a coordinate with two bounds, 1 for others.
            For a logarithmic coordinate all of this is about its natural logarithm.
        method: A name out of `thalweg.METHODS`, or a strategy.
        model: "quadratic" (or `thalweg.Quadratic(...)`) for objectives that take longer than some milliseconds: a quadratic
            function, fitted to the values so far, chooses which points of a generation are worth an evaluation and stands in
            for the others. Far fewer evaluations where the objective is smooth; each costs some milliseconds of overhead.
        args: Further arguments of fun.
        bounds: Pairs (low, high), one pair for all coordinates, or `scipy.optimize.Bounds`; None is an open side. Equal bounds
            fix a coordinate at that value.
        scale: The size of each coordinate, or one number for all: sigma0 is in units of it. None: 1.
        integers: Coordinates that take whole numbers: their indices, or True and False for each.
        constraints: scipy's `NonlinearConstraint` or `LinearConstraint`, or a list of them. Without: fun may return a pair (f,
            g) of the value and a sequence of numbers that must not be above 0, or a triple (f, g, h) with numbers that must be
            0; "returned" makes a number alone a failure. `thalweg.Constraints(...)` sets tolerances. The answer is the best
            feasible point.
        popsize: Points per generation; by default 4 + 3 ln d.
        max_evals: Stop at this number of evaluations. The last generation may be a part of one: its values count for the best
            point, and a continued run completes it.
        max_iter: Stop after this number of generations. Without any budget: pycma's limit.
        ftarget: Stop once a value is at or below this one.
        timeout: Stop after this number of seconds; evaluations by workers that are still running then are given up.
        restarts: Number of restarts, each with twice the population, while there is budget; in closed bounds each begins at a
            random point.
        bipop: True to spend half of the evaluations on runs with smaller populations and steps, which are not counted in
            `restarts` (BIPOP: Hansen 2009).
        known: Evaluations that are known already: (X, F), the name of a log, rows of `read_log`, or `thalweg.Known(...)`, which
            can also say that they are those of a similar function. They give mean and spread of the first run's start, in
            place of x0 and of a ball of sigma0, teach the model, and the best of them may be the result. They are not counted.
        seed: A whole number, None, a numpy Generator or SeedSequence. The result has the one that was used.
        rng: As `seed`, by scipy's name for it.
        workers: A number of processes (-1: one for each CPU), a map-like callable, any `concurrent.futures.Executor`,
            `thalweg.Ray(...)`, `thalweg.Dask(...)`, or the name of an engine, such as "ray".
        vectorized: True if fun takes the whole generation, (popsize, d), and returns as many values. With a model it gets the
            points to evaluate next, at the end of max_evals those that are left.
        asynchronous: True to keep all workers busy: a point starts as soon as a worker is free, and the search learns from
            values when they come, however late. For evaluations that take different times; the result then depends on the
            order in which they end.
        callback: Called as callback(intermediate_result) after each generation and at the end; the run ends if it returns True
            or raises StopIteration.
        progress: True to show a line of progress on stderr, which moves with the evaluations.
        checkpoint: A file to write after each generation; if it exists, the run continues from there to the same result.
        trust: None evaluates the checkpoint's best point again if the objective may have changed since (its code, `args`,
            command line or scripts), and refuses to continue if its value is another one; noise is allowed for. False does so
            in any case; True takes the old values as they are. These evaluations count in no budget.
        log: Where to record every evaluation as soon as it has finished: a file x.jsonl or a folder x.parquet. By default the
            checkpoint's name with .jsonl after it; a run that continues reads there what need not be evaluated again. False:
            no log. A list means something else: the coordinates to search by their logarithms (indices, or True and False for
            each); for these and a log of your own name describe the variables by a `thalweg.Space`.
        retries: Number of repetitions of an evaluation that raises, returns no number (NaN counts as one), takes longer than
            `eval_timeout`, or whose worker dies. Then the point ranks last.
        eval_timeout: Seconds for one evaluation. After that its worker is ended and replaced; executors cannot end theirs,
            so that the worker stays busy. With one worker the evaluations then run in a process of their own.
        options: Fields of the strategy and stop tolerances, by name; see `thalweg.Optimizer`.

    Returns:
        scipy's OptimizeResult: x, fun, nfev, nit, success, status, message, and stop, sigma, mean, std, cov, cov_root, popsize,
        method, seed, restarts, failures, first_failure, info, and nfev_before, the evaluations of earlier calls from whose
        checkpoint the run has continued, and reevaluated, new values of its best point (see `trust`); with a `Space` also space
        and, if it has names, point; with constraints also feasible, violation (the largest at x), constr (their values at x:
        inequalities, which must not be above 0, then equalities), equality (True for these) and multipliers.
    """
    if callable(x0) and not callable(fun):
        raise TypeError(
            f"fun must be callable, got {shortened(fun)}, and x0 is callable: pass the function first, minimize(fun, x0)"
        )
    if seed is not None and rng is not None:
        raise TypeError("seed and rng are two names of the same argument; pass one of them")
    logs = log if isinstance(log, list | tuple | range | np.ndarray) else None  # coordinates, not the name of a file
    search = {
        "x0": x0,
        "sigma0": sigma0,
        "method": method,
        "model": model,
        "bounds": bounds,
        "scale": scale,
        "log": logs,
        "integers": integers,
        "constraints": constraints,
        "popsize": popsize,
        "restarts": restarts,
        "bipop": bipop,
        "known": known,
        "seed": seed if rng is None else as_seed(rng, "rng"),
        "max_evals": max_evals,
        "max_iter": max_iter,
        "ftarget": ftarget,
        "timeout": timeout,
        "options": options,
    }
    return _search(
        fun,
        search,
        args=args,
        workers=workers,
        vectorized=vectorized,
        asynchronous=asynchronous,
        callback=callback,
        progress=progress,
        checkpoint=checkpoint,
        trust=trust,
        log=None if logs is not None else log,
        retries=retries,
        eval_timeout=eval_timeout,
    )


def _search(
    fun: Callable[..., Any],
    search: Mapping[str, Any],
    *,
    args: tuple[Any, ...] = (),
    workers: Workers = 1,
    vectorized: bool = False,
    asynchronous: bool = False,
    callback: "Callable[[OptimizeResult], Any] | None" = None,
    progress: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
    trust: bool | None = None,
    log: Any = None,
    retries: int = 0,
    eval_timeout: float | None = None,
) -> "OptimizeResult":
    """Minimise with an `Optimizer` of the arguments `search`; the others are those of `minimize`."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {shortened(callback)}")
    vectorized, asynchronous = as_flag(vectorized, "vectorized"), as_flag(asynchronous, "asynchronous")
    if checkpoint is not None:
        checkpoints.check_name(checkpoint)
    place = log_path(log, checkpoint, vectorized=vectorized)
    trust = check_trust(trust, checkpoint)
    with Guard(), contextlib.ExitStack() as stack:
        saved = None
        if checkpoint is not None:
            checkpoints.check_path(checkpoint)
            stack.enter_context(checkpoint_lock(checkpoint))
            saved = checkpoints.read(checkpoint) if os.path.exists(checkpoint) else None
        if search["seed"] is None and saved is not None:
            search = {**search, "seed": saved.contents["problem"]["seed"]}
        with interruptible():  # compiling takes seconds, and there is no result yet
            es = Optimizer(**search)
        identify = None if checkpoint is None else partial(fingerprint, fun, args, vectorized, es.constraints)
        origin = Origin(identify, () if identify is None else (identify(),) * 2)
        if es.variables is not None:
            fun = es.variables.objective(fun, "columns" if vectorized else "plain")
        fun = es.constraints.around(fun, es.variables, vectorized=vectorized)
        if checkpoint is not None:
            checkpoints.check_target(es.strategy, checkpoint)
            if saved is not None:
                es.restore(saved, checkpoint)
        since = (es.campaign.runs, es.run.nit)
        kept = None if place is None else stack.enter_context(open_log(place, resume=saved is not None, since=since))
        reads = saved is not None and (asynchronous or es.nfev == 0)
        past = read_log(place) if reads and place is not None else []  # once nobody else writes
        evaluator = Evaluator(fun, args, workers, vectorized=vectorized, retries=retries, eval_timeout=eval_timeout)
        evaluate = stack.enter_context(evaluator)
        if asynchronous and not evaluate.takes_single_points:
            raise ValueError("asynchronous=True needs workers that take single points: a number, an executor, Ray or Dask")
        if saved is not None and checkpoint is not None:
            evaluate.first_failure, evaluate.answered = saved.contents["extra"].get("first_failure"), es.nfev > 0
            origin = check_objective(es, evaluate, origin, saved.contents["extra"], past, trust, checkpoint)
            announce(es, checkpoint)
        file = None if checkpoint is None else os.path.abspath(checkpoint)  # an objective may change the working directory
        shows = Progress(enabled=progress, budget=es.campaign.budget) if isinstance(progress, bool) else progress
        shared = (es, evaluate, callback, shows, file, kept, es.nfev, origin)
        if not asynchronous:
            return SynchronousLoop(*shared).run()
        return AsynchronousLoop(*shared, past=past).run()


def resume(
    checkpoint: str | os.PathLike[str],
    fun: Callable[..., Any],
    *,
    method: Method | str | Strategy | None = None,
    x0: Start = None,
    constraints: ConstraintsLike = None,
    max_evals: float | None = None,
    max_iter: float | None = None,
    ftarget: float | None = None,
    timeout: float | None = None,
    **more: Unpack[Continued],
) -> "OptimizeResult":
    """Continue a run of `minimize` from its checkpoint, to the same result as if it had never been interrupted.

    >>> path = getfixture("tmp_path") / "run.ckpt"
    >>> first = minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_evals=60, checkpoint=path)
    >>> resume(path, lambda x: x @ x, max_evals=120).nfev
    120

    Args:
        checkpoint: The file; it is written again as the run goes on.
        fun: The objective, which the file does not hold.
        method: The strategy, if it was an object and not a name.
        x0: The callable that draws starts, if there was one.
        constraints: The constraints, if there were any; the file does not hold them.
        max_evals: A new budget of evaluations over the whole run; None keeps that of the file.
        max_iter: A new budget of generations; None keeps that of the file.
        ftarget: A new target; None keeps that of the file.
        timeout: A new budget of seconds since the beginning of the run, without pauses; None keeps that of the file.
        more: Arguments of `minimize` that the file does not hold: args, workers, vectorized, retries, eval_timeout, callback,
            progress, log, asynchronous, trust.

    Returns:
        The result, as `minimize` returns it.
    """
    checkpoints.check_name(checkpoint)
    if not os.path.exists(checkpoint):
        raise FileNotFoundError(f"there is no checkpoint {os.fspath(checkpoint)!r}; minimize(..., checkpoint=...) writes one")
    if unknown := sorted(more.keys() - CONTINUED):
        raise TypeError(f"resume takes no {listed(unknown)}; {one_of(unknown[0], CONTINUED, 'beside budgets it takes')}")
    given = checkpoints.arguments(checkpoints.read(checkpoint), checkpoint, method, x0)
    given["constraints"] = constraints
    budgets = {"max_evals": max_evals, "max_iter": max_iter, "ftarget": ftarget, "timeout": timeout}
    given |= {name: value for name, value in budgets.items() if value is not None}
    return _search(fun, given, checkpoint=checkpoint, **more)


def log_path(
    log: str | os.PathLike[str] | bool | None, checkpoint: str | os.PathLike[str] | None, *, vectorized: bool
) -> str | os.PathLike[str] | None:
    """Return the path of the log of evaluations; None if there is none.

    >>> log_path(None, "run.ckpt", vectorized=False)
    'run.ckpt.jsonl'
    """
    if log is None:
        log = checkpoint is not None and not vectorized
    if isinstance(log, str | os.PathLike):
        if checkpoint is not None and os.path.realpath(log) == os.path.realpath(checkpoint):
            raise ValueError(f"log and checkpoint are both {os.fspath(checkpoint)!r}; pass another name for one of them")
        return log
    if not isinstance(log, bool):
        raise TypeError(f"log must be the name of a file, True, False or None, got {shortened(log)}")
    if log and checkpoint is None:
        raise ValueError("log=True puts the log beside the checkpoint; pass checkpoint too, or the log's name")
    return f"{os.fspath(checkpoint)}.jsonl" if log and checkpoint is not None else None
