"""A log of evaluations as a folder of Parquet files (extra `parquet`).

`pandas.read_parquet(folder)` reads the parts, which never change. Rows that are in no part yet are in the tail: a hidden file
of JSON Lines with the number of the part that it will become, so that after a kill it is clear whether it has become one.
"""

import logging
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from thalweg.storage.lock import Lock
from thalweg.storage.log.base import EvaluationLog
from thalweg.storage.log.lines import LineFile, read_lines
from thalweg.storage.log.part import pyarrow_parquet, read_part, write_part
from thalweg.storage.log.row import Evaluation

logger = logging.getLogger("thalweg")

PART = re.compile(r"part-\d{1,18}\.parquet|\.part-\d{1,18}\.jsonl")
"""Names of parts and tails; files with other names are not ours."""
ROWS, SECONDS = 1000, 30.0
"""Number and age of waiting rows at which they become a part; or a twentieth of the log's, if more, to have fewer parts."""


class ParquetLog(EvaluationLog):
    """A folder of Parquet files, with a tail of JSON Lines."""

    def __init__(self, path: Path, since: tuple[int, int]) -> None:
        pyarrow_parquet()
        super().__init__(path.absolute())  # an objective may change the working directory
        if path.exists() and not path.is_dir():
            raise ValueError(f"log {os.fspath(path)!r} is a file, but Parquet logs are folders; pass another name")
        path.mkdir(exist_ok=True)
        check_ours(path)
        self.lock = Lock(path, f"log {os.fspath(path)!r}")
        try:
            for leftover in [*path.glob(".part-*.new"), *(tail for tail in tails(path) if part_of(tail).exists())]:
                leftover.unlink()
            if not parts(path):
                write_part(path / "part-000000.parquet", [])  # from which pandas knows the columns
            self.found = self._remember(read_parquet(path), since)
            """Number of evaluations in the log when it was opened."""
            self.total = self.found
            self.number = max([number(part) + 1 for part in parts(path)] + [number(tail) for tail in tails(path)])
            """Number of the next part."""
            self.waiting = [row for tail in tails(path) for row in read_lines(tail)]
            self.tail = LineFile(self._tail)
        except BaseException:
            self.lock.release()
            raise
        self.opened = self.part_made = time.monotonic()

    def append(self, rows: Sequence[Evaluation]) -> None:
        self.tail.append(rows)
        self.waiting += rows
        self.total += len(rows)
        now = time.monotonic()
        late = now - self.part_made > max(SECONDS, (now - self.opened) / 20)
        if late or len(self.waiting) >= max(ROWS, self.total // 20):
            self._make_part()

    def sync(self) -> None:
        self.tail.sync()

    def close(self) -> None:
        if self.lock.descriptor is None:
            return
        try:
            if self.waiting:
                self._make_part()
            self.tail.close()
            self._tail.unlink()
        finally:
            self.lock.release()

    @property
    def _tail(self) -> Path:
        return self.path / f".part-{self.number:06}.jsonl"

    def _make_part(self) -> None:
        """Turn the waiting rows into a part."""
        tail = self._tail
        write_part(part_of(tail), self.waiting)
        self.tail.close()
        tail.unlink()
        self.number += 1
        self.tail, self.waiting, self.part_made = LineFile(self._tail), [], time.monotonic()


def check_ours(path: Path) -> None:
    """Raise a ValueError if a folder holds files and none of them is of a log."""
    there = [file for file in path.iterdir() if not file.name.startswith(".")]
    if not there or tails(path):
        return
    for part in parts(path):
        with suppress(Exception):  # pyarrow raises many kinds
            for _ in read_part(part):
                break
            return
    raise ValueError(f"log {os.fspath(path)!r} was not written by Thalweg; pass the name of another folder")


def read_parquet(path: Path) -> Iterator[Evaluation]:
    """Yield the evaluations in a folder, also while another process writes to it."""
    pyarrow_parquet()
    if not path.is_dir():
        raise FileNotFoundError(f"there is no folder {os.fspath(path)!r}")
    for foreign in sorted({*path.glob("*.parquet")} - {*parts(path)}):
        logger.warning("%s is no part of log %s and is left out", foreign.name, path)
    read: set[Path] = set()
    while True:
        for part in [part for part in parts(path) if part not in read]:
            read.add(part)
            try:
                rows = list(read_part(part))
            except Exception as error:  # pyarrow raises many kinds; as with a line, losing a part costs less than losing all
                logger.warning("part %s is damaged and left out (%s)", part, " ".join(str(error).split()))
            else:
                yield from rows
        waiting: list[Evaluation] = []
        with suppress(FileNotFoundError):  # it has just become a part
            for tail in tails(path):
                waiting += [] if part_of(tail) in read else read_lines(tail)
        if read.issuperset(parts(path)):  # no part was added meanwhile, so what waits is in none
            yield from waiting
            return


def parts(path: Path) -> list[Path]:
    """Return the Parquet files in a folder, in order."""
    return sorted(file for file in path.glob("part-*.parquet") if PART.fullmatch(file.name) and file.is_file())


def tails(path: Path) -> list[Path]:
    """Return the files of waiting rows: one at most, unless the writer was killed between two steps."""
    return sorted(file for file in path.glob(".part-*.jsonl") if PART.fullmatch(file.name) and file.is_file())


def number(file: Path) -> int:
    """Return the number in the name of a part or a tail."""
    return int(file.stem.rpartition("-")[2])


def part_of(tail: Path) -> Path:
    """Return the name of the part that a tail becomes."""
    return tail.with_name(tail.stem[1:] + ".parquet")
