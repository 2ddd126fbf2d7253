"""The log of evaluations: exact, complete at any moment, with one writer, and read again when a run continues."""

import json
import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg._common.outcome import Failure, Outcome
from thalweg.storage.log import Evaluation, open_log, parquet, read_log
from thalweg.storage.log.follow import follow_log
from thalweg.storage.log.lines import PAGE
from thalweg.storage.log.row import COLUMNS, NUMBER, Column, decode, encode

KINDS = ["run.jsonl", "run.parquet"]


def row(index=0, generation=0, run=0, x=(0.1, -0.0), f=1.5, **more):
    given = {"error": None, "worker": "here:1", "seconds": 0.25, "attempts": 1, **more}
    return Evaluation(run, generation, index, np.array(x), f, **given)


def same(ours, theirs):
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.x.tobytes() == other.x.tobytes()
        assert (one.f == other.f) or (np.isnan(one.f) and np.isnan(other.f))
        assert one[:3] + one[5:] == other[:3] + other[5:]


ROWS = [
    row(0),
    row(2, f=-np.inf),
    row(1, f=np.inf, seconds=None, worker=None),
    row(0, 1, f=np.nan, error='the objective raised ValueError: "ä\n"', attempts=3),
    row(1, 1, 4, x=[5e-324, 1.7976931348623157e308], f=0.1 + 0.2),
]

numbers = st.floats(allow_nan=False)


@given(
    st.lists(numbers, min_size=1, max_size=9),
    numbers,
    st.none() | st.text(),
    st.none() | st.floats(0, 1e9),
    st.integers(0, 2**62),
)
def test_a_row_comes_back_to_the_last_bit(x, f, text, seconds, count):
    written = row(count, count, count, x, f, error=text, worker=text, seconds=seconds, attempts=count)
    same([decode(encode(written))], [written])
    json.loads(encode(written), parse_constant=pytest.fail)  # JSON knows neither NaN nor Infinity


def test_lines_of_earlier_versions_are_the_same():
    lines = [
        '{"run": 0, "generation": 0, "index": 0, "x": [0.1, -0.0], "f": 1.5, "error": null, "worker": "here:1", '
        '"seconds": 0.25, "attempts": 1}',
        '{"run": 0, "generation": 0, "index": 2, "x": [0.1, -0.0], "f": -1e999, "error": null, "worker": "here:1", '
        '"seconds": 0.25, "attempts": 1}',
        '{"run": 0, "generation": 0, "index": 1, "x": [0.1, -0.0], "f": 1e999, "error": null, "worker": null, '
        '"seconds": null, "attempts": 1}',
        '{"run": 0, "generation": 1, "index": 0, "x": [0.1, -0.0], "f": null, "error": "the objective raised ValueError: '
        '\\"\\u00e4\\n\\"", "worker": "here:1", "seconds": 0.25, "attempts": 3}',
        '{"run": 4, "generation": 1, "index": 1, "x": [5e-324, 1.7976931348623157e+308], "f": 0.30000000000000004, '
        '"error": null, "worker": "here:1", "seconds": 0.25, "attempts": 1}',
    ]
    assert [encode(each).decode() for each in ROWS] == lines


@pytest.mark.parametrize("outcome", [Outcome(2.5, "here:1", 0.5, 2), Outcome(Failure("raised", OSError()), None, None, 3)])
def test_an_outcome_comes_back_from_its_row(outcome):
    written = Evaluation.from_outcome(1, 2, 3, np.array([0.1]), outcome)
    assert written[:3] == (1, 2, 3)
    read = decode(encode(written)).outcome()
    assert (read.error, read[1:]) == (outcome.error, outcome[1:])
    assert read.value == (2.5 if outcome.error is None else Failure("raised", None, answered=True))


@pytest.mark.parametrize("name", KINDS)
def test_a_further_column(tmp_path, name):
    """It is one entry in the list of columns; logs without it can be read and continued, as can logs with it later."""
    path = tmp_path / name
    with open_log(path, resume=False) as log:
        log.append([row(0)])
    COLUMNS.append(Column("energy", NUMBER, lambda outcome: outcome.note))
    try:
        with open_log(path, resume=True) as log:
            log.append([Evaluation.from_outcome(0, 0, i, np.zeros(2), Outcome(1.0, note=i / 3)) for i in (1, 2)])
            log.append([row(3)])
            assert [each.extra for each in read_log(path)] == [{"energy": e} for e in (None, 1 / 3, 2 / 3, None)]
        assert [each.extra["energy"] for each in read_log(path)] == [None, 1 / 3, 2 / 3, None]
        if name == "run.jsonl":
            frame = pandas.read_json(path, lines=True)
        else:
            frame = pandas.read_parquet(parquet.parts(path)[-1])
        assert frame.energy.dropna().tolist() == pytest.approx([1 / 3, 2 / 3])
    finally:
        COLUMNS.pop()
    assert [(each.index, each.extra) for each in read_log(path)] == [(i, {}) for i in range(4)]


@pytest.mark.parametrize("name", KINDS)
def test_written_read_and_known(tmp_path, name):
    with open_log(tmp_path / name, resume=False) as log:
        log.append(ROWS[:2])
        log.append([])
        log.append(ROWS[2:])
        log.sync()
        assert log.known(0, 0, np.array([[0.1, -0.0]])) == {}  # its writer knows
        same(read_log(tmp_path / name), ROWS)
    with open_log(tmp_path / name, resume=True) as log:
        known = log.known(0, 0, np.tile([0.1, -0.0], (3, 1)))
        same([known[i] for i in (0, 2, 1)], ROWS[:3])
        assert log.known(4, 1, np.zeros((9, 2))) == {}
        same(log.known(4, 1, np.array([[0, 0], [5e-324, 1.7976931348623157e308]])).values(), ROWS[4:])
    with open_log(tmp_path / name, resume=True, since=(0, 1)) as log:
        assert log.known(0, 0, np.tile([0.1, -0.0], (3, 1))) == {}
        assert list(log.known(0, 1, np.array([[0.1, -0.0]]))) == [0]
    same(read_log(tmp_path / name), ROWS)


def test_one_bit_makes_another_point(tmp_path, caplog):
    with open_log(tmp_path / "run.jsonl", resume=False) as log:
        log.append([row(0), row(1), row(2)])
    with open_log(tmp_path / "run.jsonl", resume=True) as log:
        assert list(log.known(0, 0, np.array([[0.1, 0.0], [0.1, -0.0]]))) == [1]
        assert "other points in generation 0" in caplog.text


def test_pandas_reads_the_columns(tmp_path):
    columns = [column.name for column in COLUMNS]
    with open_log(tmp_path / "run.jsonl", resume=False) as log, open_log(tmp_path / "run.parquet", resume=False) as table:
        log.append(ROWS)
        table.append(ROWS)
        lines = pandas.read_json(tmp_path / "run.jsonl", lines=True)
        assert list(pandas.read_parquet(tmp_path / "run.parquet").columns) == columns  # no part so far
    parts = pandas.read_parquet(tmp_path / "run.parquet")
    exact = pandas.DataFrame(read_log(tmp_path / "run.jsonl"))
    for frame in (lines, parts, exact):
        assert list(frame.columns) == (columns if frame is parts else list(Evaluation._fields))
        assert frame.f.tolist()[:3] == [1.5, -np.inf, np.inf]
        assert np.isnan(frame.f[3])
        assert frame.f[4] == 0.1 + 0.2
        assert frame.attempts.tolist() == [1, 1, 1, 3, 1]
        assert np.allclose(np.stack(frame.x), np.stack(exact.x), rtol=1e-15)
        assert frame.error[3].startswith("the objective raised")


@pytest.mark.parametrize("name", KINDS)
def test_points_by_name(tmp_path, name):
    """Ints stay ints, and a search without names has no such column in its lines."""
    point = {"rate": 0.1 + 0.2, "width": 2**53}
    written = Evaluation.from_outcome(0, 0, 0, np.array(list(point.values())), Outcome(1.0), {"point": point})
    with open_log(tmp_path / name, resume=False) as log:
        log.append([written, row(1)])
    named, plain = read_log(tmp_path / name)
    assert named.point == point
    assert [type(value) for value in named.point.values()] == [float, int]
    assert (plain.point, dict(plain.extra)) == (None, {})
    assert b'"point": {"rate": 0.30000000000000004, "width": 9007199254740992}' in encode(written)
    assert b"point" not in encode(plain)


@pytest.mark.parametrize("point", [3, [1.0], {"a": "b"}, {"a": True}, {"a": [1]}])
def test_a_damaged_point(point):
    line = encode(row()).replace(b'"f"', b'"point": ' + json.dumps(point).encode() + b', "f"')
    with pytest.raises(ValueError, match="no evaluation"):
        decode(line)


@pytest.mark.parametrize("name", KINDS)
def test_a_second_writer_and_a_foreign_run(tmp_path, name):
    with open_log(tmp_path / name, resume=False) as log:
        with pytest.raises(ValueError, match=r"log .* in use"):
            open_log(tmp_path / name, resume=True)
        log.append([row()])
    with pytest.raises(ValueError, match=r"log .* holds 1 evaluations"):
        open_log(tmp_path / name, resume=False)
    open_log(tmp_path / name, resume=True).close()  # the refusal has left no lock


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_worker_that_outlives_the_writer_holds_no_lock(tmp_path):
    code = f"""
import os, sys
from thalweg.storage.log import open_log
log = open_log({os.fspath(tmp_path / "run.jsonl")!r}, resume=False)
if os.fork() == 0:
    sys.stdin.read()
else:
    os.kill(os.getpid(), 9)
"""
    environment = os.environ | {"PYTHONWARNINGS": "ignore", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, env=environment)
    assert process.wait(60) == -9
    open_log(tmp_path / "run.jsonl", resume=True).close()
    process.stdin.close()


def test_a_line_cut_at_any_byte(tmp_path):
    path, line = tmp_path / "run.jsonl", encode(row(0)) + b"\n"
    for cut in range(1, len(line) + 1):
        path.write_bytes(line + line[:cut])
        complete = 2 if cut >= len(line) - 1 else 1
        assert len(read_log(path)) == complete
        with open_log(path, resume=True) as log:
            log.append([row(7)])
        assert [each.index for each in read_log(path)] == [0] * complete + [7]
        assert len(pandas.read_json(path, lines=True)) == complete + 1


@pytest.mark.parametrize(
    "damage", [b"\0" * 50, b"[" * 100_000, b'{"run": 1}', b"9" * 9999, b'{"run": true', b"\xff", b'"', b"3"]
)
def test_a_damaged_line_costs_itself_only(tmp_path, damage, caplog):
    path = tmp_path / "run.jsonl"
    path.write_bytes(encode(row(0)) + b"\n" + damage + b"\n" + encode(row(2)) + b"\n")
    assert [each.index for each in read_log(path)] == [0, 2]
    assert f"line 2 of log {path} is damaged and left out" in caplog.text
    caplog.clear()
    with open_log(path, resume=True) as log:
        assert sorted(log.known(0, 0, np.tile([0.1, -0.0], (3, 1)))) == [0, 2]


@pytest.mark.parametrize(
    ("field", "value"), [("run", -1), ("index", 1.0), ("x", "12"), ("f", "1"), ("error", 1), ("attempts", None)]
)
def test_a_field_of_another_type_is_damage(field, value):
    with pytest.raises(ValueError, match="no evaluation"):
        decode(json.dumps(json.loads(encode(row())) | {field: value}).encode())


def test_no_row_lies_across_two_pages(tmp_path):
    path = tmp_path / "run.jsonl"
    random = np.random.default_rng(1)
    with open_log(path, resume=False) as log:
        for i in range(60):
            log.append([row(i, x=random.normal(size=size)) for size in random.integers(1, 190, size=3)])
        log.append([row(99, x=random.normal(size=1000)), row(100)])
    pages = [path.read_bytes()[i : i + PAGE] for i in range(0, path.stat().st_size, PAGE)]
    ends = [page.rstrip(b" ").endswith(b"\n") for page in pages]
    assert ends[:-6] == [True] * (len(ends) - 6)  # only the row that fits into no page lies across them
    assert len(pandas.read_json(path, lines=True)) == len(read_log(path)) == 182


@pytest.mark.parametrize("name", KINDS)
def test_readers_at_any_moment(tmp_path, name, monkeypatch):
    """While another thread writes: pandas never complains, and never sees less than before."""
    monkeypatch.setattr(parquet, "ROWS", 20)
    path, rows = tmp_path / name, [row(i, x=np.arange(20) / 7) for i in range(1500)]
    log = open_log(path, resume=False)
    reader = (lambda: pandas.read_json(path, lines=True)) if name.endswith("jsonl") else (lambda: pandas.read_parquet(path))

    def write():
        for i in range(0, len(rows), 3):
            log.append(rows[i : i + 3])
        log.close()

    thread = threading.Thread(target=write)
    thread.start()
    seen = [0]
    while thread.is_alive():
        seen.append(len(reader()))
        assert seen[-1] <= len(read_log(path))
    thread.join()
    assert seen == sorted(seen)
    assert len(reader()) == len(rows)
    same(read_log(path), rows)


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    log = open_log(path, resume=False)
    log.append([row(0)])
    write = os.write
    calls = []

    def full(descriptor, data):
        calls.append(len(data))
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return write(descriptor, bytes(data[:10]))

    with monkeypatch.context() as context:
        context.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            log.append([row(1)])
    log.append([row(2)])
    log.close()
    log.close()
    assert [each.index for each in read_log(path)] == [0, 2]


@pytest.mark.parametrize("moment", ["part", "rename", "tail", "next"])
def test_a_kill_while_a_part_is_made(tmp_path, monkeypatch, moment):
    """Before the part is written, renamed, the waiting rows removed, or the next file begun: each row is there once."""
    path = tmp_path / "run.parquet"
    log = open_log(path, resume=False)
    log.append(ROWS[:3])

    def killed(*_, **__):
        raise KeyboardInterrupt

    owner, name = {
        "part": (parquet.pyarrow_parquet(), "write_table"),
        "rename": (os, "replace"),
        "tail": (type(path), "unlink"),
        "next": (parquet, "LineFile"),
    }[moment]
    with monkeypatch.context() as context:
        context.setattr(owner, name, killed)
        with pytest.raises(KeyboardInterrupt):
            log.close()
    log.lock.release()  # as the end of the process would
    same(read_log(path), ROWS[:3])
    with open_log(path, resume=True) as log:
        assert log.found == 3
        log.append(ROWS[3:])
    same(read_log(path), ROWS)
    assert len(pandas.read_parquet(path)) == len(ROWS)
    assert not [file.name for file in path.iterdir() if file.name.startswith(".")]


def test_a_damaged_part_costs_itself_only(tmp_path, caplog):
    path = tmp_path / "run.parquet"
    for row_ in ROWS:
        with open_log(path, resume=True) as log:
            log.append([row_])
    part = parquet.parts(path)[2]
    part.write_bytes(part.read_bytes()[:40])
    same(read_log(path), ROWS[:1] + ROWS[2:])
    assert f"part {part} is damaged and left out" in caplog.text


def test_parts_become_larger_as_the_log_does(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS", 5)
    with open_log(tmp_path / "run.parquet", resume=False) as log:
        for i in range(1000):
            log.append([row(i)])
    assert len(parquet.parts(tmp_path / "run.parquet")) < 100
    monkeypatch.setattr(parquet, "SECONDS", 0.0)
    with open_log(tmp_path / "run.parquet", resume=True) as log:
        log.append([row(1000)])
        assert len(pandas.read_parquet(tmp_path / "run.parquet")) == 1001


def test_names_and_places(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"log .* directory that does not exist"):
        open_log(tmp_path / "missing" / "run.jsonl", resume=False)
    with pytest.raises(ValueError, match=r"log .* is a directory"):
        open_log(tmp_path, resume=False)
    (tmp_path / "file.parquet").touch()
    with pytest.raises(ValueError, match=r"log .* is a file"):
        open_log(tmp_path / "file.parquet", resume=False)
    for name in KINDS:
        with pytest.raises(FileNotFoundError, match=name):
            read_log(tmp_path / name)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"pyarrow, .*\.\[parquet\]"):
        open_log(tmp_path / "run.parquet", resume=False)


def test_a_clean_log_is_read_without_a_word(tmp_path, caplog):
    with caplog.at_level(logging.DEBUG), open_log(tmp_path / "run.jsonl", resume=True) as log:
        log.append(ROWS)
        read_log(log.path)
    assert not caplog.records


@pytest.mark.parametrize("number", [2, 5, 9])
def test_another_log_in_the_same_place_is_followed_from_its_beginning(tmp_path, number):
    path = tmp_path / "run.jsonl"
    with open_log(path, resume=False) as log:
        log.append([row(i) for i in range(5)])
    followed = follow_log(path)
    assert len(followed.news().rows) == 5
    assert followed.news() is None
    with open_log(path, resume=True) as log:
        log.append([row(5)])
    assert len(followed.news().rows) == 1
    other = tmp_path / "other.jsonl"
    with open_log(other, resume=False) as log:
        log.append([row(i, x=(0.5, 0.25)) for i in range(number)])
    path.write_bytes(other.read_bytes())  # the number of the file stays
    news = followed.news()
    assert (len(news.rows), news.anew) == (number, True)
    assert followed.news() is None
