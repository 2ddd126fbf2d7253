"""Checks of arguments. Each returns the converted value, or raises an error that names the argument, the value and the fix."""

import difflib
import operator
from collections.abc import Callable, Sequence
from math import isfinite, isnan
from typing import Any, TypeGuard

import numpy as np

Seed = int | np.random.Generator | np.random.SeedSequence | None
"""Type of the argument `seed`."""


def as_point(value: Any, name: str = "x0") -> np.ndarray:
    """Return a finite point (d,) in double precision. A single number becomes a point in dimension 1."""
    point = as_array(value, name)
    if point.ndim > 1:
        raise ValueError(f"{name} must be one point of shape (d,), got shape {point.shape}; flatten it first")
    point = np.atleast_1d(point)
    if point.size == 0:
        raise ValueError(f"{name} must have at least one coordinate, got an empty sequence")
    if not np.all(np.isfinite(point)):
        where = int(np.flatnonzero(~np.isfinite(point))[0])
        raise ValueError(f"{name} must be finite, got {name}[{where}] = {point[where]}; replace it by a number")
    return point


def as_array(value: Any, name: str) -> np.ndarray:
    """Return a copy as an array in double precision."""
    try:
        array = np.asarray(value)
        if value is None or array.dtype.kind not in "biufO":  # text would parse as numbers, complex numbers lose a part
            raise TypeError
        return np.array(array, dtype=np.float64)
    except Exception:  # foreign objects may raise anything
        raise TypeError(f"{name} must be an array of real numbers, got {shortened(value)}") from None


def is_plain(value: Any) -> TypeGuard[np.ndarray]:
    """Return whether a value is an array of numpy in double precision, which needs no conversion."""
    return type(value) is np.ndarray and value.dtype == np.float64


def dimensions(value: Any) -> int | None:
    """Return the number of axes of a value as an array; None if it is no array, as rows of several lengths are none."""
    try:
        return np.ndim(value)
    except Exception:  # foreign objects may raise anything
        return None


def as_number(value: Any, name: str) -> float:
    """Return a real number that is not NaN."""
    try:
        if isinstance(value, bool | np.bool_ | str | bytes) or value is None:
            raise TypeError
        number = float(value)
    except Exception:
        raise TypeError(f"{name} must be a number, got {shortened(value)}") from None
    if isnan(number):
        raise ValueError(f"{name} must be a number, got nan")
    return number


def as_positive(value: Any, name: str, fix: str = "pass a number above 0") -> float:
    """Return a finite number above 0."""
    number = as_number(value, name)
    if not (isfinite(number) and number > 0):
        raise ValueError(f"{name} must be finite and above 0, got {number:g}; {fix}")
    return number


def as_count(value: Any, name: str, least: int = 1) -> int:
    """Return a whole number of at least `least`. Floats such as 1e4 are accepted."""
    number = as_number(value, name)
    if not isfinite(number) or number != int(number):
        raise ValueError(f"{name} must be a whole number, got {number:g}")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {int(number)}")
    return int(number)


def as_flag(value: Any, name: str) -> bool:
    """Return True or False. Strings, numbers and arrays are refused, though Python would take them for one of the two."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {shortened(value)}")
    return bool(value)


def as_seed(seed: Seed, name: str = "seed") -> int:
    """Return the seed as a whole number: from fresh entropy for None, drawn from a generator if one is given."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**63))
    if isinstance(seed, np.random.SeedSequence):
        return int(seed.generate_state(1, np.uint64)[0])
    try:
        if isinstance(seed, bool):
            raise TypeError
        number = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"{name} must be a whole number, None, a numpy Generator or SeedSequence, got {shortened(seed)}"
        ) from None
    if number < 0:
        raise ValueError(f"{name} must be 0 or above, got {number}")
    return number


def shortened(value: Any, length: int = 60) -> str:
    """Return the `repr` of a value for an error message, cut to `length` characters."""
    text = as_text(value, repr)
    return text if len(text) <= length else text[: length - 3] + "..."


def as_text(value: Any, show: Callable[[Any], str] = str) -> str:
    r"""Return the text of an object of the user as UTF-8 can hold it; that of an object that cannot be shown says so.

    >>> as_text(ValueError("a \udcff")), as_text(10**5000)
    ('a \\udcff', '<int that cannot be shown>')
    """
    try:
        return str.encode(show(value), "utf-8", "backslashreplace").decode()
    except KeyboardInterrupt:
        raise
    except BaseException:  # foreign code may raise anything
        return f"<{type(value).__name__} that cannot be shown>"


def counted(number: int, thing: str) -> str:
    """Return a number with the name of what it counts, such as "1 generation".

    >>> counted(1, "generation"), counted(0, "run")
    ('1 generation', '0 runs')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def listed(names: Sequence[str]) -> str:
    """Return the names in quotes, separated by commas."""
    return ", ".join(repr(name) for name in names)


def one_of(name: Any, names: Sequence[str], what: str = "the names are") -> str:
    """Return the end of an error about a name that is none of these: the one that was meant, if one is near, and all.

    >>> one_of("CMMA", ["cma", "xnes"]), one_of("adam", ["cma"], "it may have")
    ("did you mean 'cma'? The names are 'cma', 'xnes'", "it may have 'cma'")
    """
    lower = {each.lower(): each for each in names}
    near = difflib.get_close_matches(as_text(name).lower(), lower, n=1)
    return (
        f"did you mean {lower[near[0]]!r}? {what[0].upper()}{what[1:]} {listed(names)}" if near else f"{what} {listed(names)}"
    )
