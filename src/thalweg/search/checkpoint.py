"""Checkpoints: snapshots of a search in one file of plain arrays and JSON, never a pickle, replaced atomically.

Each fact is stored once. The state's leaves are stored by their names in the strategy's tree, random keys as the numbers they
are made of, so that a file written under one version of JAX can be read under another.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from thalweg._common.checks import as_point, shortened
from thalweg.models import Quadratic, pack_model, unpack_model
from thalweg.search.campaign import Best, Campaign
from thalweg.search.checkpoint_contents import Contents, SavedCampaign, SavedProblem, check_strategy, find_fault
from thalweg.search.checkpoint_sizes import CONSTRAINTS, PADDING, coordinates, padding
from thalweg.search.constraints import Kinds
from thalweg.search.history import History
from thalweg.search.late import LatePoints
from thalweg.search.modelled import strategy_for
from thalweg.search.pending import PendingPoints
from thalweg.search.run import Run
from thalweg.search.stopping import Tolerances
from thalweg.space import Space, SpaceMap
from thalweg.storage import File, Target, archive, described, is_name
from thalweg.strategies.registry import make_strategy
from thalweg.strategies.strategy import State, Strategy

HISTORY = ("recent", "bests", "medians")
"""Arrays of the stop tests, which grow with the run."""
COUNTERS = ("nit", "flat", "failed", "highest", "lowest", "finest", "early", "resolved", "reasons")
"""Numbers of the stop tests."""
KINDS = ("log", "integers")
"""Kinds of coordinates, each with the indices of those that are of it."""
STATE = "state."
"""Prefix of the names of the state's leaves."""
MODEL = "model."
"""Prefix of the names of the model's arrays."""
PAST = "history."
"""Prefix of the names of the history's arrays."""


class Snapshot(NamedTuple):
    """Everything that a continued search needs."""

    contents: Contents
    arrays: dict[str, np.ndarray]


def write(path: File, snapshot: Snapshot) -> None:
    """Write a snapshot to a file."""
    archive.write(path, snapshot.arrays, cast("Mapping[str, Any]", snapshot.contents))


def read(path: File) -> Snapshot:
    """Read a snapshot; raise a ValueError if the file is damaged or was not written by this library."""
    contents, arrays = archive.read(path)
    if (fault := find_fault(contents, arrays)) is not None:
        raise ValueError(f"checkpoint {described(path)} is damaged: {fault}; take a copy of it, or remove it to begin anew")
    return Snapshot(cast("Contents", contents), arrays)


def check_target(strategy: Strategy, path: File) -> None:
    """Raise an error, before a run has cost anything, where a checkpoint could not be written."""
    if not strategy.traceable:
        raise ValueError(f"{shortened(strategy)} holds a third-party object that a checkpoint cannot store; leave it out")
    if is_name(path):
        check_path(path)


def check_name(path: Any) -> None:
    """Raise a TypeError if this is no name of a file."""
    if not is_name(path):
        raise TypeError(f"checkpoint must be the name of a file, got {shortened(path)}")


def check_path(path: Target) -> None:
    """Raise a ValueError if the path cannot be that of a checkpoint."""
    if not Path(path).parent.is_dir():
        raise ValueError(f"checkpoint {described(path)} lies in a directory that does not exist; make it first")
    archive.check_file(Path(path))


def compare(ours: SavedProblem, saved: Snapshot, path: File) -> None:
    """Raise a ValueError if the snapshot belongs to another problem. Budgets and tolerances may differ."""
    theirs = saved.contents["problem"]
    for name in ours | theirs:
        if theirs.get(name) != ours.get(name):
            raise ValueError(
                f"checkpoint {described(path)} belongs to another problem: its {name} is {shortened(theirs.get(name))}, here "
                f"it is {shortened(ours.get(name))}; use the same or another file"
            )


def arguments(saved: Snapshot, path: File, method: str | Strategy | None, x0: Any) -> dict[str, Any]:
    """Return the arguments of an `Optimizer` that continues from the snapshot; `method` and `x0` replace what it lacks."""
    problem, given = saved.contents["problem"], dict[str, Any](saved.contents["settings"])
    given |= {name: problem[name] for name in ("sigma0", "bounds", "seed", "bipop")}
    given |= {name: problem.get(name) for name in KINDS}
    given["model"] = unpack_model(problem.get("model"))
    given["x0"] = x0 if x0 is not None else None if problem["x0_is_drawn"] else problem["x0"]
    if "names" in problem:
        given |= dict.fromkeys(("sigma0", "bounds", *KINDS)) | {"x0": space_of(problem)}
    given["method"] = given["method"] if method is None else method
    if given["x0"] is None:
        raise ValueError(f"checkpoint {described(path)} has starts that a callable drew; pass the callable as x0")
    if given["method"] is None:
        raise ValueError(
            f"checkpoint {described(path)} was written by {shortened(problem['strategy'])}, which has no name; pass it as "
            "method"
        )
    if not isinstance(given["method"], str):
        strategy = strategy_for(given["model"], make_strategy(given["method"], given["popsize"]))
        try:
            check_strategy(strategy, problem, saved.contents["campaign"], saved.arrays)
        except ValueError as error:
            raise ValueError(f"checkpoint {described(path)} is damaged: {error}") from None
    return given


def problem_of(
    strategy: Strategy,
    model: Quadratic | None,
    x0: np.ndarray,
    drawn: bool,
    campaign: Campaign,
    space: SpaceMap,
    variables: Space | None,
) -> SavedProblem:
    """Return what two searches must share for one to continue the other; `drawn` if a callable drew the start x0."""
    problem: SavedProblem = {
        "strategy": repr(strategy),
        "dimension": len(x0),
        "x0": x0.tolist(),
        "x0_is_drawn": drawn,
        "bounds": space.pairs,
        "sigma0": np.multiply(campaign.sigma0, space.scale).tolist(),
        "seed": campaign.seed,
        "bipop": campaign.bipop,
    }
    if model is not None:
        problem["model"] = pack_model(model)
    whole = space.whole_numbers if variables is None else variables.integers
    for name, mask in zip(KINDS, (space.logarithmic, whole), strict=True):
        if np.any(mask):
            problem[name] = np.flatnonzero(mask).tolist()
    if variables is not None:
        problem["names"] = None if variables.names is None else list(variables.names)
        problem["as_vector"] = variables.vector
    return problem


def space_of(problem: SavedProblem) -> Space:
    """Return the description of the variables that a checkpoint holds."""
    return Space.of_arrays(
        problem.get("names"),
        problem["x0"],
        np.broadcast_to(problem["sigma0"], len(problem["x0"])).tolist(),
        problem["bounds"] or [[None, None]] * len(problem["x0"]),
        problem.get("log", ()),
        problem.get("integers", ()),
        vector=problem.get("as_vector", True),
    )


def settings_of(method: str | Strategy, options: Mapping[str, Any], popsize: Any, campaign: Campaign) -> dict[str, Any]:
    """Return the arguments that a continued search may change, as JSON's types; objects are left out."""
    name = method if isinstance(method, str) else None
    try:
        json.dumps(options, default=archive.plain)
    except TypeError:  # a flow or a step is among them
        options, name = {key: value for key, value in options.items() if key in Tolerances().values}, None
    settings = {"method": name, "options": dict(options), "popsize": popsize, "restarts": campaign.restarts}
    settings |= asdict(campaign.budget)
    if settings["max_iter"] is None and not campaign.limit_generations:
        settings["max_iter"] = inf  # None would limit the generations if nothing else does
    return settings


def take(
    problem: SavedProblem,
    settings: Mapping[str, Any],
    campaign: Campaign,
    run: Run,
    pending: PendingPoints,
    late: LatePoints,
    past: History,
    *,
    injected: np.ndarray,
    elapsed: float,
    extra: Mapping[str, Any],
) -> Snapshot:
    """Take a snapshot of a search."""
    best = campaign.best
    account = {name: getattr(campaign, name) for name in SavedCampaign.__annotations__}
    account["best"] = None if best is None else {"x": best.x.tolist(), "f": best.f, "nfev": best.nfev, **_limits(best)}
    present = {"nfev": run.nfev, "failures": run.failures, "best_f": run.best.f, "best_nfev": run.best.nfev, "info": run.info}
    present |= {f"best_{name}": value for name, value in _limits(run.best).items()}
    present |= {name: getattr(run.tests, name) for name in COUNTERS}
    contents: dict[str, Any] = {
        "problem": problem,
        "settings": settings,
        "campaign": account,
        "run": present,
        "pending": pending.pack() if pending else None,
        "elapsed": elapsed,
        "extra": dict(extra),
    }
    if late.open:
        contents["late"] = late.pack()
    if run.lagrangian is not None:
        contents["constraints"] = asdict(run.lagrangian.kinds)
    contents["history"], past_arrays = past.pack()
    history = {name: np.asarray(getattr(run.tests, name), float) for name in HISTORY}
    arrays = {**_named(run.state), **history, **_points(run), "injected": injected}
    arrays |= {MODEL + name: array for name, array in pending.arrays().items()}
    arrays |= {CONSTRAINTS + name: array for name, array in run.lagrangian.arrays().items()} if run.lagrangian else {}
    arrays |= {PAST + name: array for name, array in past_arrays.items()}
    arrays |= padding(coordinates(campaign.popsize, campaign.large_runs, problem["dimension"]), arrays)
    return Snapshot(cast("Contents", contents), arrays)


def campaign_of(saved: Snapshot, settings: Campaign) -> Campaign:
    """Return a campaign of these settings with the account of the snapshot."""
    account: dict[str, Any] = dict(saved.contents["campaign"])
    best = account["best"]
    account["best"] = None if best is None else _best(np.array(best["x"], float), best)
    return replace(settings, **account)


def kinds_of(saved: Snapshot) -> Kinds | None:
    """Return the kinds of constraints in the snapshot; None without."""
    kinds = saved.contents.get("constraints")
    return None if kinds is None else Kinds(**kinds)


def restore_run(saved: Snapshot, run: Run, pending: PendingPoints, late: LatePoints, past: History, path: File) -> None:
    """Bring a run that has just begun, and its pending points, to where the snapshot was taken."""
    contents, here = saved.contents, saved.contents["run"]
    models, limits, before = (
        {name.removeprefix(prefix): array for name, array in saved.arrays.items() if name.startswith(prefix)}
        for prefix in (MODEL, CONSTRAINTS, PAST)
    )
    own = (MODEL, CONSTRAINTS, PAST, PADDING)
    arrays = {name: array for name, array in saved.arrays.items() if not name.startswith(own)}
    _check_arrays(run, arrays, path)
    leaves, tree = jax.tree.flatten(run.state)
    named = zip(leaves, _named(run.state), strict=True)
    run.state = jax.tree.unflatten(tree, [_like(leaf, arrays[name]) for leaf, name in named])
    for name in HISTORY:
        setattr(run.tests, name, arrays[name].tolist())
    for name in COUNTERS:
        setattr(run.tests, name, here[name])
    run.best = _best(arrays["best_x"], {name.removeprefix("best_"): value for name, value in here.items()})
    run.mean, run.std = arrays["mean"], arrays["std"]
    run.nfev, run.failures, run.info = here["nfev"], here["failures"], here["info"]
    try:
        pending.unpack(cast("dict[str, Any]", contents["pending"] or {}), len(run.start.x0), run.d)
        pending.take_arrays(models)
        late.unpack(cast("list[dict[str, Any]]", contents.get("late", [])), len(run.start.x0))
        if run.lagrangian is not None:
            run.lagrangian = run.lagrangian.restored(limits)
        if "history" in contents:
            past.unpack(contents["history"], before)
            run.axes = past.last_axes(contents["campaign"]["runs"])
        _check_places(saved, run, pending)
    except ValueError as error:
        raise ValueError(f"checkpoint {described(path)} is damaged: {error}") from None


def _check_places(saved: Snapshot, run: Run, pending: PendingPoints) -> None:
    """Raise a ValueError if points that a user would get are not in the search space."""
    best = saved.contents["campaign"]["best"]
    points = {"point": [point.x for point in (*pending.queue, *pending.open_points, *pending.told)]}
    points |= {"best": [run.best.x] if best is None else [run.best.x, best["x"]], "injected": list(saved.arrays["injected"])}
    for name, X in points.items():
        for x in X:
            run.space.check(as_point(x, name), name)


def _limits(best: Best) -> dict[str, Any]:
    """Return the violation and the constraint values of a best point; nothing without constraints."""
    rows = {} if best.rows is None else {"rows": best.rows.tolist()}
    return rows if best.violation == 0 else {"violation": best.violation, **rows}


def _best(x: np.ndarray, saved: Mapping[str, Any]) -> Best:
    rows = saved.get("rows")
    return Best(x, saved["f"], saved["nfev"], saved.get("violation", 0.0), None if rows is None else np.array(rows, float))


def _points(run: Run) -> dict[str, np.ndarray]:
    return {"best_x": run.best.x, "mean": run.mean, "std": run.std}


def _plain(leaf: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _named(state: State) -> dict[str, np.ndarray]:
    """Return the leaves by names such as "state.latent.mean", put together here, as JAX's own way to write them may change."""
    parts = ("name", "key", "idx")  # of a field, a dictionary's value, a sequence's item

    def name_of(steps: Any) -> str:
        return STATE + ".".join(str(next(getattr(step, part) for part in parts if hasattr(step, part))) for step in steps)

    return {name_of(steps): _plain(leaf) for steps, leaf in jax.tree.leaves_with_path(state)}


def _check_arrays(run: Run, arrays: Mapping[str, np.ndarray], path: File) -> None:
    """Raise a ValueError if the arrays are not those of such a run."""
    growing = {name: np.empty(0) for name in HISTORY} | {"injected": np.empty((0, len(run.start.x0)))}
    ours = {**_named(run.state), **_points(run), **growing}
    strange = f"checkpoint {described(path)} does not fit the strategy's state, was it written by another version?"
    for name in sorted(ours.keys() ^ arrays.keys()):
        raise ValueError(f"{strange} {shortened(name)} is only {'here' if name in ours else 'in the file'}")
    for name, array in arrays.items():
        dtype, shape = ours[name].dtype, ours[name].shape
        if name in growing and array.ndim:
            shape = array.shape[:1] + shape[1:]
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{strange} {name} is {array.dtype} of shape {array.shape}, here {dtype} of shape {shape}")


def _like(leaf: Any, array: np.ndarray) -> State:
    with jax.enable_x64(True):
        plain = jnp.asarray(array)
        return jax.random.wrap_key_data(plain, impl=jax.random.key_impl(leaf)) if _is_key(leaf) else plain


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
