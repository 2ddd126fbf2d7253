"""Evaluations as a folder of Parquet files (extra `parquet`).

`pandas.read_parquet(folder)` reads the parts, which never change. What is not in one yet lies in a hidden file of JSON Lines,
named after the part it will be, so that after a kill it is clear whether it has become one.
"""

import importlib
import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from thalweg.storage.atomic import replace
from thalweg.storage.log.base import EvaluationLog, Lock
from thalweg.storage.log.lines import LineFile, read_lines
from thalweg.storage.log.rows import Evaluation

logger = logging.getLogger("thalweg")

ROWS, SECONDS = 1000, 30.0
"""When the waiting rows become a part, unless a twentieth of what was there before is more: so there are never very many."""


class ParquetLog(EvaluationLog):
    """A folder of Parquet files."""

    def __init__(self, path: Path, since: tuple[int, int]) -> None:
        require()
        super().__init__(path)
        if path.exists() and not path.is_dir():
            raise ValueError(f"log {os.fspath(path)!r} is a file, but Parquet logs are folders; pass another name")
        path.mkdir(exist_ok=True)
        self.lock = Lock(path)
        try:
            for leftover in [*path.glob(".part-*.new"), *(tail for tail in tails(path) if part_of(tail).exists())]:
                leftover.unlink()
            if not parts(path):
                write_part(path / "part-000000.parquet", [])  # pandas wants one to know the columns
            self.found = self._remember(read_parquet(path), since)
            """How many evaluations it held when it was opened."""
            self.total = self.found
            self.number = max([number(part) + 1 for part in parts(path)] + [number(tail) for tail in tails(path)])
            """Of the next part."""
            self.waiting = [row for tail in tails(path) for row in read_lines(tail)]
            self.tail = LineFile(self._tail)
        except BaseException:
            self.lock.release()
            raise
        self.opened = self.emptied = time.monotonic()

    def append(self, rows: Sequence[Evaluation]) -> None:
        self.tail.append(rows)
        self.waiting += rows
        self.total += len(rows)
        now = time.monotonic()
        late = now - self.emptied > max(SECONDS, (now - self.opened) / 20)
        if late or len(self.waiting) >= max(ROWS, self.total // 20):
            self._empty()

    def sync(self) -> None:
        self.tail.sync()

    def close(self) -> None:
        if self.lock.descriptor is None:
            return
        try:
            if self.waiting:
                self._empty()
            self.tail.close()
            self._tail.unlink()
        finally:
            self.lock.release()

    @property
    def _tail(self) -> Path:
        return self.path / f".part-{self.number:06}.jsonl"

    def _empty(self) -> None:
        """Make a part out of the waiting rows."""
        tail = self._tail
        write_part(part_of(tail), self.waiting)
        self.tail.close()
        tail.unlink()
        self.number += 1
        self.tail, self.waiting, self.emptied = LineFile(self._tail), [], time.monotonic()


def read_parquet(path: Path) -> Iterator[Evaluation]:
    """The evaluations in a folder."""
    pq = require()
    if not path.is_dir():
        raise FileNotFoundError(f"there is no folder {os.fspath(path)!r}")
    read: set[Path] = set()
    while True:
        new = [part for part in parts(path) if part not in read]
        read |= set(new)
        yield from _rows_of(new, pq)
        waiting: list[Evaluation] = []
        with suppress(FileNotFoundError):  # one that has just become a part
            for tail in tails(path):
                waiting += [] if part_of(tail) in read else read_lines(tail)
        if read.issuperset(parts(path)):  # what waits is in none of them
            yield from waiting
            return


def _rows_of(some: Sequence[Path], pq: Any) -> Iterator[Evaluation]:
    for part in some:
        try:
            rows = pq.read_table(part).to_pylist()
        except Exception as error:  # pyarrow has many; as with a line, the loss of a part costs less than that of all
            logger.warning("part %s is damaged and left out (%s)", part, error)
            continue
        yield from map(_row, rows)


def parts(path: Path) -> list[Path]:
    """The Parquet files in a folder, in order."""
    return sorted(path.glob("part-*.parquet"))


def tails(path: Path) -> list[Path]:
    """The files of rows that wait, or waited, to become a part: one at most, unless a kill came between two steps."""
    return sorted(path.glob(".part-*.jsonl"))


def number(file: Path) -> int:
    """The number in the name of a part or of what will be one."""
    return int(file.stem.rpartition("-")[2])


def part_of(tail: Path) -> Path:
    """The part that holds or will hold the rows."""
    return tail.with_name(tail.stem[1:] + ".parquet")


def write_part(path: Path, rows: Sequence[Evaluation]) -> None:
    """Write a Parquet file, which appears as a whole."""
    pq = require()
    pa = importlib.import_module("pyarrow")
    whole, real, text = pa.int64(), pa.float64(), pa.string()
    types = [whole, whole, whole, pa.list_(real), real, text, text, real, whole]
    schema = pa.schema(list(zip(Evaluation._fields, types, strict=True)))
    table = pa.Table.from_pylist([row._asdict() for row in rows], schema)
    replace(path, lambda file: pq.write_table(table, file))


def require() -> Any:
    """pyarrow's module for Parquet, or a sentence that says how to get it."""
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            "a log that ends in .parquet needs pyarrow, which is not installed: run `pip install thalweg[parquet]`."
        ) from error


def _row(fields: dict[str, Any]) -> Evaluation:
    fields["x"] = np.array(fields["x"], float)
    return Evaluation(**fields)
