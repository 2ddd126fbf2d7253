"""Checks of plain JSON against types: a file from a stranger may hold anything."""

from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from thalweg._common.checks import shortened

BigCount = Annotated[int, "of any size"]
"""A whole number from 0 on without the limit of 63 bits that an `int` has here, such as a seed."""


def misfit(value: Any, kind: Any, name: str) -> str | None:
    """Return in words the first part of `value` that is not of the type `kind`, or None if all of it is.

    Types are those of JSON (`int` from 0 to 2^63, `BigCount`, `float`, `bool`, `str`, None), lists, dictionaries, unions,
    `Any`, and TypedDicts or dataclasses, which stand for dictionaries with exactly these keys, save those that are
    `NotRequired`. A whole number is a `float` too.

    >>> misfit({"popsize": 8, "best": [0.5, "x"]}, dict[str, int | list[float]], "run")
    "run.'best' is [0.5, 'x']"
    >>> misfit([3, -1], list[int], "counts")
    'counts[1] is -1'
    """
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return None
    if origin is NotRequired:
        return misfit(value, args[0], name)
    if is_typeddict(kind) or is_dataclass(kind):
        return _misfit_fields(value, get_type_hints(kind, include_extras=True), name)
    if origin in (Union, UnionType):
        return None if any(misfit(value, each, name) is None for each in args) else _is(value, name)
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
        or (kind == BigCount and type(value) is int and value >= 0)
        or (kind in (str, bool) and type(value) is kind)
    )
    return None if fits else _is(value, name)


def _misfit_fields(value: Any, kinds: dict[str, Any], name: str) -> str | None:
    if not isinstance(value, dict):
        return _is(value, name)
    optional = {key for key, kind in kinds.items() if get_origin(kind) is NotRequired}
    for key in (value.keys() ^ kinds.keys()) - (optional - value.keys()):
        return f"{name} has {'no' if key in kinds else 'an unknown'} {shortened(key)}"
    present = ((key, kind) for key, kind in kinds.items() if key in value)
    return next((wrong for key, kind in present if (wrong := misfit(value[key], kind, f"{name}.{key}"))), None)


def _is(value: Any, name: str) -> str:
    return f"{name} is {shortened(value)}"
