"""The fingerprint of an objective changes with what it computes, and with nothing else."""

import functools
import json
import logging
import os
import random
import subprocess
import sys
import threading

import numpy as np
import scipy.optimize

from thalweg.objectives.command import Command
from thalweg.search.fingerprint import fingerprint

MODEL = """
import functools, logging, threading
import numpy as np
import scipy.optimize
import part
log, lock, rng = logging.getLogger("model"), threading.Lock(), np.random.default_rng()
NUMBER, TABLE, NAMES = 3.0, {"a": [1, 2]}, {"x", "y", "z"}

class Base:
    unit = 1

class Model(Base):
    def __init__(self, data=(1, 2)):
        self.data = np.array(data)
        self.log = logging.getLogger()

    @property
    def size(self):
        return 2

    def __call__(self, x):
        return self.size * helper(x) * self.unit

def helper(x, options=frozenset({"p", "q", "r"})):
    with lock:
        log.debug("called")
    return NUMBER * len(TABLE["a"]) + (x in {"k", "l", "m"}) + len(NAMES)

def loss(x):
    # comment
    import later
    return helper(x) + part.value(x) + rng.normal()

wrapped = functools.lru_cache(loss)
model = Model()
"""
PART = "import deeper\n\ndef value(x):\n    return deeper.number\n"
FILES = {"model.py": MODEL, "part.py": PART, "deeper.py": "number = 1\n", "later.py": "number = 1\n"}
EDITS = {
    "constant": ("model.py", "NUMBER, TABLE, NAMES = 3.0", "NUMBER, TABLE, NAMES = 4.0", "loss wrapped model"),
    "data": ("model.py", '{"a": [1, 2]}', '{"a": [1, 3]}', "loss wrapped model"),
    "helper": ("model.py", "NUMBER * len", "NUMBER + len", "loss wrapped model"),
    "default": ("model.py", 'frozenset({"p"', 'frozenset({"o"', "loss wrapped model"),
    "attribute": ("model.py", "data=(1, 2)", "data=(1, 3)", "model"),
    "property": ("model.py", "return 2", "return 3", "model"),
    "base class": ("model.py", "unit = 1", "unit = 2", "model"),
    "module": ("part.py", "return deeper.number", "return -deeper.number", "loss wrapped"),
    "module of a module": ("deeper.py", "1", "2", "loss wrapped"),
    "late import": ("later.py", "1", "2", "loss wrapped"),
    "comment": ("model.py", "# comment", "# another\n\n", ""),
}
NAMES = ("loss", "wrapped", "model")
PRINT = """
import json, sys
from thalweg.search.fingerprint import fingerprint
for folder in sys.argv[1:]:
    sys.path.insert(0, folder)
    for name in ("model", "part", "deeper", "later"):
        sys.modules.pop(name, None)
    import model
    print(json.dumps({name: fingerprint(getattr(model, name)) for name in ("loss", "wrapped", "model")}))
    sys.path.pop(0)
"""


def prints(folders, seed):
    """Return the fingerprints of the objectives in the models of these folders, made by a process of its own."""
    env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONDONTWRITEBYTECODE": "1"}
    given = [sys.executable, "-c", PRINT, *map(str, folders)]
    run = subprocess.run(given, env=env, text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_edits_of_anything_that_takes_part_and_of_nothing_else(tmp_path):
    def write(name, files):
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text)
        return tmp_path / name

    folders = [write("first", FILES)]
    for edit, (file, old, new, _) in EDITS.items():
        assert old in FILES[file]
        folders.append(write(edit, {**FILES, file: FILES[file].replace(old, new, 1)}))
    first, *edited = prints(folders, 1)
    for (edit, (*_, expected)), found in zip(EDITS.items(), edited, strict=True):
        assert {name for name in NAMES if found[name] != first[name]} == set(expected.split()), edit
    assert prints([write("moved", FILES)], 2) == [first]  # another folder, another order of sets


def test_functions_without_a_source_file():
    def made(text, **scope):
        exec(text, scope)
        return fingerprint(scope["fun"])

    text = "def fun(x):\n    return [a * x[0] for _ in range(2)]"
    assert made(text, a=1) == made(text.replace("\n", "  # comment\n", 1), a=1, b=2)
    assert len({made(text, a=1), made(text, a=2), made(text, a=np.ones(2)), made(text.replace("2", "3"), a=1)}) == 4


def test_insides_of_foreign_objects():
    big = np.arange(6.0).reshape(2, 3)
    partial = functools.partial
    different = [
        *(partial(pow, number) for number in (1, 2, 1.0)),
        *(partial(max, array) for array in (big, big.T, big.astype(np.float32), np.array([None, 1], object))),
        *(scipy.optimize.rosen, np.sin, np.cos, max, "text".join, b"text"),
        *(partial(max, {"a": 1, "b": [2]}), partial(max, {"a": 1, "b": [3]}), partial(max, {1, 2}), partial(max, [1, 2])),
    ]
    assert len(set(map(fingerprint, different))) == len(different)
    same = [
        (partial(max, {"a": 1, "b": 2}), partial(max, {"b": 2, "a": 1})),
        (random.Random(1), random.Random(2)),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (threading.Lock(), threading.Lock()),
        (logging.getLogger("a"), logging.getLogger("b")),
    ]
    assert all(fingerprint(one) == fingerprint(other) for one, other in same)


class Hostile:
    def __getattribute__(self, name):
        raise SystemExit(name)

    def __repr__(self):
        raise SystemExit

    def __call__(self, x):
        return 0.0


def test_objects_that_refer_to_themselves_or_refuse_to_be_seen():
    circle, deep = [], []
    circle.append({"circle": circle})
    for _ in range(10_000):
        deep = [deep]
    for value in (circle, deep, Hostile(), 10**5000, "\udcff"):
        assert fingerprint(value) == fingerprint(value)


def test_a_program_is_its_command_line_and_the_files_that_it_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script, config = tmp_path / "run.sh", tmp_path / "run.toml"
    for file in (script, config):
        file.write_text("1")
    script.chmod(0o700)
    for command, shell in (("./run.sh --config=run.toml {x}", False), ("cat run.toml | {here}/run.sh {x}>out", True)):
        before = fingerprint(Command(command, shell=shell))
        assert fingerprint(Command(command, shell=shell, timeout=3.0)) == before
        assert fingerprint(Command(f"{command} 2", shell=shell)) != before
        for file in (script, config):
            file.write_text("2")
            assert fingerprint(Command(command, shell=shell)) != before
            file.write_text("1")
        assert fingerprint(Command(command, shell=shell)) == before
    assert fingerprint(Command("echo 'it", shell=True)) == fingerprint(Command("echo 'it", shell=True))
