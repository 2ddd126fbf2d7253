"""Checks of plain JSON against types; a file from a stranger may hold anything."""

from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints, is_typeddict

from thalweg._common.checks import shortened

Seed = NewType("Seed", int)
"""A whole number of any size."""


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


