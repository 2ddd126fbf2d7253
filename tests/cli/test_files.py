"""Files that options name: whatever they hold, an error is one sentence, comes at once, and takes no memory."""

import os
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from click.testing import CliRunner

from thalweg.cli.app import app
from thalweg.cli.files import LIMIT
from thalweg.cli.problem import read_bounds, read_start

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and limits of POSIX")


def npy(array: np.ndarray, **more: bool) -> bytes:
    np.save("array.npy", array, **more)
    return Path("array.npy").read_bytes()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    small = npy(np.ones(2))
    texts = {
        "deep.json": "[" * 100_000,
        "nested.json": "[" * 500 + "1" + "]" * 500,
        "big.json": "[1" + "0" * 400 + "]",
        "bigger.json": "[1" + "0" * 5000 + "]",
        "true.json": "[true, 1]",
        "null.json": "[null, 1]",
        "object.json": '{"y": 1}',
        "nan.json": "[NaN, 1]",
        "none.json": "[]",
        "empty.json": "",
        "empty.csv": "",
        "field.csv": '"' + "1" * 200_000,
        "head.csv": "x,y\n1,2\n",
        "ragged.csv": "1,2\n3\n",
        "deep.toml": "a = " + "[" * 100_000,
        "latin.json": b"\xff\xfe",
        "cut.npy": small[:50],
        "short.npy": small[:-1],
        "claims.npy": small.replace(b"(2,), }" + b" " * 11, b"(999999999999,), }"),
        "objects.npy": npy(np.array([1, {}], object), allow_pickle=True),
        "complex.npy": npy(np.ones(2) * 1j),
        "square.npy": npy(np.ones((2, 2))),
        "three.npy": npy(np.ones((2, 3))),
        "nothing.npy": npy(np.ones(0)),
    }
    for name, text in texts.items():
        Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    for name in ("vast.npy", "vast.json", "vast.toml"):
        Path(name).write_bytes(small)
        os.truncate(name, 10**11)
    for name in ("pipe.json", "pipe.npy", "pipe.toml"):
        os.mkfifo(name)
    Path("folder.json").mkdir()
    return tmp_path


@pytest.fixture
def memory():
    """A process that cannot grow by more than a gigabyte."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    if sys.platform == "linux":
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + 2**30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


X0 = {
    "deep.json": "not valid JSON (lists that are too deep)",
    "nested.json": "the file has [[[[",
    "big.json": "must be numbers",
    "bigger.json": "not valid JSON",
    "true.json": "the file has [True, 1]",
    "null.json": "got nan",
    "object.json": "the file has {'y': 1}",
    "nan.json": "got nan",
    "none.json": "got shape (0,)",
    "empty.json": "not valid JSON",
    "latin.json": "not valid JSON",
    "empty.csv": "got shape (0,)",
    "field.csv": "not a table",
    "head.csv": "the file has [['x', 'y']",
    "ragged.csv": "the file has",
    "cut.npy": "not an array of numbers",
    "short.npy": "size differs from its header",
    "claims.npy": "size differs from its header",
    "objects.npy": "not an array of numbers",
    "complex.npy": "not an array of numbers",
    "square.npy": "got shape (2, 2)",
    "nothing.npy": "got shape (0,)",
    "vast.npy": f"at most {LIMIT} are read",
    "vast.json": f"at most {LIMIT} are read",
    "pipe.json": "is no file",
    "pipe.npy": "is no file",
    "folder.json": "is no file",
    "missing.json": "there is no such file",
    "x.txt": "must end in .json, .csv or .npy",
    "": "must end in .json, .csv or .npy",
}
"""What is said of a file as a start."""
BOUNDS = {name: X0[name] for name in ("deep.json", "claims.npy", "objects.npy", "vast.npy", "pipe.json", "missing.json")} | {
    "object.json": "must hold a pair of numbers for each coordinate",
    "none.json": "must hold a pair of numbers for each coordinate",
    "nan.json": "the file has nan where a pair should be",
    "three.npy": "the file has [1.0, 1.0, 1.0] where a pair should be",
    "head.csv": "must hold numbers, or nothing for an unbounded side, got 'x'",
}
SPACES = {"deep.toml": "too deep", "vast.toml": f"at most {LIMIT} are read", "pipe.toml": "is no file"}
CASES = [("--x0", f"@{name}", words) for name, words in X0.items()]
CASES += [("--bounds", f"@{name}", words) for name, words in BOUNDS.items()]
CASES += [("--sigma0", f"@{name}", X0[name]) for name in ("deep.json", "claims.npy", "pipe.npy")]
CASES += [("--scale", "@nested.json", X0["nested.json"])]
CASES += [("--space", name, words) for name, words in SPACES.items()]


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(("option", "value", "words"), CASES)
def test_files_of_all_kinds(option: str, value: str, words: str):
    start = () if option in ("--x0", "--space") else ("--x0", "1,2")
    result = CliRunner().invoke(app, ["minimize", "math:cos", option, value, *start], prog_name="thalweg")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert option in result.stderr
    assert value in result.stderr
    assert words in result.stderr


def test_numbers_of_all_types_and_layouts(folder: Path):
    for array in (np.float32([1, 2]), np.int8([1, 2]), np.ones((2, 1)) * [[1], [2]], np.asfortranarray([[1.0, 2.0]])):
        np.save("x.npy", array)
        assert read_start("@x.npy", None, None, seed=0).tolist() == [1.0, 2.0]
    np.save("x.npy", np.float64(3.0))
    assert read_start("@x.npy", 2, None, seed=0).tolist() == [3.0, 3.0]
    np.save("b.npy", np.asfortranarray([[1.0, 2.0], [3.0, np.inf]]))
    assert read_bounds("@b.npy") == [(1.0, 2.0), (3.0, None)]
    Path("x.csv").write_bytes(b"\xef\xbb\xbf1,2\r\n")  # as spreadsheets write it
    assert read_start("@x.csv", None, None, seed=0).tolist() == [1.0, 2.0]
