"""Parsing of the problem on the command line: starting point, step, bounds, options, and the function."""

import contextlib
import difflib
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from math import isnan
from pathlib import Path
from typing import Any, cast

import numpy as np

from thalweg._common.checks import listed, shortened
from thalweg.cli.files import read_file
from thalweg.search.campaign import first_point
from thalweg.space import make_scaled_space

Pair = tuple[float | None, float | None]
RANDOM = "random"
OPEN = {"", "none", "null", "inf", "+inf", "-inf"}
"""Spellings of an unbounded side."""


def read_bounds(text: str) -> Pair | list[Pair]:
    """Return one pair for all coordinates, or a list with one pair for each.

    >>> read_bounds("-5,5"), read_bounds("-5,5; 0,")
    ((-5.0, 5.0), [(-5.0, 5.0), (0.0, None)])
    """
    if text.startswith("@"):
        found = read_file(text[1:], "--bounds")
        if not isinstance(found, list) or not found:
            raise ValueError(f"--bounds {text} must hold a pair of numbers for each coordinate, got {shortened(found)}")
        return [_pair(row, text) for row in found]
    pairs = [_pair(part.split(","), text) for part in text.strip().strip(";").split(";")]
    return pairs[0] if len(pairs) == 1 else pairs


def read_start(
    text: str | None, dimension: int | None, bounds: Any, seed: int, *, log: Any = None, integers: Any = None
) -> np.ndarray | None:
    """Return the starting point: numbers, those of a @file, or a point in the bounds ("random"); None is their middle.

    >>> read_start("1,2", None, None, seed=0).tolist(), read_start("0", 3, None, seed=0).tolist()
    ([1.0, 2.0], [0.0, 0.0, 0.0])
    """
    if text is not None and text != RANDOM:
        x0 = _numbers(text, "--x0", f"numbers separated by commas, @file or {RANDOM}")
        if dimension is not None and len(x0) not in (1, dimension):
            raise ValueError(f"--x0 has {len(x0)} coordinates, but --dimension is {dimension}; omit --dimension")
        return x0 if dimension is None else np.broadcast_to(x0, (dimension,)).copy()
    dimension = len(bounds) if dimension is None and isinstance(bounds, list) else dimension
    if dimension is None or bounds is None:
        raise ValueError('--x0 is missing: pass the starting point, as in --x0 "0,0,0", or --dimension and --bounds')
    space, _ = make_scaled_space(bounds, dimension, 1.0, log=log, integers=integers)
    if text is None:
        return None
    if not np.all(space.closed):
        raise ValueError(f"--bounds must be closed on both sides if --x0 is {RANDOM}, because the point is drawn within them")
    return first_point(lambda rng: space.restart_point(space.sides[1], rng), seed)


def for_each(bounds: Pair | list[Pair] | None, dimension: int | None) -> Any:
    """Return the bounds with a pair for each coordinate, if their number is known.

    >>> for_each((0.0, 1.0), 2)
    [(0.0, 1.0), (0.0, 1.0)]
    """
    return [bounds] * dimension if isinstance(bounds, tuple) and dimension is not None else bounds


def read_numbers(text: str | None, option: str) -> float | list[float] | None:
    """Return one number for all coordinates, or a list with one for each; None is the default.

    >>> read_numbers("0.5", "--sigma0"), read_numbers("0.1,1,10", "--sigma0")
    (0.5, [0.1, 1.0, 10.0])
    """
    if text is None:
        return None
    numbers: list[float] = _numbers(text, option, "a number, numbers separated by commas or @file").tolist()
    return numbers if "," in text or text.startswith("@") else numbers[0]


def read_coordinates(text: str | None, option: str) -> list[int] | None:
    """Return the indices of coordinates; None is for none.

    >>> read_coordinates("0,2", "--integers")
    [0, 2]
    """
    try:
        return None if text is None else [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{option} must be indices separated by commas, counted from 0, got {shortened(text)}") from None


def read_options(pairs: Iterable[str]) -> dict[str, Any] | None:
    """Parse options of the form name=value; the value is read as JSON, else as a number, else as text.

    >>> read_options(["tolx=1e-9", "active=false", "flow=nice", "tolfacupx=inf"])
    {'tolx': 1e-09, 'active': False, 'flow': 'nice', 'tolfacupx': inf}
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--option must have the form name=value, got {pair!r}")
        options[name.strip()] = _value(value.strip())
    return options or None


def find_function(target: str) -> Callable[..., Any]:
    """Import "module:function" or "path/to/file.py:function"; the module may lie in the current folder.

    >>> find_function("math:hypot")(3, 4)
    5.0
    """
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise ValueError(f"{target!r} must have the form module:function or path/to/file.py:function")
    path = Path(place)
    if path.suffix == ".py":
        if not path.is_file():
            raise ValueError(f"{target!r}: the file {place!r} does not exist")
        folder, module_name = str(path.parent.resolve()), path.stem
    else:
        folder, module_name = str(Path.cwd()), place
    if folder not in sys.path:
        sys.path.insert(0, folder)  # worker processes inherit it
    importlib.invalidate_caches()
    found: Any = _imported(module_name, target)
    if path.suffix == ".py" and Path(getattr(found, "__file__", None) or "").resolve() != path.resolve():
        raise ValueError(f"{target!r}: another module named {module_name!r} is already imported; rename the file")
    for part in name.split("."):
        if not hasattr(found, part):
            public = [known for known in dir(found) if not known.startswith("_")]
            near = difflib.get_close_matches(part, public, n=3)
            hint = f"did you mean {listed(near)}?" if near else "define it there, or name another function"
            raise ValueError(f"{place!r} has no {part!r}; {hint}")
        found = getattr(found, part)
    if not callable(found):
        raise ValueError(f"{target!r} must be a function, but is {shortened(found)}")
    return found


def _imported(name: str, target: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise ValueError(f"{target!r}: the module {error.name!r} is neither installed nor in this folder") from None
        raise ValueError(f"{target!r} cannot be imported: {error}") from error
    except Exception as error:  # whatever a user's module may do
        raise ValueError(f"{target!r} cannot be imported: {type(error).__name__}: {error}") from error


def _numbers(text: str, option: str, forms: str) -> np.ndarray:
    found: Any = read_file(text[1:], option) if text.startswith("@") else text.split(",")
    try:
        values = np.array(found, dtype=object)
        if any(isinstance(value, bool) for value in values.flat):
            raise TypeError
        numbers = np.atleast_1d(values.astype(float))
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last one for lists in more than 32 lists
        got = f"; the file has {shortened(found)}" if text.startswith("@") else ""
        raise ValueError(f"{option} must be {forms}, got {shortened(text)}{got}") from None
    if numbers.size == 0 or max(numbers.shape) < numbers.size:
        raise ValueError(f"{option} {text} must hold one row or one column of numbers, got shape {numbers.shape}")
    if np.any(np.isnan(numbers)):
        raise ValueError(f"{option} must be {forms}, got nan in {shortened(text)}")
    return numbers.ravel()


def _pair(sides: Any, text: str) -> Pair:
    if not isinstance(sides, list | tuple) or len(cast("Sequence[Any]", sides)) != 2:
        got = f"; the file has {shortened(sides)} where a pair should be" if text.startswith("@") else ""
        raise ValueError(f'--bounds must be one pair "low,high" or several pairs separated by semicolons, got {text!r}{got}')
    low, high = (_side(side, text) for side in sides)
    return low, high


def _side(value: Any, text: str) -> float | None:
    word = "" if value is None else str(value).strip().lower()
    try:
        number = None if word in OPEN else float(word)
        if number is None or not isnan(number):
            return number
    except ValueError:
        pass
    raise ValueError(
        f"--bounds must hold numbers, or nothing for an unbounded side, got {shortened(value)} in {shortened(text)}"
    )


def _value(text: str) -> Any:
    for parse in (json.loads, float):
        with contextlib.suppress(ValueError, RecursionError):
            return parse(text)
    return text
