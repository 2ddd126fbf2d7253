"""A run as it was recorded: results, checkpoints and logs agree, and a log is read while it grows."""

import os

import numpy as np
import pytest

import thalweg
from thalweg.plots.recorded import Evaluations, follow, read
from thalweg.search.constraints import Kinds
from thalweg.storage.log import Evaluation, open_log

ARRAYS = ("run", "nit", "nfev", "failures", "fun", "sigma", "axes", "mean", "std")


def rows(number, *, start=0):
    return [
        Evaluation(0, i // 4, i % 4, np.array([1.0, i]), float(i), None, "a:1", 0.5, 1) for i in range(start, start + number)
    ]


def test_a_result_its_checkpoint_and_its_log_agree(run):
    result, path = run
    both, one = read(path), read(result)
    alone = path.with_name("alone.jsonl")
    alone.write_bytes(path.with_name("run.ckpt.jsonl").read_bytes())
    log = read(alone)
    for found in (both, one, log):
        assert (found.nfev, found.failures, found.names) == (54, result.failures, ("rate", "width"))
        assert found.best.f == result.fun
        assert np.array_equal(found.best.x, result.x)
        assert found.logarithmic.tolist() == [True, False]
        assert found.integers.tolist() == [False, True]
    assert (both.method, both.seed, both.message) == (one.method, one.seed, one.message) == ("cma", 1, result.message)
    assert one.generations.nfev.tolist() == list(range(6, 55, 6))
    assert both.generations.nfev.tolist() == [0, *range(6, 55, 6)]
    assert log.generations.nfev.tolist() == list(range(0, 54, 6))
    for name in ARRAYS:
        kept = getattr(one.generations, name)
        assert np.array_equal(getattr(both.generations, name)[1:], kept), name
        assert np.array_equal(getattr(log.generations, name)[1:], kept[:-1]), name


def test_evaluations_have_their_failures_and_tracebacks(run):
    result, path = run
    table = read(path).evaluations
    failed = np.flatnonzero(table.failed)
    assert len(failed) == result.failures > 1
    assert table.errors == ("the objective raised ValueError: too wide",)
    assert all("too wide" in table.traceback(i) for i in failed)
    assert len(table.tracebacks) == 1
    assert table.traceback(int(np.argmin(table.failed))) is None
    assert np.all(table.x[failed, 1] > 75)
    assert np.all(table.seconds >= 0)


def test_a_log_of_parquet_is_read_like_lines(run, tmp_path):
    pytest.importorskip("pyarrow")
    _, path = run
    given = thalweg.read_log(path.with_name("run.ckpt.jsonl"))
    followed = None
    with open_log(tmp_path / "run.parquet", resume=False) as log:
        for i in range(0, 54, 18):
            log.append(given[i : i + 18])
            log._make_part() if i == 18 else None
            followed = followed or follow(tmp_path / "run.parquet")
            assert len(followed.read().evaluations) == i + 18
            assert followed.read() is followed.read()
    for found in (followed.read(), read(tmp_path / "run.parquet")):
        table, other = found.evaluations, read(path).evaluations
        assert np.array_equal(table.x, other.x)
        assert np.array_equal(table.f, other.f, equal_nan=True)
        assert table.tracebacks == other.tracebacks
        assert found.generations.nfev.tolist() == list(range(0, 54, 6))


def test_a_growing_log_is_read_once(tmp_path):
    path = tmp_path / "run.jsonl"
    path.touch()
    followed = follow(path)
    assert followed.read().nfev == 0
    assert followed.read().best is None
    with open_log(path, resume=False) as log:
        log.append(rows(3))
        first = followed.read()
        assert first.nfev == 3
        assert followed.read() is first
        with path.open("ab") as half:
            half.write(b'{"run": 0, "generation": 0, "ind')
        assert followed.read().nfev == 3
        with path.open("r+b") as half:
            half.truncate(os.path.getsize(path) - 32)
        log.append(rows(5, start=3))
        later = followed.read()
    assert later.evaluations.x[:, 1].tolist() == list(range(8))
    assert first.nfev == 3
    path.unlink()
    with open_log(path, resume=False) as log:
        log.append(rows(2, start=20))
    assert followed.read().evaluations.f.tolist() == [20.0, 21.0]


def test_damage_costs_the_damaged_line_alone(tmp_path):
    path = tmp_path / "run.jsonl"
    with open_log(path, resume=False) as log:
        log.append(rows(3))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\xff\x00 rubbish\n" + lines[1].replace(b"[1.0, 1.0]", b"[1.0]") + lines[2])
    assert read(path).evaluations.f.tolist() == [0.0, 2.0]


def test_what_holds_no_run_is_refused(tmp_path):
    foreign = tmp_path / "thesis.tex"
    foreign.write_text("A sentence.\nAnother one.\n")
    with pytest.raises(ValueError, match="holds no evaluation"):
        read(foreign)
    with pytest.raises(FileNotFoundError, match="no file"):
        read(tmp_path / "missing.jsonl")
    (tmp_path / "part.parquet").write_bytes(b"PAR1....PAR1")
    with pytest.raises(ValueError, match="part of a Parquet log"):
        read(tmp_path / "part.parquet")
    (tmp_path / "run.ckpt").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(ValueError, match="damaged"):
        read(tmp_path / "run.ckpt")
    with pytest.raises(TypeError, match="no run is recorded in 3"):
        read(3)


def test_the_best_is_feasible_and_the_least_violated_otherwise():
    def row(f, g, error=None):
        return Evaluation.from_columns(
            {"run": 0, "generation": 0, "index": 0, "x": np.zeros(1), "f": f, "error": error, "worker": None, "seconds": None}
            | {"attempts": 1, "g": np.array(g), **dict.fromkeys(("point", "h", "traceback", "search", "std", "mean"))}
        )

    table = Evaluations().with_rows([row(np.nan, [np.nan], "failed"), row(1.0, [2.0]), row(3.0, [1.0])])
    assert table.best() == 2
    assert table.best_so_far().tolist() == [np.inf] * 3
    table = table.with_rows([row(9.0, [-1.0]), row(0.0, [1e-3]), row(8.0, [0.0])])
    assert table.best() == 5
    assert table.best_so_far().tolist() == [np.inf] * 3 + [9.0, 9.0, 8.0]
    assert table.best(Kinds(1, tolerance=0.01)) == 4
    assert Evaluations().best() is None


def test_a_checkpoint_alone_and_one_with_a_later_log(run, tmp_path):
    result, path = run
    (tmp_path / "run.ckpt").write_bytes(path.read_bytes())
    alone = read(tmp_path / "run.ckpt")
    assert len(alone.evaluations) == 0
    assert alone.nfev == result.nfev
    assert alone.best.f == result.fun
    later = [row for row in thalweg.read_log(path.with_name("run.ckpt.jsonl")) if row.generation >= 5]
    with open_log(tmp_path / "run.ckpt.jsonl", resume=False) as log:
        log.append(later)
    part = read(tmp_path / "run.ckpt")
    assert part.nfev == result.nfev
    assert part.number.tolist() == list(range(31, 55))
    assert part.best.f == result.fun
