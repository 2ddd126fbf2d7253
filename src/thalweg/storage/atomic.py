"""Atomic writes: if the process dies or the power fails, there is the old file or the new one, never half a file."""

import glob
import os
import secrets
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

STALE = 600.0
"""Age in seconds at which a temporary file counts as left behind by a dead writer."""


def write_text(path: Path, text: str) -> None:
    """Write a text file in one atomic step. Make its folder if there is none."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file in one atomic step. Make its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, lambda file: file.write(content))


def replace(path: Path, fill: Callable[[BinaryIO], Any]) -> None:
    """Replace a file by what `fill` writes into the open file that it gets."""
    sweep(path)
    fresh = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    try:
        with fresh.open("xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # elsewhere a directory cannot be opened
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


@cache
def sweep(path: Path) -> None:
    """Remove the temporary files that killed writers of this file have left beside it. Runs once in a process."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        try:
            if time.time() - leftover.stat().st_mtime > STALE:
                leftover.unlink()
        except FileNotFoundError:  # another process was quicker
            continue
