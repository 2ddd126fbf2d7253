"""The footer of a Parquet file, in Thrift's compact protocol, as far as one must read it before pyarrow may.

pyarrow ends the whole process where it is asked for the metadata of a column and does not understand them: the codec, or the
statistics. A flipped bit is enough for that.
"""

from pathlib import Path
from typing import Any, NamedTuple

MAGIC = b"PAR1"
ROW_GROUPS, COLUMNS, METADATA, CODEC, VALUES, BYTES = 4, 1, 3, 4, 5, 6
"""Numbers of the fields on the way to the sizes of a column, from Parquet's description of its format."""
INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = range(3, 7), 7, 8, (9, 10), 12
"""Types of Thrift that a footer has; 1 and 2 are True and False."""


class Chunk(NamedTuple):
    """The sizes of a column that a file claims."""

    codec: int
    """Number of the codec in Parquet."""
    values: int
    bytes: int
    """Size without compression."""


def chunks(path: Path) -> list[Chunk]:
    """Return the sizes of all columns in a file; raise an error of one of many kinds if it is damaged."""
    with path.open("rb") as file:
        end = file.seek(-8, 2)
        size = int.from_bytes(file.read(4), "little")
        if size > end or file.read(4) != MAGIC:
            raise ValueError("it has no footer")
        file.seek(end - size)
        footer = Footer(file.read(size)).struct()
    found = [column[METADATA] for group in footer[ROW_GROUPS] for column in group[COLUMNS]]
    return [Chunk(*(int(each[field]) for field in (CODEC, VALUES, BYTES))) for each in found]


class Footer:
    """Reader of a Thrift struct; a value takes at least a byte, so that no size which it claims is believed."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def struct(self) -> dict[int, Any]:
        """Return the values of a struct by the numbers of its fields."""
        fields, number = dict[int, Any](), 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            if number in fields:
                raise ValueError("its footer has a field twice")
            fields[number] = head & 15 == 1 if head & 15 in (1, 2) else self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in INTEGERS:
            return self._byte() if kind == INTEGERS[0] else self._integer()
        if kind in LISTS:
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._byte() == 1 if head & 15 in (1, 2) else self._value(head & 15) for _ in range(size)]
        if kind == STRUCT:
            return self.struct()
        if kind not in (DOUBLE, BINARY):
            raise ValueError(f"its footer has the type {kind}")
        size = 8 if kind == DOUBLE else self._unsigned()
        self.place += size
        return self.data[self.place - size : self.place]

    def _byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError("its footer has a number of more than 64 bits")

    def _integer(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
