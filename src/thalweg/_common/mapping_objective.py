"""Objectives that take a mapping of names to values instead of a vector."""

from collections.abc import Callable, Sequence
from typing import Any


def as_plain(values: Any, whole: Sequence[bool]) -> list[Any]:
    """Return the coordinates of one point as Python's floats and, where `whole` is true, ints."""
    return [int(value) if is_whole else float(value) for value, is_whole in zip(values, whole, strict=True)]


def taking_mapping(fun: Callable[..., Any], names: Sequence[str], whole: Sequence[bool], *, vectorized: bool = False) -> Any:
    """Return a function of a vector that calls `fun` with a mapping of the names to plain values.

    With `vectorized` it takes a generation (n, d), and the values are columns of it.

    >>> taking_mapping(lambda point: point, ["width", "rate"], [True, False])([8.0, 0.5])
    {'width': 8, 'rate': 0.5}
    """
    names, whole = tuple(names), tuple(whole)

    def call(x: Any, *args: Any) -> Any:
        values = [x[:, i] for i in range(len(names))] if vectorized else as_plain(x, whole)
        return fun(dict(zip(names, values, strict=True)), *args)

    return call
