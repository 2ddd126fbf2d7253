"""Files that options name with @: starting points, steps and bounds. They may be anybody's, and nothing in them is believed."""

import csv
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

from thalweg.storage.archive import as_numbers

LIMIT = 2**26
"""Size of the largest file that is read, in bytes: some millions of numbers."""
KINDS = (".json", ".csv", ".npy")


def read_file(name: str, option: str) -> Any:
    """Return the lists of numbers in a .json, .csv or .npy file; from a result written by --out, its x."""
    path, argument = Path(name), f"{option} @{name}"
    if path.suffix not in KINDS:
        raise ValueError(f"{argument}: the file must end in {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    data = read_bytes(path, argument)
    try:
        if path.suffix == ".npy":
            return as_numbers(data).tolist()
        text = data.decode("utf-8-sig")
        if path.suffix == ".csv":
            return [row for row in csv.reader(io.StringIO(text, newline="")) if row]
        found: Any = json.loads(text)
    except (ValueError, RecursionError, csv.Error) as error:
        reason = "lists that are too deep" if isinstance(error, RecursionError) else error
        forms = {".json": "valid JSON", ".csv": "a table of numbers", ".npy": "an array of numbers as numpy.save writes it"}
        raise ValueError(f"{argument}: the file is not {forms[path.suffix]} ({reason})") from None
    return found["x"] if isinstance(found, dict) and "x" in found else found


def read_bytes(path: Path, argument: str) -> bytes:
    """Return the content of a file of at most `LIMIT` bytes; a folder, a pipe or a device is refused, not waited for."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError(f"{argument} is no file; pass the name of one")
            if status.st_size > LIMIT:
                raise ValueError(f"{argument} has {status.st_size} bytes, and at most {LIMIT} are read; pass a smaller file")
            return file.read(LIMIT)
    except IsADirectoryError:
        raise ValueError(f"{argument} is no file; pass the name of one") from None
    except FileNotFoundError:
        raise ValueError(f"{argument}: there is no such file in {os.getcwd()!r}; check the name") from None
    except OSError as error:
        raise ValueError(f"{argument} cannot be read: {error.strerror or error}") from None
