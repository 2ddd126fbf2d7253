"""A log of evaluations as JSON Lines."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from thalweg.storage.lock import Lock
from thalweg.storage.log.base import EvaluationLog
from thalweg.storage.log.row import Evaluation, decode, encode

logger = logging.getLogger("thalweg")

PAGE = 4096
LONGEST = 2**26
"""Length of the longest line that is read, in bytes: a point of a million coordinates with their names."""
BLOCK = 2**16
BEGINNING = b'{"run": '
"""First bytes of each line."""
SHOWN = 3
"""Number of damaged lines that are reported one by one."""


class LineFile:
    """A file that grows by complete lines."""

    def __init__(self, path: Path) -> None:
        repair(path)
        self.descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        self.size = os.fstat(self.descriptor).st_size

    def append(self, rows: Sequence[Evaluation]) -> None:
        """Append the rows in one write.

        The kernel makes a write visible page by page, and a kill may end it between two pages. So no row that fits into a page
        crosses the border of one: neither a reader nor a kill sees half of it.
        """
        data, place = bytearray(), self.size
        for line in map(encode, rows):
            left = PAGE - (place + len(data)) % PAGE
            if left <= len(line) < PAGE:
                data += b" " * left
            data += line + b"\n"
        try:
            while data:
                written = os.write(self.descriptor, data)
                self.size += written
                del data[:written]
        except OSError:  # the disk is full: no half line may stay before what follows
            os.ftruncate(self.descriptor, place)
            self.size = place
            raise

    def sync(self) -> None:
        """Wait until all rows are on the disk."""
        os.fsync(self.descriptor)

    def close(self) -> None:
        """Close the file."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class LinesLog(LineFile, EvaluationLog):
    """A file of JSON Lines, locked against a second writer."""

    def __init__(self, path: Path, since: tuple[int, int]) -> None:
        EvaluationLog.__init__(self, path)
        if path.exists():
            check_ours(path)
        else:
            path.touch()  # for the lock
        self.lock = Lock(path, f"log {os.fspath(path)!r}")
        try:
            self.found = self._remember(read_lines(path), since)
            """Number of evaluations in the log when it was opened."""
            LineFile.__init__(self, path)
        except BaseException:
            self.lock.release()
            raise

    def close(self) -> None:
        super().close()
        self.lock.release()


def read_lines(path: Path) -> Iterator[Evaluation]:
    """Yield the evaluations in a file.

    An incomplete last line is left out, as its write was cut off. Any other invalid line was damaged later: it is left out with
    a warning, as its loss costs one evaluation and an error would cost all others.
    """
    number = damaged = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST):
            number += 1
            try:
                if len(line) == LONGEST and not line.endswith(b"\n"):
                    line = _skip_line(file)
                    raise ValueError(f"longer than {LONGEST} bytes")
                yield decode(line)
            except ValueError as error:
                if not line.endswith(b"\n") or not line.strip():
                    continue
                damaged += 1
                if damaged <= SHOWN:
                    logger.warning("line %d of log %s is damaged and left out (%s)", number, path, error)
    if damaged > SHOWN:
        logger.warning("%d lines of log %s are damaged and left out", damaged, path)


def check_ours(path: Path) -> None:
    """Raise a ValueError if a file holds something else than a log; one that is empty may become a log."""
    with path.open("rb") as file:
        rest, others = b"", 0
        while file.tell() < LONGEST and (line := file.readline(LONGEST)):
            with suppress(ValueError):
                decode(line)
                return
            others += line.endswith(b"\n") and not line.isspace()
            rest = line.strip(b" \r\n\0")
        if not others and BEGINNING.startswith(rest[: len(BEGINNING)]):  # its first line was cut off
            return
    raise ValueError(f"log {os.fspath(path)!r} was not written by Thalweg; pass the name of another file")


def repair(path: Path) -> None:
    """Make a file whose writer was killed end with a complete line: end the last line, or cut it off if it is incomplete."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        rest = _last_line(file, end)
        if len(rest) > LONGEST:
            raise ValueError(f"log {os.fspath(path)!r} ends with a line of more than {LONGEST} bytes; pass another log")
        try:
            decode(rest)
            file.seek(end)
            file.write(b"\n")
        except ValueError:
            file.truncate(end - len(rest))


def _skip_line(file: BinaryIO) -> bytes:
    """Read to the end of a line; return the last piece of it, for a message."""
    piece = b""
    while more := file.readline(BLOCK):
        piece = more
        if piece.endswith(b"\n"):
            break
    return b"..." + piece


def _last_line(file: BinaryIO, end: int) -> bytes:
    """Return what follows the last newline, or more than `LONGEST` bytes if that is longer."""
    pieces: list[bytes] = []
    start, newline = end, -1
    while start and newline < 0 and end - start <= LONGEST:
        size = min(start, BLOCK)
        start -= size
        file.seek(start)
        block = file.read(size)
        newline = block.rfind(b"\n")
        pieces.append(block[newline + 1 :])
    return b"".join(reversed(pieces))
