"""A log of evaluations as JSON Lines."""

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from thalweg.storage.log.base import EvaluationLog, Lock
from thalweg.storage.log.row import Evaluation, decode, encode

logger = logging.getLogger("thalweg")

PAGE = 4096


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
        path.touch()  # for the lock
        self.lock = Lock(path)
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
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield decode(line)
            except ValueError as error:
                if line.endswith(b"\n") and line.strip():
                    logger.warning("line %d of log %s is damaged and left out (%s)", number, path, error)


def repair(path: Path) -> None:
    """Make a file whose writer was killed end with a complete line: end the last line, or cut it off if it is incomplete."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        start, tail = end, b""
        while start and b"\n" not in tail:
            start = max(0, start - PAGE)
            file.seek(start)
            tail = file.read(end - start)
        rest = tail[tail.rfind(b"\n") + 1 :]
        try:
            decode(rest)
            file.seek(end)
            file.write(b"\n")
        except ValueError:
            file.truncate(end - len(rest))
