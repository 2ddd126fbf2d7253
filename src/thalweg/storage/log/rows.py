"""One evaluation as a line of JSON, and back to the same bits."""

import json
from collections.abc import Callable
from math import isfinite, isnan, nan
from typing import Any, NamedTuple

import numpy as np

from thalweg._common.checks import shortened


class Evaluation(NamedTuple):
    """What became of one point."""

    run: int
    """How many runs had ended before this one."""
    generation: int
    """Within the run, from 0."""
    index: int  # pyright: ignore[reportIncompatibleMethodOverride] (that of a tuple is of no use here)
    """Within the generation, from 0."""
    x: np.ndarray
    f: float
    """NaN where there is none."""
    error: str | None
    """Why there is no value."""
    worker: str | None
    seconds: float | None
    attempts: int


def encode(row: Evaluation) -> bytes:
    """A line of JSON without its end.

    >>> encode(Evaluation(0, 2, 1, np.array([0.1, -0.0]), -np.inf, None, "host:71", 0.5, 1)).decode()
    '{"run": 0, "generation": 2, "index": 1, "x": [0.1, -0.0], "f": -1e999, "error": null, ... "attempts": 1}'
    """
    counts = {name: int(getattr(row, name)) for name in ("run", "generation", "index", "attempts")}
    fields = row._asdict() | counts | {"x": np.asarray(row.x, float).tolist(), "f": float(row.f)}
    return ("{" + ", ".join(f'"{name}": {_json(value)}' for name, value in fields.items()) + "}").encode()


def decode(line: bytes) -> Evaluation:
    """The evaluation in a line; a ValueError if there is none."""
    try:
        found = json.loads(line)
        values = [convert(found[name]) for name, convert in CONVERT.items()]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError(f"no evaluation: {shortened(line)}") from error
    return Evaluation(*values)


def _json(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    if not isinstance(value, float) or isfinite(value):
        return json.dumps(value)
    # JSON has neither NaN nor infinity; a number beyond the doubles is JSON, and Python, pandas and JavaScript read infinity
    return "null" if isnan(value) else "1e999" if value > 0 else "-1e999"


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise TypeError
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError
    return float(value)


def _point(value: Any) -> np.ndarray:
    return np.array([nan if each is None else _number(each) for each in value])


def _words(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError
    return value


CONVERT: dict[str, Callable[[Any], Any]] = {
    "run": _count,
    "generation": _count,
    "index": _count,
    "x": _point,
    "f": lambda value: nan if value is None else _number(value),
    "error": _words,
    "worker": _words,
    "seconds": lambda value: None if value is None else _number(value),
    "attempts": _count,
}
"""What each field must be to count as one."""
