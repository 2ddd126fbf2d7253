"""File format of checkpoints: a zip archive of arrays, which `numpy.load` reads too, one of which holds JSON. Never a pickle.

Files are replaced atomically. As a file may come from a stranger, reading runs nothing in it, trusts no size that it claims,
and reports anything wrong as a ValueError.
"""

import io
import json
import math
import os
import re
import zipfile
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from thalweg._common.checks import shortened
from thalweg.storage import File, described, is_name
from thalweg.storage.atomic import replace

FORMAT = 4

# what `numpy.save` writes before the numbers: magic string, version 1.0, length of the header, header
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00.."
    rb"\{'descr': '([<>|][biuf][1248])', 'fortran_order': (False|True), 'shape': \(((?:\d{1,18}, ?)*\d{0,18})\), \} *\n",
    re.DOTALL,
)


class RefusedError(ValueError):
    """The file is no checkpoint that this version can read. The message follows the name of the file."""


def write(file: File, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write the arrays and the JSON part into an open file, or replace one of this name in one atomic step."""
    text = json.dumps({"format": FORMAT, "version": version(), **meta}, default=plain).encode()
    contents = {"meta": np.frombuffer(text, np.uint8), **arrays}
    if is_name(file):
        replace(Path(file), lambda fresh: np.savez(fresh, allow_pickle=False, **contents))
        return
    if isinstance(file, io.TextIOBase) or not hasattr(file, "write"):
        raise TypeError(f"a checkpoint goes into a file that is open for bytes, or one with a name, got {shortened(file)}")
    np.savez(file, allow_pickle=False, **contents)


@cache
def version() -> str:
    """Return the version of Thalweg."""
    try:
        return metadata.version("thalweg")
    except metadata.PackageNotFoundError:  # run from the source tree
        return "0+source"


def plain(value: Any) -> Any:
    """Convert a number of numpy to one of Python, for `json.dumps(default=...)`."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{shortened(value)} cannot be written as JSON")


def read(file: File) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the JSON part and the arrays. Of the JSON only the number of the format is checked."""
    data = _bytes_of(file)
    try:
        return _unpack(data)
    except RefusedError as refused:
        raise ValueError(f"checkpoint {described(file)} {refused}") from refused
    except Exception as error:  # the readers of zip and JSON may raise anything here
        raise ValueError(
            f"checkpoint {described(file)} is damaged or cut off ({shortened(error)}); take a copy of it, or remove it to "
            "begin anew"
        ) from error


def _bytes_of(file: File) -> bytes:
    if is_name(file):
        check_file(Path(file))
        return Path(file).read_bytes()
    read = getattr(file, "read", None)
    data = None if read is None else read()
    if not isinstance(data, bytes):
        raise TypeError(f"a checkpoint is read from a file that is open for bytes, or one with a name, got {shortened(file)}")
    if not data:
        raise ValueError(f"checkpoint {described(file)} has no bytes from here on; rewind it with seek(0)")
    return data


def check_file(path: Path) -> None:
    """Raise a ValueError if the path is a directory, a pipe or another thing that is no file."""
    if path.exists() and not path.is_file():
        raise ValueError(f"checkpoint {os.fspath(path)!r} is no file; pass the name of one")


def _unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not data:
        raise RefusedError("is empty; remove it to begin anew")
    if not data.startswith(b"PK\x03\x04"):
        raise RefusedError("was not written by Thalweg; pass the name of another file")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        if "meta" not in members:
            raise RefusedError("was not written by Thalweg; pass the name of another file")
        _check_sizes(archive.infolist(), len(data))
        meta = json.loads(as_numbers(archive.read(members.pop("meta"))).tobytes())
        _check_format(meta)
        return meta, {name: as_numbers(archive.read(member)) for name, member in members.items()}


def _check_sizes(members: list[zipfile.ZipInfo], available: int) -> None:
    """Raise a ValueError if members are compressed or overlap: then they could be larger than the file."""
    if any(member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size for member in members):
        raise ValueError("packed members")
    if sum(member.file_size for member in members) > available or len({member.filename for member in members}) < len(members):
        raise ValueError("members that overlap")


def _check_format(meta: Any) -> None:
    if not isinstance(meta, dict) or type(meta.get("format")) is not int:
        raise RefusedError("was not written by Thalweg; pass the name of another file")
    found: int = meta["format"]
    if found < FORMAT:
        raise RefusedError(
            f"has format {shortened(found)}, of an older version; remove it to begin anew (known= takes its log)"
        )
    if found > FORMAT:
        raise RefusedError(
            f"has format {shortened(found)}, written by Thalweg {shortened(meta.get('version'))}; this is {version()}, which "
            f"reads format {FORMAT}: use the version that wrote it or a newer one"
        )


def as_numbers(data: bytes) -> np.ndarray:
    """Return an array of numbers, if the data are exactly what `numpy.save` writes for one: of that size, and no objects."""
    header = HEADER.match(data)
    if header is None:
        raise ValueError("not an array of numbers")
    descr, fortran, sizes = header.groups()
    shape, dtype = tuple(int(size) for size in sizes.split(b",") if size.strip()), np.dtype(descr.decode())
    if (
        int.from_bytes(data[8:10], "little") != header.end() - 10
        or math.prod(shape) * dtype.itemsize != len(data) - header.end()
    ):
        raise ValueError("an array whose size differs from its header")
    return np.frombuffer(data, dtype, offset=header.end()).reshape(shape, order="F" if fortran == b"True" else "C").copy()
