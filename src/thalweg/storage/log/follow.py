"""Reading a log again and again while it grows: each time only what is new."""

from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from thalweg.storage.log.lines import LONGEST, read_lines
from thalweg.storage.log.row import Evaluation, decode

HEAD = 1024
"""Number of bytes at the begin of a log by which it is known: a row there has the time of an evaluation."""


class News(NamedTuple):
    """The evaluations that a log did not have before."""

    rows: list[Evaluation]
    """New evaluations, which stay."""
    waiting: list[Evaluation]
    """All evaluations that are among `rows` only later: those of a Parquet log that are in no part yet."""
    anew: bool = False
    """True if another log has taken its place: `rows` are from its beginning."""


class FollowedLog(ABC):
    """A log that is read while it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.strange = 0
        """Number of lines or parts that hold no evaluations."""

    @abstractmethod
    def news(self) -> News | None:
        """Return what is new; None if nothing is, or if there is no log."""


class FollowedLines(FollowedLog):
    """A log of JSON Lines. A last line that has no end yet is left for the next time."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._read, self._file, self._head = 0, None, b""
        """Number of bytes that were read, the file they were in, and the first of them."""

    def news(self) -> News | None:
        rows: list[Evaluation] = []
        try:
            with self.path.open("rb") as file:
                status = self.path.stat()
                head = file.read(HEAD)
                other = status.st_ino != self._file or not head.startswith(self._head)  # numbers of files are used again
                anew = self._read > 0 and (other or status.st_size < self._read)
                if anew:
                    self._read = self.strange = 0
                elif status.st_size == self._read:
                    return None
                self._file = status.st_ino
                file.seek(self._read)
                while (line := file.readline(LONGEST)).endswith(b"\n"):
                    self._read += len(line)
                    try:
                        rows.append(decode(line))
                    except ValueError:
                        self.strange += bool(line.strip())
                self._head = head[: self._read]
        except FileNotFoundError:
            return None
        return News(rows, [], anew) if rows or anew else None


class FollowedParquet(FollowedLog):
    """A log of Parquet files, whose parts never change."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._read: set[Path] = set()
        self._tails: list[tuple[Path, int]] = []

    def news(self) -> News | None:
        from thalweg.storage.log.parquet import part_of, parts, tails
        from thalweg.storage.log.part import pyarrow_parquet, read_part

        pyarrow_parquet()
        if anew := not self._read.issubset(parts(self.path)):
            self._read, self._tails, self.strange = set(), [], 0
        rows: list[Evaluation] = []
        while True:
            new = [part for part in parts(self.path) if part not in self._read]
            for part in new:
                self._read.add(part)
                try:
                    rows += read_part(part)
                except Exception:  # pyarrow raises many kinds
                    self.strange += 1
            waiting: list[Evaluation] = []
            with suppress(FileNotFoundError):  # it has just become a part
                found = [(tail, tail.stat().st_size) for tail in tails(self.path) if part_of(tail) not in self._read]
                if found == self._tails and not rows and not anew:
                    return None
                for tail, _ in found:
                    waiting += read_lines(tail)
                self._tails = found
            if self._read.issuperset(parts(self.path)):  # no part was added meanwhile, so what waits is in none
                return News(rows, waiting, anew)


def follow_log(path: Path) -> FollowedLog:
    """Follow a log: a file of JSON Lines, or a folder of Parquet files."""
    return FollowedParquet(path) if path.is_dir() else FollowedLines(path)
