"""What the JSON of a checkpoint must hold, told by types; a file from a stranger may hold anything."""

from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, NewType, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from thalweg._common.checks import as_count, as_point, as_positive, shortened
from thalweg.search.campaign import Schedule, Tally, check_restarts
from thalweg.search.stopping import Budget, Tolerances
from thalweg.space.box import parse_bounds
from thalweg.strategies.registry import make_strategy

Seed = NewType("Seed", int)
"""A whole number of any size."""
Pairs = list[list[float | None]]
LARGEST = 2**30
"""How many coordinates the points of a generation may have in all: 8 GiB."""


class Identity(TypedDict):
    """What two runs must share for one to continue the other."""

    strategy: str
    dimension: int
    popsize: int
    x0: list[float]
    sigma0: float
    bounds: Pairs | None
    seed: Seed


class Limits(TypedDict):
    """Arguments that all optimisers share."""

    x0: list[float]
    sigma0: float
    seed: Seed
    popsize: float | None
    max_evals: float | None
    max_iter: float | None
    ftarget: float | None
    timeout: float | None


class Config(Limits):
    """The other arguments of an `Optimizer`."""

    bounds: Pairs | None
    method: str | None
    options: dict[str, Any]


class Counters(TypedDict):
    """What the stop criteria count."""

    nit: int
    flat: int
    failed: int
    first: float
    reasons: dict[str, float]


class Found(TypedDict):
    """The best point's value, and how many evaluations it took."""

    f: float
    nfev: int


class Meta(TypedDict):
    """All that is not an array."""

    format: int
    version: str
    identity: Identity
    config: Config
    tests: Counters
    best: Found
    nfev: int
    failures: int
    elapsed: float
    info: dict[str, float]
    extra: dict[str, Any]


class OpenPoint(TypedDict):
    """A point that was asked."""

    x: list[float]
    y: list[float]
    e: list[float]
    generation: int
    index: int
    log_density: float
    f: float


class OpenPoints(TypedDict):
    """Those that nothing was learned from yet."""

    drawn: int
    queue: list[OpenPoint]
    open: list[OpenPoint]
    waiting: list[OpenPoint]


class RestartIdentity(Identity):
    bipop: bool


class RestartConfig(TypedDict):
    """The arguments of a `RestartingOptimizer` that its present run does not tell."""

    x0: list[float] | None
    sigma0: float
    seed: Seed
    popsize: float | None
    max_evals: float | None
    max_iter: float | None
    ftarget: float | None
    timeout: float | None
    restarts: int
    bipop: bool


class Account(TypedDict):
    """What a `RestartingOptimizer` adds about all runs."""

    identity: RestartIdentity
    config: RestartConfig
    elapsed: float
    schedule: Schedule
    tally: Tally


def misfit(value: Any, kind: Any, name: str) -> str | None:
    """What is not as the type says, in words; None if all is.

    >>> misfit({"f": 1.5, "nfev": -2}, Found, "best")
    'best.nfev is -2'
    """
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return None
    if is_typeddict(kind) or is_dataclass(kind):
        return _misfit_fields(value, get_type_hints(kind), name)
    if origin in (Union, UnionType):
        return None if any(misfit(value, each, name) is None for each in args) else _wrong(value, name)
    if origin is list and isinstance(value, list):
        return next((wrong for i, each in enumerate(value) if (wrong := misfit(each, args[0], f"{name}[{i}]"))), None)
    if origin is dict and isinstance(value, dict):
        return next(
            (wrong for key, each in value.items() if (wrong := misfit(each, args[1], f"{name}.{shortened(key)}"))), None
        )
    if kind is NoneType and value is None:
        return None
    fits = (
        (kind is float and type(value) is float)
        or (kind in (int, float) and type(value) is int and 0 <= value + (2**62 if kind is float else 0) < 2**63)
        or (kind is Seed and type(value) is int and value >= 0)
        or (kind in (str, bool) and type(value) is kind)
    )
    return None if fits else _wrong(value, name)


def _misfit_fields(value: Any, kinds: dict[str, Any], name: str) -> str | None:
    if not isinstance(value, dict):
        return _wrong(value, name)
    for key in value.keys() ^ kinds.keys():
        return f"{name} has {'no' if key in kinds else 'an unknown'} {shortened(key)}"
    kinds = {**kinds, **{key: Seed for key in kinds if key == "seed"}}  # a schedule's is a plain int, and as large
    return next((wrong for key, kind in kinds.items() if (wrong := misfit(value[key], kind, f"{name}.{key}"))), None)


def _wrong(value: Any, name: str) -> str:
    return f"{name} is {shortened(value)}"


def check(meta: dict[str, Any]) -> str | None:
    """What is wrong with the JSON of a checkpoint, in words; None if nothing is."""
    extra: dict[str, Any] = meta["extra"] if isinstance(meta.get("extra"), dict) else {}
    wrong = misfit(meta, Meta, "meta") or misfit(extra.get("flight"), OpenPoints | None, "flight")
    if "restarts" in extra:
        wrong = wrong or misfit(extra["restarts"], Account, "restarts")
    if wrong is not None:
        return wrong
    try:
        _check_settings(meta)
        if "restarts" in extra:
            _check_account(meta, extra["restarts"])
    except Exception as error:  # whatever settings of nonsense make their readers raise
        return f"no run can have such settings ({error})"
    return None


def _check_settings(meta: dict[str, Any]) -> None:
    """Complain as an `Optimizer` of these settings would, before anything is compiled or of its size."""
    config, identity = meta["config"], meta["identity"]
    _check_same(config, identity, "x0", "sigma0", "bounds", "seed")
    _check_common(config, identity)
    _, options = Tolerances.pick(config["options"])
    if config["method"] is not None:
        make_strategy(config["method"], config["popsize"], **options)


def _check_account(meta: dict[str, Any], account: dict[str, Any]) -> None:
    """Complain as a `RestartingOptimizer` would."""
    config, identity, schedule, d = account["config"], account["identity"], account["schedule"], meta["identity"]["dimension"]
    _check_same(config, identity, "sigma0", "seed", "bipop")
    _check_same(config, schedule, "sigma0", "seed", "bipop")
    _check_same(identity, meta["identity"], "dimension", "bounds")
    if config["x0"] is not None:
        _check_same(config, identity, "x0")
    _check_common(config, identity)
    check_restarts(config["restarts"], config["bipop"])
    for popsize in (schedule["popsize"], schedule["popsize"] * 2 ** min(99, schedule["doubled"] + 1)):
        _check_popsize(popsize, d)
    if account["tally"]["x"] is not None:
        _check_point(account["tally"]["x"], d)


def _check_common(config: dict[str, Any], identity: dict[str, Any]) -> None:
    """Complain about what all optimisers share."""
    d, box = identity["dimension"], parse_bounds(identity["bounds"], identity["dimension"])
    _check_point(identity["x0"], d)
    if box is not None and not np.all(box.contains(as_point(identity["x0"]))):
        raise ValueError("x0 lies outside its bounds")
    as_positive(config["sigma0"], "sigma0")
    Budget.checked(*(config[name] for name in ("max_evals", "max_iter", "ftarget", "timeout")))
    for popsize in (config["popsize"], identity["popsize"]):
        if popsize is not None:
            _check_popsize(popsize, d)


def _check_point(point: list[float], d: int) -> None:
    if as_point(point).shape != (d,):
        raise ValueError(f"a point that has not {d} coordinates")


def _check_popsize(popsize: float, d: int) -> None:
    if as_count(popsize, "popsize", least=2) * d > LARGEST:
        raise ValueError(f"a generation of {shortened(popsize)} points")


def _check_same(one: dict[str, Any], other: dict[str, Any], *names: str) -> None:
    for name in names:
        if one[name] != other[name]:
            raise ValueError(f"{name} is {shortened(one[name])} and {shortened(other[name])}")
