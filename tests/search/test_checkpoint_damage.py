"""Files that are no checkpoints, not any more, or those of a stranger: one clear error each, and nothing in them is run."""

import io
import json
import os
import pickle
import warnings
import zipfile

import numpy as np
import pytest

import thalweg
from thalweg.search.checkpoint import read
from thalweg.search.minimize import minimize
from thalweg.search.optimizer import Optimizer
from thalweg.storage import archive


def sphere(x):
    return float(x @ x)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a checkpoint of `minimize` in its second run, small enough to try every byte of it."""
    path = tmp_path_factory.mktemp("whole") / "run.npz"
    es = Optimizer([1.0, 2.0], method="cma", popsize=4, seed=3, restarts=2, options={"tolx": 1.0}, bounds=(-5, None))
    while es.campaign.runs < 1 or es.run.nit < 3:
        X = es.ask()
        es.tell(X, [sphere(x) for x in X])
    es.tell(es.ask(3)[:1], [1.0])  # one waits, two are open
    es.save(path, {"first_failure": None})
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.npz"


def unpacked(data):
    """The JSON and the arrays."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = dict(file)
    return json.loads(arrays.pop("meta").tobytes()), arrays


def packed(meta, arrays):
    buffer = io.BytesIO()
    np.savez(buffer, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)
    return buffer.getvalue()


def refused(path, data, words="is damaged or cut off|was not written by Thalweg"):
    """The error of a file, the same through each door."""
    path.write_bytes(data)
    for load in (Optimizer.load, read):
        with pytest.raises(ValueError, match=words) as error:
            load(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 400 + len(str(path))


def loads_or_refuses(path, data):
    """Whether a file is loaded; if not, the error is a ValueError that names the file."""
    path.write_bytes(data)
    message = None
    try:
        Optimizer.load(path).ask()
    except ValueError as error:
        message = str(error)
    assert message is None or (str(path) in message and "\n" not in message)
    return message is None


def test_it_is_whole(path, whole):
    assert loads_or_refuses(path, whole)
    assert loads_or_refuses(path, packed(*unpacked(whole)))


def zipped(members, **settings):
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", **settings) as file:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, data in members:
            file.writestr(name, data)
    return buffer.getvalue()


def npy(array, **settings):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **settings)
    return buffer.getvalue()


class Bomb:
    def __reduce__(self):
        return pytest.exit, ("the file has run code",)


FOREIGN = {
    "empty": (b"", "is empty; remove it to begin anew"),
    "text": (b"no checkpoint", "was not written by Thalweg; pass the name of another file"),
    "pickle": (pickle.dumps(Bomb()), "was not written by Thalweg"),
    "array": (npy(np.zeros(3)), "was not written by Thalweg"),
    "start of a zip": (b"PK\x03\x04", "is damaged or cut off"),
    "zip": (zipped([("a.txt", b"b")]), "was not written by Thalweg"),
    "empty zip": (zipped([]), "was not written by Thalweg"),
    "other JSON": (packed([1, 2], {}), "was not written by Thalweg"),
    "JSON without a format": (packed({"a": 1}, {}), "was not written by Thalweg"),
    "not JSON": (zipped([("meta.npy", npy(np.zeros(9, np.uint8)))]), "is damaged or cut off"),
    "endless JSON": (zipped([("meta.npy", npy(np.full(10**6, ord("["), np.uint8)))]), "is damaged or cut off"),
    "pickle inside": (zipped([("meta.npy", npy(np.array([Bomb()], object), allow_pickle=True))]), "is damaged or cut off"),
    "older": (packed({"format": 1}, {}), r"has format 1, .*; remove it to begin anew"),
    "newer": (
        packed({"format": 99, "version": "7.1"}, {"x": np.zeros(2)}),
        "has format 99, written by Thalweg '7.1'; this is .*: use the version that wrote it or a newer one",
    ),
    "no more than a format": (packed({"format": archive.FORMAT}, {}), "is damaged: contents has no"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file(path, kind):
    data, words = FOREIGN[kind]
    refused(path, data, words)
    with pytest.raises(ValueError, match=words):
        minimize(sphere, [1.0, 2.0], method="cma", seed=3, checkpoint=path)


def test_not_a_file_not_there_not_allowed(tmp_path, path, whole):
    with pytest.raises(ValueError, match="is no file; pass the name of one"):
        Optimizer.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        Optimizer.load(path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        with pytest.raises(ValueError, match="is no file"):
            Optimizer.load(path)  # and does not wait for a writer
        path.unlink()
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        path.write_bytes(whole)
        path.chmod(0)
        with pytest.raises(PermissionError):
            Optimizer.load(path)


def test_every_cut(path, whole):
    for end in range(1, len(whole), 13):
        refused(path, whole[:end])


def test_every_byte_flipped(path, whole):
    """What a flip leaves loadable are dates and the like: never another state."""
    random = np.random.default_rng(1)
    meta, arrays = unpacked(whole)
    for place in range(0, len(whole), 5):
        data = bytearray(whole)
        data[place] ^= 1 << int(random.integers(8))
        if not loads_or_refuses(path, data):
            continue
        found, others = read(path)
        assert found == meta
        assert all(np.array_equal(arrays[name], others[name], equal_nan=True) for name in arrays)


@pytest.mark.parametrize("seed", range(4))
def test_inserted_removed_and_repeated_bytes(path, whole, seed):
    random = np.random.default_rng(seed)
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(random.integers(1, 4)):
            start, size = int(random.integers(len(data))), int(random.integers(1, 40))
            other = int(random.integers(len(data)))
            kind = random.integers(4)
            if kind == 0:
                data[start:start] = random.bytes(size)
            elif kind == 1:
                del data[start : start + size]
            elif kind == 2:
                data[start : start + size] = data[other : other + size]
            else:
                data[start : start + size] = random.bytes(size)
        loads_or_refuses(path, bytes(data))


def places(value, here=()):
    """The way to each value within JSON."""
    yield here
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*here, key))


NONSENSE = [
    None,
    True,
    -1,
    0,
    7,
    2**64,
    10**400,
    0.5,
    -1e300,
    float("nan"),
    float("inf"),
    "",
    "cma",
    "x" * 300,
    [],
    [1],
    {},
    {"a": 1},
]


def edited(meta, place, value):
    """The JSON with another value somewhere; a missing one if the value is `...`."""
    meta = json.loads(json.dumps(meta))
    inner = meta
    for key in place[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return meta


def test_other_values_in_the_json(path, whole):
    """Hundreds of files that are whole, each with a value of nonsense: refused, or as good as any other."""
    meta, arrays = unpacked(whole)
    random = np.random.default_rng(0)
    everywhere = [place for place in places(meta) if place]
    loaded = 0
    for place in everywhere:
        for choice in random.choice(len(NONSENSE) + 1, 2, replace=False):
            value = ... if choice == len(NONSENSE) else NONSENSE[choice]
            loaded += loads_or_refuses(path, packed(edited(meta, place, value), arrays))
    assert 0 < loaded < len(everywhere)  # counts, times and budgets may be others


TOLERANCES = {"tolerance": 0.0, "equality_tolerance": 1e-4}


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("run", "nfev"), -1, r"is damaged: contents\.run\.nfev is -1; take a copy of it, or remove it"),
        (("run", "nfev"), True, r"contents\.run\.nfev is True"),
        (("run", "reasons"), {"tolx": "a"}, r"contents\.run\.reasons\.'tolx' is 'a'"),
        (("problem", "bounds"), [[1, 2, 3]], "no search can have such settings"),
        (("problem", "x0"), [-9.0, 2.0], "no search can have such settings .*x0"),
        (("settings", "options"), {"nothing": 1}, "no search can have such settings .*'nothing'"),
        (("settings", "options"), {"active": []}, "no search can have such settings"),
        (("settings", "method"), "os.system", "no search can have such settings .*'os.system'"),
        (("settings", "popsize"), 10**12, "a generation of 1000000000000 points"),
        (("campaign", "large_runs"), 900, "a generation of .* points"),
        (("campaign", "more"), 1, "contents.campaign has an unknown 'more'"),
        (("campaign", "best", "x"), [1.0], "a point that has not 2 coordinates"),
        (("pending", "drawn"), float("inf"), "contents.pending is"),
        (("pending", "open", 0, "x"), [1.0], "is damaged: a point has shape"),
        (("pending", "open", 0, "x"), [-9.0, 1.0], r"is damaged: point\[0\] = -9 lies outside its bounds"),
        (("pending", "queue", 0, "x"), [1.0, float("inf")], "is damaged: point must be finite"),
        (("campaign", "best", "x"), [1e300, -6.0], r"is damaged: best\[1\] = -6 lies outside its bounds"),
        (("problem", "dimension"), ..., "contents.problem has no 'dimension'"),
        (("settings", "popsize"), 10**7, "a generation of 10000000 points, .* in a file of this size"),
        (("campaign", "large_runs"), 24, "a generation of 4 points, doubled 25 times, in a file of this size"),
        (("constraints",), dict.fromkeys(("inequalities", "equalities"), 10**8) | TOLERANCES, "200000000 constraints, whose"),
    ],
)
def test_what_is_wrong_is_named(path, whole, place, value, words):
    meta, arrays = unpacked(whole)
    path.write_bytes(packed(edited(meta, place, value), arrays))
    with pytest.raises(ValueError, match=words):
        Optimizer.load(path)


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("state.mean", np.zeros(3), r"state.mean is float64 of shape \(3,\), here float64 of shape \(2,\)"),
        ("state.mean", np.zeros(2, np.float32), "state.mean is float32"),
        ("state.key", np.zeros(2, np.int64), "state.key is int64 of shape"),
        ("recent", np.float64(1.0), "recent is float64"),
        ("injected", np.zeros((4, 3)), "injected is float64"),
        ("bests", np.zeros((2, 2)), "bests is float64"),
        ("best_x", np.zeros(2, bool), "best_x is bool"),
        ("best_x", np.full(2, np.nan), "best must be finite"),
        ("injected", np.full((1, 2), -9.0), r"injected\[0\] = -9 lies outside its bounds"),
        ("state.mean", None, "'state.mean' is only here"),
        ("state.other", np.zeros(1), "'state.other' is only in the file"),
        ("std", np.array(["a", "b"]), "is damaged or cut off"),
        ("std", np.zeros(2, complex), "is damaged or cut off"),
    ],
)
def test_arrays_of_another_state(path, whole, name, array, words):
    meta, arrays = unpacked(whole)
    arrays = {key: value for key, value in {**arrays, name: array}.items() if value is not None}
    path.write_bytes(packed(meta, arrays))
    with pytest.raises(ValueError, match=words):
        Optimizer.load(path)


def test_a_dimension_whose_state_is_not_in_the_file(path, whole):
    """A covariance of 20,000 coordinates takes 3 GB, and their starting point 100 kB of JSON."""
    meta, arrays = unpacked(whole)
    meta["problem"] |= {"dimension": 20_000, "x0": [0.0] * 20_000, "bounds": None}
    meta["campaign"]["best"] = None
    path.write_bytes(packed(meta, arrays))
    with pytest.raises(ValueError, match="20000 coordinates, whose state has more numbers"):
        Optimizer.load(path)
    meta["settings"]["method"] = None
    path.write_bytes(packed(meta, arrays))
    with pytest.raises(ValueError, match="20000 coordinates, whose state has more numbers"):
        Optimizer.load(path, method=thalweg.CMAES())


def test_a_large_population_comes_back(path):
    """Its file has as many zeros as it needs to be allowed such a generation."""
    es = Optimizer([1.0], method="snes", popsize=2_200_000, seed=3)
    es.save(path)
    assert 60_000 < path.stat().st_size < 80_000
    assert np.array_equal(Optimizer.load(path).ask(), es.ask())
    meta, arrays = unpacked(path.read_bytes())
    path.write_bytes(packed(meta, {name: array for name, array in arrays.items() if name != "padding"}))
    with pytest.raises(ValueError, match="in a file of this size"):
        Optimizer.load(path)


def header(text):
    """A member that claims something of itself."""
    line = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + bytes(16)


@pytest.mark.parametrize(
    "claim",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 18 + ", " + "9" * 18 + "), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': [('a', '<f8'), ('b', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (2,), }",
        "__import__('os').system('false')",
        "(" * 100,
    ],
)
def test_an_array_that_claims_something_else(path, whole, claim):
    members = zipfile.ZipFile(io.BytesIO(whole))
    data = [(name, header(claim) if name == "mean.npy" else members.read(name)) for name in members.namelist()]
    refused(path, zipped(data), "is damaged or cut off")


def test_packed_members_are_not_unpacked(path, whole):
    """A file of a few megabytes could hold terabytes."""
    members = zipfile.ZipFile(io.BytesIO(whole))
    data = [(name, members.read(name)) for name in members.namelist()]
    refused(path, zipped(data, compression=zipfile.ZIP_DEFLATED), "packed members")
    refused(path, zipped([*data, data[-1]]), "members that overlap")
