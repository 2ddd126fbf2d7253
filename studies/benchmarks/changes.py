"""Changes of checkpoints and logs, as disks and people make them: of bytes, JSON, arrays, archives, lines and names."""

import io
import json
import os
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import thalweg

Data = dict[str, bytes]
"""Names and contents of the files of a run."""

NONSENSE: list[Any] = [
    None,
    True,
    False,
    -1,
    0,
    1,
    7,
    0.5,
    -0.0,
    -1e300,
    1e308,
    5e-324,
    float("nan"),
    float("inf"),
    -float("inf"),
]
NONSENSE += [
    "",
    "cma",
    "gnn-cma",
    "quadratic",
    "a\nb",
    "\ud800",
    "\x00",
    "x" * 300,
    "../../x",
    "__import__('os').system('true')",
]
NONSENSE += [[], [1], [[]], [None], [[1.0, 2.0]], {}, {"a": 1}, {"__reduce__": "x"}]
LARGE: list[Any] = [2**16, 2**24, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64, 10**9, 10**18, 10**30, 10**400, 1e9, 1e18, 1e308]


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each value within JSON."""
    if here:
        yield here
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(each, (*here, key))


def edit_json(value: Any, choose: random.Random) -> Any:
    """Return the JSON with other values in some places."""
    for _ in range(choose.choice([1, 1, 1, 2, 5])):
        everywhere = list(places(value))
        if not everywhere:
            return value
        *way, last = choose.choice(everywhere)
        inner = value
        for key in way:
            inner = inner[key]
        kind = choose.randrange(6)
        if kind == 0:
            del inner[last]
        elif kind == 1:
            inner[last] = choose.choice(LARGE) * choose.choice([1, -1])
        elif kind == 2 and isinstance(inner[last], list):
            inner[last] = inner[last] * choose.choice([0, 2, 3, 100])
        elif kind == 3 and isinstance(inner, dict):
            inner[choose.choice(["other", "", "x0", "rows", "popsize"])] = inner[last]
        elif kind == 4 and isinstance(inner[last], int | float):
            inner[last] = inner[last] * choose.choice([-1, 2, 1e-3, 1e6]) + choose.choice([0, 1, -1])
        else:
            inner[last] = choose.choice(NONSENSE)
    return value


def edit_text(text: bytes, choose: random.Random) -> bytes:
    """Return JSON as no writer of JSON would write it."""
    place = choose.randrange(len(text) + 1)
    piece = choose.choice(
        [b"[" * 100_000, b'{"a":' * 50_000, b"9" * 5000, b"1e999", b"NaN", b'"\\ud800"', b"\xff\xfe", b"\x00", b"-", b",", b"]"]
    )
    return text[:place] + piece + text[place + choose.choice([0, 0, 1, 10]) :]


def edit_bytes(data: bytes, choose: random.Random, other: bytes = b"") -> bytes:
    """Return the bytes with bits flipped, pieces cut, moved, repeated or foreign."""
    edited = bytearray(data)
    for _ in range(choose.choice([1, 1, 1, 2, 3, 8])):
        if not edited:
            break
        start, size = choose.randrange(len(edited)), choose.choice([1, 2, 4, 8, 40, 400])
        kind = choose.randrange(8)
        if kind <= 1:
            edited[start] ^= 1 << choose.randrange(8)
        elif kind == 2:
            del edited[start:]
        elif kind == 3:
            del edited[start : start + size]
        elif kind == 4:
            edited[start:start] = choose.randbytes(size)
        elif kind == 5:
            edited[start : start + size] = choose.choice([choose.randbytes(size), b"\x00" * size, b"\xff" * size])
        elif kind == 6:
            source = choose.choice([bytes(edited), other or data])
            place = choose.randrange(len(source))
            edited[start : start + size] = source[place : place + size]
        else:  # a number in little endian that is large
            number = choose.choice([2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1])
            width = choose.choice([2, 4, 8])
            edited[start : start + width] = (number % 2 ** (8 * width)).to_bytes(width, "little")
    return bytes(edited)


def npy(array: np.ndarray, **settings: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **settings)
    return buffer.getvalue()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(contents: Any, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as file:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, data in contents:
            file.writestr(name, data)
    return buffer.getvalue()


def edit_array(data: bytes, choose: random.Random) -> bytes:
    """Return a member of an archive with other numbers, another type or shape, or a header that lies."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    kind = choose.randrange(7)
    if kind == 0 and array.size and array.dtype.kind == "f":
        flat = array.copy().reshape(-1)
        for _ in range(choose.choice([1, 1, flat.size])):
            flat[choose.randrange(flat.size)] = choose.choice([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 5e-324, 1e-200])
        return npy(flat.reshape(array.shape))
    if kind == 1:
        dtypes = ["<f4", "<i8", "<u1", "?", ">f8", "<c16", "<U3", "<f2"]
        with np.errstate(all="ignore"):
            return npy(array.astype(choose.choice(dtypes)))
    if kind == 2:
        return npy(array.reshape(-1)[: choose.randrange(array.size + 1)])
    if kind == 3:
        return npy(np.zeros(choose.choice([(), (0,), (1,), (2, 2), (3, 0), (1, 1, 1), (10_000,), (0, 2**40)])))
    if kind == 4:
        shape = choose.choice(
            ["(2**60,)", "(-1,)", "(99999999999,)", "(0, 4611686018427387904)", "(3.0,)", "(10**9, 10**9)", "2"]
        )
        descr = choose.choice(["<f8", "|O", "<f3", "|V1000000000", "<U999999999", "[('a', '<f8')]"])
        line = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + bytes(16)
    if kind == 5:
        return npy(np.array([Bomb()], object), allow_pickle=True)
    return edit_bytes(data, choose)


class Bomb:
    def __reduce__(self) -> Any:
        return os.system, ("false",)


def change_json(data: bytes, choose: random.Random, edit: Callable[..., Any]) -> bytes:
    """Change the JSON of a checkpoint, as a value or as a text."""
    contents = members(data)
    text = np.load(io.BytesIO(contents["meta.npy"])).tobytes()
    text = (
        edit(text, choose) if edit is edit_text else json.dumps(edit(json.loads(text), choose)).encode("utf-8", "surrogatepass")
    )
    return zipped({**contents, "meta.npy": npy(np.frombuffer(text, np.uint8))}.items())


def claim(value: Any, choose: random.Random) -> Any:
    """Return the JSON of a checkpoint of another size."""
    problem, settings, campaign = (value[name] for name in ("problem", "settings", "campaign"))
    size = choose.choice([3, 10, 100, 1000, 20_000, 100_000, 10**6, 10**8, 10**12, 2**62])
    kind = choose.randrange(6)
    if kind == 0:
        problem["dimension"] = size
        if size <= 20_000:
            problem |= {"x0": [0.5] * size, "bounds": None, "sigma0": 1.0}
            campaign["best"] = None
    elif kind == 1:
        settings["popsize"] = size
    elif kind == 2:
        campaign["large_runs"] = choose.choice([1, 5, 10, 20, 24, 30, 60, 1000, 10**9])
        campaign["runs"] = choose.choice([campaign["runs"], campaign["large_runs"]])
    elif kind == 3:
        settings["options"] |= choose.choice([{"hidden": size}, {"flow": "nice"}, {"couplings": size}, {"history": size}])
    elif kind == 4:
        settings["method"] = choose.choice(list(thalweg.METHODS))
    elif value["pending"]:
        value["pending"]["drawn"] = size
        for each in (value["pending"]["queue"] + value["pending"]["open"])[: choose.randrange(3)]:
            each |= {"index": choose.choice([size, -size]), "generation": choose.choice([0, size])}
    return value


def change_members(data: bytes, choose: random.Random, other: bytes) -> bytes:
    """Change the archive of a checkpoint: its members, their order, names, compression, or one of its arrays."""
    contents = members(data)
    name = choose.choice(list(contents))
    kind = choose.randrange(9)
    if kind == 0:
        del contents[name]
    elif kind == 1:
        return zipped([*contents.items(), (name, contents[name])])
    elif kind == 2:
        return zipped(contents.items(), choose.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
    elif kind == 3:
        contents[choose.choice(["../../x.npy", "/tmp/x.npy", "state.other.npy", "meta", "a.txt"])] = contents[name]
    elif kind == 4:
        theirs = members(other)
        contents[name] = theirs.get(name, choose.choice(list(theirs.values())))
    elif kind == 5:
        contents[name] = contents[choose.choice(list(contents))]
    else:
        contents[name] = edit_array(contents[name], choose)
    return zipped(contents.items())


def change_lines(data: bytes, choose: random.Random) -> bytes:
    """Change the lines of a log."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return edit_bytes(data + b"{}", choose)
    i, kind = choose.randrange(len(lines)), choose.randrange(7)
    if kind == 0:
        lines[i] = lines[choose.randrange(len(lines))]
    elif kind == 1:
        choose.shuffle(lines)
    elif kind == 2:
        del lines[i]
    elif kind == 3:
        lines[i] = lines[i].rstrip(b"\n")
    elif kind == 4:
        lines[i] = edit_text(lines[i], choose)
    else:
        try:
            lines[i] = json.dumps(edit_json(json.loads(lines[i]), choose)).encode() + b"\n"
        except ValueError:
            lines[i] = edit_text(lines[i], choose)
    return b"".join(lines)


def rename(files: Data, name: str, choose: random.Random) -> Data:
    """Give a file of a Parquet log another name, or a copy with one."""
    names = ["part-999999.parquet", "part-0.parquet", "part-x.parquet", ".part-000007.jsonl", "part-" + "9" * 18 + ".parquet"]
    names += ["part-" + "9" * 40 + ".parquet", ".part-000000.jsonl", ".part-x.new", "other.txt"]
    files = {**files, f"run.parquet/{choose.choice(names)}": files[name]}
    if choose.random() < 0.5:
        del files[name]
    return files
