"""Files that were there before and are no logs: refused in a sentence, and left as they were."""

import os

import numpy as np
import pytest

from thalweg import minimize
from thalweg.storage.log import Evaluation, open_log, read_log
from thalweg.storage.log.row import encode


def run(log):
    return minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, popsize=6, max_evals=6, log=log)


LINE = encode(Evaluation(0, 0, 0, np.array([0.5, 1.0]), 2.0, None, "here:1", 0.25, 1))


@pytest.mark.parametrize(
    "content",
    [
        b"\\documentclass{article}\nno end",
        b"no line at all",
        b'{"run": "weights", "loss": 0.5}\n',
        b'first\n{"run": 0, "gen',
        b"\0\1\2" * 10_000,
    ],
)
def test_a_foreign_file(tmp_path, content):
    path = tmp_path / "thesis.tex"
    path.write_bytes(content)
    os.utime(path, (1, 1))
    with pytest.raises(ValueError, match=r"log .*thesis.tex' was not written by Thalweg"):
        run(path)
    assert path.read_bytes() == content
    assert path.stat().st_mtime == 1


@pytest.mark.parametrize("content", [b"", b"\n \n", LINE[:5], LINE[:40], b"\0" * 40, b"damaged\n" + LINE + b"\n" + LINE[:9]])
def test_what_a_log_of_ours_may_look_like(tmp_path, content):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with open_log(path, resume=True) as log:
        log.append([Evaluation(0, 0, 1, np.array([0.5, 1.0]), 3.0, None, "here:1", 0.25, 1)])
    assert [row.f for row in read_log(path)] == [2.0] * (LINE in content) + [3.0]


@pytest.mark.parametrize("name", ["notes.txt", "part-0.parquet", "other.parquet"])
def test_a_foreign_folder(tmp_path, name):
    path = tmp_path / "data.parquet"
    path.mkdir()
    (path / name).write_bytes(b"PAR1 of somebody else PAR1")
    with pytest.raises(ValueError, match=r"log .*data.parquet' was not written by Thalweg"):
        run(path)
    assert os.listdir(path) == [name]


def test_an_empty_folder_and_one_with_a_log_and_more(tmp_path):
    path = tmp_path / "run.parquet"
    path.mkdir()
    (path / ".DS_Store").write_bytes(b"")
    assert run(path).nfev == 6
    (path / "notes.txt").write_text("mine")
    with open_log(path, resume=True) as log:
        assert log.known(0, 0, np.zeros((0, 2))) == {}
    assert len(read_log(path)) == 6
