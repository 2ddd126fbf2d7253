"""Atomic writes: if the process dies or the power fails, there is the old file or the new one, never half a file.

A symbolic link is replaced and never followed, as it may lead to a file that the user does not mean. A file of the user's own
keeps its permissions.
"""

import glob
import os
import secrets
import stat
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""Flags to make a file that nobody else has made, not even as a link."""
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
    fresh, mode = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new"), mode_of(path)
    try:
        # private until the mode is set, so that nobody opens it in between
        with os.fdopen(os.open(fresh, NEW, 0o666 if mode is None else 0o600), "wb") as file:
            if mode is not None:
                fresh.chmod(mode)
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


def mode_of(path: Path) -> int | None:
    """Return the permissions of a file of this user; None if there is none, as a stranger's file says nothing about ours."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return stat.S_IMODE(status.st_mode) & 0o777 if own and stat.S_ISREG(status.st_mode) else None


@cache
def sweep(path: Path) -> None:
    """Remove the temporary files that killed writers of this file have left beside it. Runs once in a process."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.new"):
        try:
            if time.time() - leftover.stat().st_mtime > STALE:
                leftover.unlink()
        except FileNotFoundError:  # another process was quicker
            continue
