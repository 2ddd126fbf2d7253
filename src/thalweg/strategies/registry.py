"""The registry of methods: each latent by its name, and "gnn-<latent>" with a flow on top. CLI, docs and tests read it."""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias, cast

from thalweg._common.checks import as_count, listed, one_of, shortened
from thalweg.strategies.flows import FLOWS
from thalweg.strategies.flowsteps import FLOW_STEPS
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.joint import JOINTS
from thalweg.strategies.latents import LATENTS
from thalweg.strategies.strategy import Strategy

Method: TypeAlias = Literal[
    "cma",
    "lra-cma",
    "xnes",
    "sep-cma",
    "snes",
    "cauchy",
    "pges",
    "pycma",
    "cmaes",
    "gnn-cma",
    "gnn-lra-cma",
    "gnn-xnes",
    "gnn-sep-cma",
    "gnn-snes",
    "gnn-cauchy",
    "gnn-pges",
    "gnn-pycma",
    "gnn-cmaes",
    "joint-pges",
    "joint-nes",
]
"""Names of methods, for those who check types; any other text is allowed, too, as `METHODS` may have more."""
MOST = 2**31 - 1
"""Largest population."""
PREFIX = "gnn-"
OWN = ("flow", "step", "frame")
"""Options of all methods with a flow."""


def method_names() -> list[str]:
    """Return the names that `method` may have.

    >>> "gnn-cma" in method_names()
    True
    """
    return list(METHODS)


def make_strategy(method: Method | str | Strategy = "gnn-cma", popsize: int | None = None, **options: Any) -> Strategy:
    """Return the strategy of that name; a strategy object is returned as it is, or with `popsize` if that is given.

    Options are the fields of the latent, and with a flow also `flow` and `step` (an object or its name) and `frame`.

    >>> make_strategy("cma", active=False)
    CMAES(popsize=None, defaults='pycma', active=False)
    >>> make_strategy("gnn-xnes", popsize=20, flow="realnvp").latent
    XNES(popsize=20, rate=None)
    """
    if popsize is not None:
        popsize = as_count(popsize, "popsize", least=2)
        if popsize > MOST:
            raise ValueError(f"popsize must be at most {MOST}, got {popsize}")
    if not isinstance(method, str):
        if not all(callable(getattr(method, name, None)) for name in ("init", "ask", "tell", "population")):
            raise TypeError(
                f"method must be a name or a strategy, got {shortened(method)}; the names are {listed(method_names())}"
            )
        if options:
            raise ValueError(f"options {listed(list(options))} apply only to a method given by name; set them in the strategy")
        return _hashable(method if popsize is None else with_popsize(method, popsize))
    if method not in METHODS:
        raise ValueError(f"method {method!r} is unknown; {one_of(method, method_names())}")
    return _hashable(METHODS[method](popsize=popsize, **options))


def with_popsize(strategy: Strategy, popsize: int) -> Strategy:
    """Return the same strategy with another number of points per generation.

    >>> with_popsize(make_strategy("gnn-cma"), 50).population(2)
    50
    """
    try:
        if isinstance(strategy, GNNES):
            return dataclasses.replace(strategy, latent=dataclasses.replace(strategy.latent, popsize=popsize))
        return cast("Strategy", dataclasses.replace(cast("Any", strategy), popsize=popsize))
    except TypeError:
        raise ValueError(
            f"popsize cannot be set for {shortened(strategy)}: it is not a dataclass with a field 'popsize'; set it there"
        ) from None


def _hashable(strategy: Strategy) -> Strategy:
    """Check that the strategy is hashable, as JAX takes it as a static argument."""
    try:
        hash(strategy)
    except TypeError:
        raise TypeError(f"{shortened(strategy)} must be hashable; make it and all its fields frozen dataclasses") from None
    return strategy


def check_options(method: str, options: Collection[str], others: Sequence[str] = ()) -> None:
    """Raise a ValueError for an option that the method does not have; `others` are names that would be options too."""
    if method not in METHODS:
        return
    make: Any = METHODS[method].args[1]
    fields = [field.name for field in dataclasses.fields(make) if field.init and field.name != "popsize"]
    valid = [*(OWN if method.startswith(PREFIX) else ()), *fields, *others]
    for option in options:
        if option not in valid:
            known = one_of(option, valid, "its options are") if valid else "it has none"
            raise ValueError(f"option {option!r} is unknown to method {method!r}; {known}")


def _make(name: str, make: Callable[..., Any], popsize: int | None = None, **options: Any) -> Strategy:
    own = OWN if name.startswith(PREFIX) else ()
    check_options(name, options)
    chosen = {key: options.pop(key) for key in own if key in options}
    for key, registry in (("flow", FLOWS), ("step", FLOW_STEPS)):
        value = chosen.get(key)
        if isinstance(value, str):
            if value not in registry:
                choices = one_of(value, list(registry), "the names are")
                raise ValueError(f"option {key!r} must be an object or a name, got {value!r}; {choices}")
            chosen[key] = registry[value]()
    strategy = make(popsize=popsize, **options)
    return GNNES(latent=strategy, **chosen) if own else strategy


METHODS: dict[str, partial[Strategy]] = {
    name: partial(_make, name, make)
    for name, make in (LATENTS | {PREFIX + name: latent for name, latent in LATENTS.items()} | JOINTS).items()
}
"""Methods by name: functions of `popsize` and options. Every latent in `LATENTS` appears with and without a flow."""
