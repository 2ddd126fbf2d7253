"""The file of a checkpoint: a zip archive of plain arrays, as `numpy.load` reads it, with JSON among them; never a pickle.

It is written so that at any moment there is a whole old or a whole new one. It is read with distrust, as it may come from a
stranger: nothing in it is run, nothing is believed about sizes, and whatever is wrong with it is one ValueError.
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
from thalweg.storage.atomic import replace

FORMAT = 2
Target = str | os.PathLike[str]

# what `numpy.save` writes before plain numbers: the magic word, the version 1.0, the length of the header, the header
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00.."
    rb"\{'descr': '([<>|][biuf][1248])', 'fortran_order': (False|True), 'shape': \(((?:\d{1,18}, ?)*\d{0,18})\), \} *\n",
    re.DOTALL,
)


class RefusedError(ValueError):
    """A file that is no checkpoint for us."""


def write(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Replace the file in one step."""
    text = json.dumps({"format": FORMAT, "version": version(), **meta}, default=plain).encode()
    contents = {"meta": np.frombuffer(text, np.uint8), **arrays}
    replace(path, lambda file: np.savez(file, allow_pickle=False, **contents))


@cache
def version() -> str:
    """Which Thalweg this is."""
    try:
        return metadata.version("thalweg")
    except metadata.PackageNotFoundError:  # run from the source tree
        return "0+source"


def plain(value: Any) -> Any:
    """A number of numpy as one of JSON's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{shortened(value)} is none of JSON's types")


def read(path: Target) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The JSON part and the arrays; what the JSON holds is not looked at, but that its format is ours."""
    check_file(Path(path))
    data = Path(path).read_bytes()
    try:
        return _unpack(data)
    except RefusedError as refused:
        raise ValueError(f"checkpoint {os.fspath(path)!r} {refused}") from refused
    except Exception as error:  # whatever an archive of nonsense makes the readers of zip and JSON raise
        raise ValueError(
            f"checkpoint {os.fspath(path)!r} is damaged or cut off ({shortened(error)}); take a copy of it, or remove it to "
            "begin anew"
        ) from error


def check_file(path: Path) -> None:
    """Complain about what can be no checkpoint, such as a directory or a pipe that none writes to."""
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
        meta = json.loads(_array(archive.read(members.pop("meta"))).tobytes())
        _check_format(meta)
        return meta, {name: _array(archive.read(member)) for name, member in members.items()}


def _check_sizes(members: list[zipfile.ZipInfo], available: int) -> None:
    """Nothing is packed, so that the members are no larger than the file."""
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
            f"has format {shortened(found)}, which only versions before 0.1 have written; remove it to begin anew"
        )
    if found > FORMAT:
        raise RefusedError(
            f"has format {shortened(found)}, written by Thalweg {shortened(meta.get('version'))}; this is {version()}, which "
            f"reads format {FORMAT}: use the version that wrote it or a newer one"
        )


def _array(data: bytes) -> np.ndarray:
    """An array of plain numbers, if the data are just what numpy writes for one."""
    header = HEADER.match(data)
    if header is None:
        raise ValueError("not an array of numbers")
    descr, fortran, sizes = header.groups()
    shape, dtype = tuple(int(size) for size in sizes.split(b",") if size.strip()), np.dtype(descr.decode())
    if (
        int.from_bytes(data[8:10], "little") != header.end() - 10
        or math.prod(shape) * dtype.itemsize != len(data) - header.end()
    ):
        raise ValueError("an array of another size than it claims")
    return np.frombuffer(data, dtype, offset=header.end()).reshape(shape, order="F" if fortran == b"True" else "C").copy()
