"""One Parquet file of a log, a part. What a part takes in memory is bounded by the size of its file."""

import importlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from thalweg._common.extras import require
from thalweg.storage.atomic import replace
from thalweg.storage.log.footer import Chunk, chunks
from thalweg.storage.log.row import COLUMNS, NAMED, TEXT, Evaluation, from_plain

TEXTS = [column.name for column in COLUMNS if column.kind in (TEXT, NAMED)]
"""Columns of text. They are read as dictionaries, so that a text which many rows share is there once."""
BATCH = 1000
"""Number of rows that are converted at once."""
CODECS = {0, 1}
"""Numbers of the codecs of our parts, none and Snappy. Others can pack gigabytes into kilobytes."""
BYTES, VALUES, LENGTH = (2**24, 64), (2**20, 64), (2**26, 256)
"""Limits (a, b) on bytes, on values and on characters of text, where a file of n bytes may have a + b n of them."""


def read_part(path: Path) -> Iterator[Evaluation]:
    """Yield the evaluations in a file; raise an error of one of many kinds if it is damaged or expands too much."""
    size = path.stat().st_size
    with pyarrow_parquet().ParquetFile(path, read_dictionary=TEXTS) as file:
        there = file.schema_arrow.names
        for missing in (column.name for column in COLUMNS if column.required and column.name not in there):
            raise ValueError(f"it has no column {missing!r}")
        _check_sizes(chunks(path), size)
        names, length = [column.name for column in COLUMNS if column.name in there], 0
        for batch in file.iter_batches(BATCH, columns=names):
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            texts = {name: _texts(columns.pop(name)) for name in TEXTS if hasattr(columns.get(name), "dictionary")}
            length += sum(len(text) for column in texts.values() for text in column if text is not None)
            _check(length, LENGTH, size, "characters of text")
            plain = {name: column.to_pylist() for name, column in columns.items()} | texts
            for values in zip(*plain.values(), strict=True):
                yield from_plain(dict(zip(plain, values, strict=True)))


def write_part(path: Path, rows: Sequence[Evaluation]) -> None:
    """Write a Parquet file in one atomic step."""
    pq, pa = pyarrow_parquet(), importlib.import_module("pyarrow")
    schema = pa.schema([(column.name, column.kind.arrow(pa)) for column in COLUMNS])
    plain = [{name: json.dumps(v) if isinstance(v, dict) else v for name, v in row.plain().items()} for row in rows]
    table = pa.Table.from_pylist(plain, schema)
    # numbers are stored as they are: a dictionary of them would gain nothing, and could expand without a bound
    replace(path, lambda file: pq.write_table(table, file, use_dictionary=TEXTS))


def pyarrow_parquet() -> Any:
    """Import pyarrow's module for Parquet."""
    return require("pyarrow.parquet", extra="parquet", purpose="a log that ends in .parquet")


def _check_sizes(found: Sequence[Chunk], size: int) -> None:
    """Raise a ValueError if the columns of a file of this size claim to be larger than they may be."""
    for codec in {chunk.codec for chunk in found} - CODECS:
        raise ValueError(f"it is compressed by codec {codec} of Parquet, and parts of logs by SNAPPY")
    _check(sum(chunk.bytes for chunk in found), BYTES, size, "bytes")
    _check(sum(chunk.values for chunk in found), VALUES, size, "values")


def _check(number: int, limit: tuple[int, int], size: int, unit: str) -> None:
    if number > limit[0] + limit[1] * size:
        raise ValueError(f"its {size} bytes expand to {number} {unit}")


def _texts(column: Any) -> list[str | None]:
    """Return the texts of a dictionary-encoded column; rows that have the same share it."""
    texts = column.dictionary.to_pylist()
    return [None if i is None else texts[i] for i in column.indices.to_pylist()]
