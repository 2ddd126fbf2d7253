"""Objectives that take a mapping of names to values instead of a vector."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Form = Literal["plain", "columns", "traced"]
"""Kind of values in the mapping: Python's numbers, columns of a generation, or arrays of JAX."""


def as_plain(values: Any, whole: Sequence[bool]) -> list[Any]:
    """Return the coordinates of one point as Python's floats and, where `whole` is true, ints."""
    return [int(value) if is_whole else float(value) for value, is_whole in zip(values, whole, strict=True)]


@dataclass(frozen=True)
class MappingObjective:
    """A function of a vector that calls `fun` with a mapping of the names to values.

    Two that are made of the same function are equal, so that programs compiled for one serve the other.

    >>> MappingObjective(lambda point: point, ("width", "rate"), (True, False))([8.0, 0.5])
    {'width': 8, 'rate': 0.5}
    """

    fun: Callable[..., Any]
    names: tuple[str, ...]
    whole: tuple[bool, ...]
    """True for each coordinate that is a whole number."""
    form: Form = "plain"

    def __call__(self, x: Any, *args: Any) -> Any:
        return self.fun(dict(zip(self.names, self._values(x), strict=True)), *args)

    def shown(self, x: Any) -> str:
        """Return the point as text, such as "width = 8, rate = 0.5"."""
        return ", ".join(f"{name} = {value!r}" for name, value in zip(self.names, as_plain(x, self.whole), strict=True))

    def _values(self, x: Any) -> list[Any]:
        if self.form == "plain":
            return as_plain(x, self.whole)
        values = [x[..., i] for i in range(len(self.names))]
        return [value.astype(int) if is_whole else value for value, is_whole in zip(values, self.whole, strict=True)]
