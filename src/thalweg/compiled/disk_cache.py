"""A cache of compiled programs on disk, so that the next process need not compile them again.

The environment variable THALWEG_COMPILATION_CACHE says where: a folder, or "off". By default it is `thalweg` in the user's
cache folder (XDG_CACHE_HOME or ~/.cache, ~/Library/Caches, %LOCALAPPDATA%). A user who has given JAX a compilation cache, or
has switched JAX's off, gets just that, and nothing is written here.

JAX's own cache serves the whole process: switched on for the library, it would cache the user's programs too. Therefore the
library's programs have a cache of their own, keyed by a hash of their text and of everything the compiler depends on. So
programs are still traced and lowered in each process, and no strategy can get the program of another one. Those of the
library's own strategies are found without, by a hash of the strategy's fields and of the library's source code. Any error here
falls back to a compilation.

An entry holds machine code, as those of JAX's cache do: whoever can write to the folder can run code as its reader. Therefore
folders are made for this user alone, and entries of other users, or that others can write, are left alone.
"""

import contextlib
import hashlib
import importlib.metadata
import logging
import os
import pickle
import platform
import stat
import sys
import tempfile
import threading
import zlib
from collections.abc import Generator, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

logger = logging.getLogger("thalweg")

VARIABLE = "THALWEG_COMPILATION_CACHE"
OFF = ("off", "0", "false", "no")
FORMAT = b"thalweg program 3\n"
LIMIT = 256 * 2**20
"""Size limit of all entries together, in bytes; the least recently used ones are removed."""
READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open an entry: no link is followed, and no pipe waited for."""
NOISE = (b"cpu_aot_loader.cc", b"pjrt_executable.cc")
"""Source files of XLA whose warnings about loaded programs are false: they count tuning hints as missing features."""


class Entry:
    """The file of a program.

    >>> entry = Entry(getfixture("tmp_path") / "program")
    >>> entry.write(b"machine code"), entry.read()
    (None, b'machine code')
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> bytes | None:
        """Return the program, or None if the file is missing, incomplete or changed."""
        with contextlib.suppress(OSError, zlib.error), os.fdopen(os.open(self.path, READ), "rb") as file:
            status = os.fstat(file.fileno())
            head, digest, packed = _split(file.read()) if _ours(status) and stat.S_ISREG(status.st_mode) else (b"", b"", b"")
            if head == FORMAT and digest == self._digest(packed):
                os.utime(self.path)
                return zlib.decompress(packed)
        return None

    def write(self, program: bytes) -> None:
        """Write the file atomically: if two processes write it at once, the last one wins, and both are right."""
        packed = zlib.compress(program, 1)
        _make_private(self.path.parent)
        handle, name = tempfile.mkstemp(prefix=".", dir=self.path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(FORMAT + self._digest(packed) + packed)
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _digest(self, packed: bytes) -> bytes:
        return hashlib.sha256(self.path.name.encode() + packed).digest()  # an entry under another name is none


class Stored(NamedTuple):
    """The content of an entry."""

    program: bytes
    trees: tuple[Any, Any] | None = None
    """Trees of arguments and results; None where the lowered function has them."""
    notes: Mapping[str, Any] = {}
    """Findings of the trace that made the program."""


def entry_of(text: str, options: Mapping[str, Any]) -> Entry | None:
    """Return the entry for a program of this text or name; None if it must not be cached."""
    root = folder()
    if root is None or jax.default_backend() != "cpu" or setting("jax_default_device") is not None:
        return None
    if "callback" in text:  # it holds addresses of this process
        return None
    parts = [text, repr(sorted(options.items())), *_surroundings(), repr(settings())]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return Entry(root / f"jax-{jax.__version__}-jaxlib-{_version('jaxlib')}" / key)


def stored(entry: Entry) -> Stored | None:
    """Return the content of an entry; None if there is none or it cannot be read."""
    try:
        content = entry.read()
        return None if content is None else Stored(*pickle.loads(content))
    except Exception as error:
        logger.debug("a compiled program in %s cannot be read: %s", entry.path, error)
        return None


def load(entry: Entry, content: Stored, trees: tuple[Any, Any]) -> Any:
    """Return the compiled program of an entry with these trees of arguments and results; None if it cannot be used."""
    try:
        from thalweg.compiled.inline import load_inline

        with _quiet():
            return load_inline(content.program, *trees)
    except Exception as error:
        logger.debug("a compiled program in %s cannot be used: %s", entry.path, error)
        return None


def save(entry: Entry, compiled: Any, notes: Mapping[str, Any] | None = None) -> None:
    """Store a program, with its trees if there are notes that make a trace unnecessary.

    It must not have run yet: some programs cannot be serialised after their first call.
    """
    try:
        from jax.experimental import serialize_executable

        program, *trees = serialize_executable.serialize(compiled)
        content = Stored(program) if notes is None else Stored(program, (trees[0], trees[1]), notes)
        entry.write(pickle.dumps(tuple(content)))
        prune(entry.path.parents[1])
    except Exception as error:  # a folder that cannot be written, a program that cannot be stored
        logger.debug("a compiled program is not kept in %s: %s", entry.path.parent, error)


def folder() -> Path | None:
    """Return the folder of the cache; None if caching is off."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.strip().lower() in OFF or setting("jax_compilation_cache_dir") or not setting("jax_enable_compilation_cache"):
        return None
    try:
        root = Path(chosen).expanduser() if chosen else _user_caches() / "thalweg" / "programs"
        return root if _private(root, chosen=bool(chosen)) else None
    except (OSError, RuntimeError):  # no home
        return None


def prune(root: Path, limit: int = LIMIT) -> None:
    """Remove the least recently used entries, of all versions, until the rest is within the limit."""
    size = 0
    for _, length, path in sorted(_files(root), reverse=True):
        size += length
        if size > limit:
            path.unlink(missing_ok=True)


def setting(name: str) -> Any:
    """Return one of JAX's settings as it is in this thread; most are unknown to a type checker."""
    return getattr(jax.config, name)


def settings() -> tuple[tuple[str, str], ...]:
    """Return all of JAX's settings as they are in this thread: compiled programs may depend on each."""
    values = jax.config.values
    return tuple((name, repr(getattr(jax.config, name, values[name]))) for name in sorted(values))


def _files(root: Path) -> Iterator[tuple[float, int, Path]]:
    for path in root.glob("jax-*/*"):
        with contextlib.suppress(OSError):  # another process has removed it
            if path.parent.is_symlink():  # what lies there is not ours to remove
                continue
            status = path.lstat()
            yield status.st_mtime, status.st_size, path


def _user_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given) if os.path.isabs(given) else Path.home() / ".cache"


def _private(root: Path, *, chosen: bool) -> bool:
    """Return whether only this user can write to the folder. Our own default folder is made so, where a umask has not."""
    if not hasattr(os, "getuid") or not root.exists():
        return True
    if not chosen and root.stat().st_uid == os.getuid() and not _ours(root.stat()):
        root.chmod(0o700)
    if _ours(root.stat()):
        return True
    _complain(root, own=root.stat().st_uid == os.getuid())
    return False


@cache
def _complain(root: Path, *, own: bool) -> None:
    """Say that the folder is not used, once in a process; aloud if this user can change that."""
    fix = f"; run chmod go-w {root}, or name another folder by {VARIABLE}" if own else ""
    level = logging.WARNING if own else logging.DEBUG
    logger.log(level, "compiled programs are not kept in %s: others can write there%s", root, fix)


def _make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone; refuse a link or one that others can write."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        with contextlib.suppress(FileExistsError):  # another process was quicker
            missing.mkdir(mode=0o700)
            missing.chmod(0o700)  # a umask may have taken more
    if not (stat.S_ISDIR(folder.lstat().st_mode) and _ours(folder.lstat())):
        raise PermissionError(f"others can write to {folder}")


def _ours(status: os.stat_result) -> bool:
    """Return whether a file or folder belongs to this user, and nobody else can write to it."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


@cache
def _surroundings() -> tuple[str, ...]:
    """Return the versions, the processor and the flags that a program is compiled for."""
    processor = [platform.machine(), platform.processor()]
    with contextlib.suppress(OSError):  # Linux alone has this file
        names = ("model name", "flags", "Features", "CPU implementer", "CPU part")
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
        processor += [line for line in lines if line.startswith(names)]
    if sys.platform == "darwin":
        processor += [platform.version()]
    versions = [jax.__version__, _version("jaxlib"), np.__version__, sys.version]
    return (*versions, *processor, os.environ.get("XLA_FLAGS", ""))


def _version(package: str) -> str:
    return importlib.metadata.version(package)


def _split(entry: bytes) -> tuple[bytes, bytes, bytes]:
    first, second = len(FORMAT), len(FORMAT) + hashlib.sha256().digest_size
    return entry[:first], entry[first:second], entry[second:]


_descriptor = threading.Lock()


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """Drop XLA's false warnings, which it writes to stderr past Python; other output is written afterwards."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(_descriptor)
            kept = os.dup(2)
            stack.callback(os.close, kept)
            caught = stack.enter_context(tempfile.TemporaryFile())
            os.dup2(caught.fileno(), 2)
        except OSError:  # no stderr, or no place for a file
            yield
            return
        try:
            yield
        finally:
            os.dup2(kept, 2)
            caught.seek(0)
            rest = [line for line in caught if not any(source in line for source in NOISE)]
            with contextlib.suppress(OSError):
                os.write(2, b"".join(rest))
