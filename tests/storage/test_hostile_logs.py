"""Logs of strangers: what reading them takes is bounded by the size of the file, and what is no evaluation is left out."""

import json
import logging
import os
import re
import time
import tracemalloc

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from thalweg.search.minimize import minimize
from thalweg.storage.log import Evaluation, footer, lines, open_log, part, read_log


def row(index=0, x=(0.5, 1.0), **more):
    given = {"f": 1.5, "error": None, "worker": "here:1", "seconds": 0.25, "attempts": 1, **more}
    return Evaluation(0, 0, index, np.array(x), **given)


@pytest.fixture
def log(tmp_path):
    """A folder of Parquet files with two rows."""
    path = tmp_path / "run.parquet"
    with open_log(path, resume=False) as opened:
        opened.append([row(0), row(1)])
    return path


def table(**columns):
    """A table of one row, with other columns than a log has."""
    plain = {name: [value] for name, value in row(2).plain().items()} | columns
    rows = max(map(len, plain.values()))
    types = {"x": pyarrow.list_(pyarrow.float64())}
    return pyarrow.table(
        {
            name: pyarrow.array(column * (rows // len(column)), types.get(name) if name not in columns else None)
            for name, column in plain.items()
        }
    )


def test_what_is_written_has_no_dictionary_of_numbers(tmp_path):
    path = tmp_path / "part-000001.parquet"
    part.write_part(path, [row(i, np.zeros(1000)) for i in range(200)])
    assert path.stat().st_size > 2e5 / 8
    assert len(list(part.read_part(path))) == 200


@pytest.mark.parametrize(
    ("columns", "settings", "words"),
    [
        ({"x": [[0.0] * 3_000_000]}, {}, "bytes expand to 30000.. values"),
        ({"error": ["a" * 100_000] * 1200}, {}, "bytes expand to .* characters of text"),
        ({"x": [[0.0, 0.0]]}, {"compression": "zstd"}, "compressed by codec 6"),
        ({"x": ["text"]}, {}, "x is 'text'"),
        ({"index": [-1]}, {}, "index is -1"),
        ({"index": ["a"]}, {}, "index is 'a'"),
        ({"f": ["low"]}, {}, "f is 'low'"),
        ({"worker": [1]}, {}, "worker is 1"),
    ],
)
def test_a_part_that_is_none(log, caplog, columns, settings, words):
    pyarrow.parquet.write_table(table(**columns), log / "part-000002.parquet", **settings)
    pool = pyarrow.default_memory_pool()
    before = pool.max_memory()
    assert [each.index for each in read_log(log)] == [0, 1]
    assert pool.max_memory() - before < 3e7
    (record,) = caplog.records
    assert "is damaged and left out (" in record.getMessage()
    assert "\n" not in record.getMessage()
    assert record.getMessage().count("part-000002") == 1
    assert re.search(words, record.getMessage())


def test_flipped_bits_of_a_footer(log):
    """pyarrow ends the process where it does not understand what it is asked for."""
    path = log / "part-000001.parquet"
    whole, found = path.read_bytes(), set()
    for place in range(len(whole) - int.from_bytes(whole[-8:-4], "little") - 8, len(whole), 7):
        data = bytearray(whole)
        data[place] ^= 1
        path.write_bytes(data)
        found.add(len(read_log(log)))
    assert found >= {0, 2}


def test_the_sizes_of_columns_are_those_that_pyarrow_reads(tmp_path):
    for name, number in {"none": 0, "snappy": 1, "zstd": 6}.items():
        pyarrow.parquet.write_table(table(), tmp_path / name, compression=name)
        group = pyarrow.parquet.ParquetFile(tmp_path / name).metadata.row_group(0)
        theirs = [(column.num_values, column.total_uncompressed_size) for column in map(group.column, range(group.num_columns))]
        assert [tuple(chunk[1:]) for chunk in footer.chunks(tmp_path / name)] == theirs
        assert {chunk.codec for chunk in footer.chunks(tmp_path / name)} == {number}


def test_further_columns_are_not_read(log):
    """Not even if they are broken or large."""
    more = {"more": [{"a": [[1.0]]}], "large": ["a" * 10**6]}
    pyarrow.parquet.write_table(table(**more), log / "part-000002.parquet")
    assert [each.index for each in read_log(log)] == [0, 1, 2]


def test_files_with_other_names_are_left_out(log, caplog):
    for name in ("part-abc.parquet", "other.parquet", ".part-x.jsonl", "part-000009.parquet/part"):
        (log / name).parent.mkdir(exist_ok=True)
        (log / name).write_bytes(b"nothing")
    os.mkfifo(log / "part-000008.parquet")
    assert [each.index for each in read_log(log)] == [0, 1]
    assert len(caplog.records) == 4
    with open_log(log, resume=True) as opened:
        opened.append([row(2)])
    assert [each.index for each in read_log(log)] == [0, 1, 2]


def test_a_log_without_a_newline_takes_linear_time(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"a" * 2**24)
    began = time.perf_counter()
    assert read_log(path) == []
    lines.repair(path)
    assert time.perf_counter() - began < 2
    assert path.read_bytes() == b""


def test_a_line_longer_than_any(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(lines, "LONGEST", 10_000)
    path = tmp_path / "run.jsonl"
    with open_log(path, resume=False) as opened:
        opened.append([row(0)])
    with path.open("ab") as file:
        file.write(b"[" * 10**7 + b"\n")
    with open_log(path, resume=True) as opened:
        opened.append([row(1)])
    caplog.clear()
    tracemalloc.start()
    assert [each.index for each in read_log(path)] == [0, 1]
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    assert "line 2 of log" in caplog.text
    assert "longer than 10000 bytes" in caplog.text
    with path.open("ab") as file:
        file.write(b"a" * 10**5)
    with pytest.raises(ValueError, match="ends with a line of more than 10000 bytes; pass another log"):
        lines.repair(path)
    assert path.stat().st_size > 10**7


def test_many_damaged_lines_are_counted(tmp_path, caplog):
    path = tmp_path / "run.jsonl"
    path.write_text("nothing\n" * 1000)
    assert read_log(path) == []
    assert len(caplog.records) == lines.SHOWN + 1
    assert "1000 lines of log" in caplog.records[-1].getMessage()


@pytest.mark.parametrize(
    "change", [{"index": 2**62}, {"run": 2**62}, {"generation": 2**62}, {"x": [1.0]}, {"x": [1.0] * 9}, {"x": []}]
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_row_with_large_numbers_costs_nothing(tmp_path, caplog, change, asynchronous):
    """To come to a point, an asynchronous run that continues draws all before it."""
    caplog.set_level(logging.ERROR)
    given = {"method": "cma", "seed": 1, "asynchronous": asynchronous, "max_evals": 24}
    path = tmp_path / "run.ckpt"
    first = minimize(lambda x: x @ x, [1.0, 2.0], checkpoint=path, **given)
    log = tmp_path / "run.ckpt.jsonl"
    last = json.loads(log.read_text().splitlines()[-1])
    with log.open("a") as file:
        file.write(json.dumps(last | {"index": 0, "generation": last["generation"] + 1} | change) + "\n")
    began = time.perf_counter()
    more = minimize(lambda x: x @ x, [1.0, 2.0], checkpoint=path, **given | {"max_evals": 48})
    assert time.perf_counter() - began < 2
    assert (first.nfev, more.nfev) == (24, 48)
    clean = minimize(lambda x: x @ x, [1.0, 2.0], **given | {"max_evals": 48})
    assert more.x.tolist() == clean.x.tolist()
