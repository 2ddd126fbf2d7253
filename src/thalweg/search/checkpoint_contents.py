"""The JSON part of a checkpoint: what it must hold, told by types, and the checks that a run could have such settings."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import numpy as np

from thalweg._common.checks import as_count, as_point, as_text
from thalweg.models import unpack_model
from thalweg.search.campaign import check_restarts
from thalweg.search.checkpoint_sizes import check_constraints, check_generation, check_state
from thalweg.search.modelled import strategy_for
from thalweg.search.stopping import Budget, Tolerances
from thalweg.space import make_scaled_space
from thalweg.storage.schema import BigCount, misfit
from thalweg.strategies.registry import make_strategy
from thalweg.strategies.strategy import Strategy


class SavedProblem(TypedDict):
    """The facts that two searches must share for one to continue the other."""

    strategy: str
    dimension: int
    x0: list[float]
    x0_is_drawn: bool
    sigma0: float | list[float]
    bounds: list[list[float | None]] | None
    seed: BigCount
    bipop: bool
    model: NotRequired[dict[str, Any]]
    """Name and settings of the model; missing where there is none."""
    log: NotRequired[list[int]]
    """Indices of the logarithmic coordinates; missing where there are none."""
    integers: NotRequired[list[int]]
    """Indices of the whole numbers; missing where there are none."""
    names: NotRequired[list[str] | None]
    """Names of the variables, None without; missing where no `Space` describes them."""
    as_vector: NotRequired[bool]
    """True if the objective takes a vector all the same."""


class SavedSettings(TypedDict):
    """Arguments that a continued search may change."""

    method: str | None
    options: dict[str, Any]
    popsize: float | None
    restarts: int
    max_evals: float | None
    max_iter: float | None
    ftarget: float | None
    timeout: float | None


class SavedPoint(TypedDict):
    """The best point of the finished runs."""

    x: list[float]
    f: float
    nfev: int
    violation: NotRequired[float]
    rows: NotRequired[list[float]]
    """Values of the constraints; missing without."""


class SavedCampaign(TypedDict):
    """The account of the finished runs."""

    runs: int
    large_runs: int
    small_evals: int
    large_evals: int
    last_large_evals: int
    nfev: int
    nit: int
    failures: int
    best: SavedPoint | None
    success: bool


class SavedRun(TypedDict):
    """The present run, without its arrays."""

    nfev: int
    failures: int
    best_f: float
    best_nfev: int
    best_violation: NotRequired[float]
    best_rows: NotRequired[list[float]]
    info: dict[str, float]
    nit: int
    flat: int
    failed: int
    highest: float
    lowest: float
    finest: float
    early: float
    resolved: bool
    reasons: dict[str, float]


class SavedPending(TypedDict):
    """A pending point as plain numbers."""

    x: list[float]
    y: list[float]
    e: list[float]
    generation: int
    index: int
    log_density: float
    f: float
    rows: NotRequired[list[float]]


class SavedForeign(TypedDict):
    """A foreign point that waits for the next generation."""

    y: list[float]
    f: float


class SavedPoints(TypedDict):
    """The pending points of the present run."""

    drawn: int
    queue: list[SavedPending]
    open: list[SavedPending]
    told: list[SavedPending]
    foreign: NotRequired[list[SavedForeign]]
    """Missing where none waits."""


class SavedLate(TypedDict):
    """An open point of an ended run."""

    run: int
    x: list[float]
    generation: int
    index: int


class SavedKinds(TypedDict):
    """Numbers and tolerances of the constraints."""

    inequalities: int
    equalities: int
    tolerance: float
    equality_tolerance: float


class SavedHistory(TypedDict):
    """The history, without its arrays."""

    count: int
    every: int
    names: list[str]


class Contents(TypedDict):
    """All that is not an array."""

    format: int
    version: str
    problem: SavedProblem
    settings: SavedSettings
    campaign: SavedCampaign
    run: SavedRun
    pending: SavedPoints | None
    elapsed: float
    extra: dict[str, Any]
    late: NotRequired[list[SavedLate]]
    """Missing where no ended run has open points."""
    constraints: NotRequired[SavedKinds]
    """Missing without constraints, and before the first values."""
    history: NotRequired[SavedHistory]
    """Missing in files of versions that kept none."""


def find_fault(contents: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> str | None:
    """Return in words what is wrong with the JSON of a checkpoint that has these arrays; None if nothing is."""
    wrong = misfit(contents, Contents, "contents")
    if wrong is not None:
        return wrong
    try:
        _check(contents["problem"], contents["settings"], contents["campaign"], arrays)
        if (kinds := contents.get("constraints")) is not None:
            check_constraints(kinds["inequalities"] + kinds["equalities"], arrays)
    except Exception as error:  # whatever settings of nonsense make their readers raise
        return f"no search can have such settings ({as_text(error)[:400]})"
    return None


def _check(problem: SavedProblem, settings: SavedSettings, campaign: SavedCampaign, arrays: Mapping[str, np.ndarray]) -> None:
    """Raise what an `Optimizer` of these settings would, before anything is compiled or of its size."""
    d = problem["dimension"]
    _check_point(problem["x0"], d)
    kinds = {"log": problem.get("log"), "integers": problem.get("integers")}
    space, x0 = make_scaled_space(problem["bounds"], d, problem["sigma0"], **kinds)[0], np.asarray(problem["x0"], float)
    space.check(x0, "x0")
    names = problem.get("names")
    if names is not None and (len(names) != d or len(set(names)) != d or "" in names):
        raise ValueError(f"{len(names)} names of {d} coordinates")
    model = unpack_model(problem.get("model"))
    check_restarts(settings["restarts"], problem["bipop"])
    Budget.checked(*(settings[name] for name in ("max_evals", "max_iter", "ftarget", "timeout")))
    _, options = Tolerances.pick(settings["options"], settings["method"])
    popsize = None if settings["popsize"] is None else as_count(settings["popsize"], "popsize", least=2)
    check_generation(popsize or 2, campaign["large_runs"], d, arrays)
    if settings["method"] is not None:
        strategy = strategy_for(model, make_strategy(settings["method"], popsize, **options))
        check_strategy(strategy, problem, campaign, arrays)
    if campaign["best"] is not None:
        _check_point(campaign["best"]["x"], d)


def check_strategy(
    strategy: Strategy, problem: SavedProblem, campaign: SavedCampaign, arrays: Mapping[str, np.ndarray]
) -> None:
    """Raise a ValueError if what the strategy would make for such a problem is larger than what the file holds."""
    kinds = {"log": problem.get("log"), "integers": problem.get("integers")}
    space = make_scaled_space(problem["bounds"], problem["dimension"], problem["sigma0"], **kinds)[0]
    d = len(space.to_search(np.asarray(problem["x0"], float)))
    check_generation(strategy.population(d), campaign["large_runs"], problem["dimension"], arrays)
    check_state(strategy, d, arrays)


def _check_point(point: list[float], d: int) -> None:
    if as_point(point).shape != (d,):
        raise ValueError(f"a point that has not {d} coordinates")
