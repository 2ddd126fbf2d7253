"""Columns of the log, each declared once in `COLUMNS`, and one evaluation as a line of JSON and back, to the last bit."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite, isnan, nan
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from thalweg._common.checks import shortened
from thalweg._common.outcome import Failure, Outcome


class Fields(NamedTuple):
    """Columns that every log has."""

    run: int
    """Number of runs that ended before this one."""
    generation: int
    """Number of the generation within the run, from 0."""
    index: int  # pyright: ignore[reportIncompatibleMethodOverride] (the method of a tuple, of no use here)
    """Number of the point within the generation, from 0."""
    x: np.ndarray
    f: float
    """Function value, NaN after a failure."""
    error: str | None
    """Reason of the failure, None if there is a value."""
    worker: str | None
    """Name of the thread or process that evaluated the point."""
    seconds: float | None
    """Duration of the last attempt, inside the objective."""
    attempts: int
    """Number of times the evaluation was started."""


class Evaluation(Fields):
    """One evaluation: a row of the log."""

    extra: Mapping[str, Any] = MappingProxyType({})
    """Values of further columns, by name."""

    @classmethod
    def from_columns(cls, values: Mapping[str, Any]) -> "Evaluation":
        """Make a row from the values of all `COLUMNS`, by name."""
        row = cls(*(values[name] for name in cls._fields))
        if len(COLUMNS) > len(row):
            further = [column for column in COLUMNS if not column.required]
            row.extra = {each.name: values[each.name] for each in further if each.is_shown(values[each.name])}
        return row

    @classmethod
    def from_outcome(
        cls, run: int, generation: int, index: int, x: np.ndarray, outcome: Outcome, further: Mapping[str, Any] | None = None
    ) -> "Evaluation":
        """Make the row of a point and its outcome; `further` has values of columns that say nothing of the outcome."""
        given: dict[str, Any] = dict.fromkeys(column.name for column in COLUMNS) | dict(further or {})
        given |= {"run": run, "generation": generation, "index": index, "x": x}
        return cls.from_columns(given | {column.name: column.take(outcome) for column in COLUMNS if column.take is not None})

    @property
    def point(self) -> dict[str, float] | None:
        """The coordinates by the names of the variables; None where a search has no names."""
        return self.extra.get("point")

    def outcome(self) -> Outcome:
        """Return the outcome that was recorded, without its note. A failure counts as answered: it was dealt with before."""
        value = self.f if self.error is None else Failure(self.error, answered=True)
        g, h = self.extra.get("g"), self.extra.get("h")
        rows = None if g is None and h is None else (_tuple(g), _tuple(h))
        return Outcome(value, self.worker, self.seconds, self.attempts, rows=rows)

    def plain(self) -> dict[str, Any]:
        """Return the values of all `COLUMNS` as plain Python objects, by name."""
        values = self._asdict() | dict(self.extra)
        return {column.name: column.to_plain(values.get(column.name)) for column in COLUMNS}


@dataclass(frozen=True)
class Kind:
    """Type of a column: conversions to and from plain Python objects, and the type in Parquet."""

    to_plain: Callable[[Any], Any]
    from_plain: Callable[[Any], Any]
    """Raises a TypeError if the object is of another type."""
    arrow: Callable[[Any], Any]
    """Returns the type in Parquet, from the module pyarrow."""


@dataclass(frozen=True)
class Column:
    """A column of the log."""

    name: str
    kind: Kind
    take: Callable[[Outcome], Any] | None = None
    """Returns the value, given the outcome of an evaluation."""
    null: Any = None
    """Value of the row where the log has null; `NEVER` if null is an error."""
    sparse: bool = False
    """True if lines without a value leave the column out."""

    @property
    def required(self) -> bool:
        """True for the columns that every log has."""
        return self.name in Fields._fields

    def is_shown(self, value: Any) -> bool:
        """Return whether a line with this value has the column."""
        return value is not None or not self.sparse

    def to_plain(self, value: Any) -> Any:
        """Convert a value for the log."""
        return None if value is None and self.null is None else self.kind.to_plain(value)

    def read(self, found: Mapping[str, Any]) -> Any:
        """Return the value from a line of the log or a row of Parquet, or raise a KeyError or a TypeError."""
        value = found[self.name] if self.required else found.get(self.name)
        try:
            return self.null if value is None and self.null is not NEVER else self.kind.from_plain(value)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(f"{self.name} is {shortened(value)}") from None


def encode(row: Evaluation) -> bytes:
    """Return a line of JSON, without its end.

    >>> encode(Evaluation(0, 2, 1, np.array([0.1, -0.0]), -np.inf, None, "host:71", 0.5, 1)).decode()
    '{"run": 0, "generation": 2, "index": 1, "x": [0.1, -0.0], "f": -1e999, "error": null, ... "attempts": 1}'
    """
    plain = row.plain()
    values = {column.name: plain[column.name] for column in COLUMNS if column.is_shown(plain[column.name])}
    return ("{" + ", ".join(f'"{name}": {_json(value)}' for name, value in values.items()) + "}").encode()


def decode(line: bytes) -> Evaluation:
    """Return the evaluation in a line of JSON, or raise a ValueError."""
    try:
        return from_plain(json.loads(line))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise ValueError(f"no evaluation: {shortened(line[:200])}") from error


def from_plain(found: Any) -> Evaluation:
    """Return the evaluation in a dictionary of plain objects. Unknown columns are left out; a wrong one raises an error."""
    return Evaluation.from_columns({column.name: column.read(found) for column in COLUMNS})


def _tuple(values: np.ndarray | None) -> tuple[float, ...]:
    return () if values is None else tuple(values.tolist())


def _json(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)}: {_json(each)}" for name, each in value.items()) + "}"
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


def _numbers(value: Any) -> np.ndarray:
    return np.array([nan if each is None else _number(each) for each in value])


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _named(value: Any) -> dict[str, float]:
    found = json.loads(value) if isinstance(value, str) else value  # Parquet has it as text
    if not isinstance(found, dict):
        raise TypeError
    return {_text(name): each if type(each) is int else _number(each) for name, each in found.items()}


COUNT = Kind(int, _count, lambda pa: pa.int64())
NUMBER = Kind(float, _number, lambda pa: pa.float64())
NUMBERS = Kind(lambda value: np.asarray(value, float).tolist(), _numbers, lambda pa: pa.list_(pa.float64()))
TEXT = Kind(str, _text, lambda pa: pa.string())
NAMED = Kind(dict, _named, lambda pa: pa.string())
NEVER = object()

COLUMNS: list[Column] = [
    Column("run", COUNT, null=NEVER),
    Column("generation", COUNT, null=NEVER),
    Column("index", COUNT, null=NEVER),
    Column("x", NUMBERS, null=NEVER),
    Column("point", NAMED, sparse=True),
    Column("f", NUMBER, attrgetter("f"), null=nan),
    Column("error", TEXT, attrgetter("error")),
    Column("worker", TEXT, attrgetter("worker")),
    Column("seconds", NUMBER, attrgetter("seconds")),
    Column("attempts", COUNT, attrgetter("attempts"), null=NEVER),
    Column("g", NUMBERS, lambda outcome: None if outcome.rows is None else outcome.rows[0], sparse=True),
    Column("h", NUMBERS, lambda outcome: None if outcome.rows is None else outcome.rows[1] or None, sparse=True),
    Column("traceback", TEXT, sparse=True),
    Column("search", NAMED, sparse=True),
    Column("std", NUMBERS, sparse=True),
    Column("mean", NUMBERS, sparse=True),
]
"""Columns in the order of the log. A further one is an entry at the end, and `Evaluation.extra` has its values; logs that were
written without it remain readable.

A failure has its traceback if it is the first that came this way. The first evaluation after each generation has the numbers of
the search then, and its standard deviations and mean."""
