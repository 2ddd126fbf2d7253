"""Locks, so that a log and a checkpoint have one writer at a time."""

import contextlib
import logging
import os
import weakref
from collections.abc import Generator
from pathlib import Path

from thalweg.storage import Target

try:
    import fcntl
except ImportError:  # Windows, where a second writer goes unnoticed
    fcntl = None

logger = logging.getLogger("thalweg")


class Lock:
    """Locks a file or folder against a second writer, until it is released or the process ends."""

    def __init__(self, path: Path, name: str, *, create: bool = False) -> None:
        """Lock the path; `name` says in errors what it is the lock of. A file that is missing is made if `create`."""
        self.descriptor = os.open(path, os.O_RDONLY | (os.O_CREAT if create else 0), 0o666) if fcntl else None
        if fcntl is None or self.descriptor is None:
            return
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise ValueError(f"{name} is in use by another run; wait for it or pass another name") from None
        except OSError:  # a file system without locks
            logger.debug("no lock on %s", path, exc_info=True)
        _held.add(self)

    def holds(self, path: Path) -> bool:
        """Return whether the path is still that of the file that was locked."""
        if self.descriptor is None:
            return True
        try:
            return os.path.samestat(os.fstat(self.descriptor), path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Release the lock."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


@contextlib.contextmanager
def checkpoint_lock(checkpoint: Target) -> Generator[None, None, None]:
    """Lock a checkpoint by a hidden file beside it, as each save replaces the checkpoint itself; remove it at the end."""
    if fcntl is None:
        yield
        return
    folder, file = os.path.split(checkpoint)
    path, name = Path(os.path.realpath(folder)) / f".{file}.lock", f"checkpoint {os.fspath(checkpoint)!r}"
    lock = Lock(path, name, create=True)
    while not lock.holds(path):  # its last holder has removed the file since it was opened
        lock.release()
        lock = Lock(path, name, create=True)
    try:
        yield
    finally:
        if lock.descriptor is not None:  # not in a forked child, whose parent holds it
            path.unlink(missing_ok=True)
            lock.release()


_held: weakref.WeakSet[Lock] = weakref.WeakSet()


def _release_all() -> None:
    for each in list(_held):
        each.release()


if hasattr(os, "register_at_fork"):  # a forked worker that outlives a killed run must not hold its lock
    os.register_at_fork(after_in_child=_release_all)
