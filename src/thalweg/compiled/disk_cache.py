"""Compiled programs on disk, so that the next process need not compile them again.

The environment variable THALWEG_COMPILATION_CACHE says where: a folder, or "off". By default it is `thalweg` in the user's
cache folder (XDG_CACHE_HOME or ~/.cache, ~/Library/Caches, %LOCALAPPDATA%). A user who has given JAX a compilation cache, or
has switched JAX's off, gets just that, and nothing is written here.

JAX's own cache is one for the whole process, set up once: switched on for us it would serve the user's programs too. So the
programs are stored by themselves, under a hash of their text and of all that the compiler looks at. They are traced and
lowered as ever, so that no strategy, however it is made, can get the program of another one. Whatever goes wrong here ends in a
compilation.

An entry holds machine code, as those of JAX's cache do: who may write to the folder can run code as the user who reads it.
"""

import contextlib
import hashlib
import importlib.metadata
import logging
import os
import platform
import sys
import tempfile
import threading
import zlib
from collections.abc import Generator, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

logger = logging.getLogger("thalweg")

VARIABLE = "THALWEG_COMPILATION_CACHE"
OFF = ("off", "0", "false", "no")
FORMAT = b"thalweg program 1\n"
LIMIT = 256 * 2**20
"""Bytes that all entries may take together; the least recently used ones are removed."""
NOISE = (b"cpu_aot_loader.cc", b"pjrt_executable.cc")
"""Sources of XLA that warn of each program they load, even one of this machine: tuning hints count as missing features."""


class Entry:
    """The place of a program on disk.

    >>> entry = Entry(getfixture("tmp_path") / "program")
    >>> entry.write(b"machine code"), entry.read()
    (None, b'machine code')
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> bytes | None:
        """What was written, or None; never a part of it, and nothing that has changed since."""
        with contextlib.suppress(OSError, zlib.error):
            head, digest, packed = _split(self.path.read_bytes())
            if head == FORMAT and digest == hashlib.sha256(packed).digest():
                os.utime(self.path)
                return zlib.decompress(packed)
        return None

    def write(self, program: bytes) -> None:
        """Replace the entry in one step: of two processes that write it at once the last one wins, and both are right."""
        packed = zlib.compress(program, 1)
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", dir=self.path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(FORMAT + hashlib.sha256(packed).digest() + packed)
            os.replace(name, self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def entry_of(lowered: Any, options: Mapping[str, Any]) -> Entry | None:
    """Where the program that a lowered function compiles to has its place; None where it is not to be kept."""
    root = folder()
    if root is None or jax.default_backend() != "cpu" or setting("jax_default_device") is not None:
        return None
    text = lowered.as_text()
    if "callback" in text:  # it holds addresses of this process
        return None
    parts = [text, repr(sorted(options.items())), *_surroundings(), repr(settings())]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return Entry(root / f"jax-{jax.__version__}-jaxlib-{_version('jaxlib')}" / key)


def load(entry: Entry, lowered: Any) -> Any:
    """The compiled program, or None if there is none."""
    program = entry.read()
    if program is None:
        return None
    try:
        from jax.experimental import serialize_executable

        trees = jax.tree.structure(lowered.args_info), lowered.out_tree
        with _quiet():
            return serialize_executable.deserialize_and_load(program, *trees, execution_devices=jax.local_devices()[:1])
    except Exception as error:
        logger.debug("a compiled program in %s cannot be used: %s", entry.path, error)
        return None


def save(entry: Entry, compiled: Any) -> None:
    """Keep a program, which must not have run yet: some programs cannot be written once they have."""
    try:
        from jax.experimental import serialize_executable

        entry.write(serialize_executable.serialize(compiled)[0])
        prune(entry.path.parents[1])
    except Exception as error:  # a folder that cannot be written, a program that cannot be stored
        logger.debug("a compiled program is not kept in %s: %s", entry.path.parent, error)


def folder() -> Path | None:
    """Where programs are kept; None for not at all."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.strip().lower() in OFF or setting("jax_compilation_cache_dir") or not setting("jax_enable_compilation_cache"):
        return None
    try:
        root = Path(chosen).expanduser() if chosen else _user_caches() / "thalweg" / "programs"
        return root if _private(root) else None
    except (OSError, RuntimeError):  # no home
        return None


def prune(root: Path, limit: int = LIMIT) -> None:
    """Remove what was used least recently, of all versions, until the rest is within the limit."""
    size = 0
    for _, length, path in sorted(_files(root), reverse=True):
        size += length
        if size > limit:
            path.unlink(missing_ok=True)


def setting(name: str) -> Any:
    """One of JAX's settings, as it is in this thread; most are unknown to a type checker."""
    return getattr(jax.config, name)


def settings() -> tuple[tuple[str, str], ...]:
    """All of JAX's settings, as they are here and now: what is compiled may depend on each."""
    values = jax.config.values
    return tuple((name, repr(getattr(jax.config, name, values[name]))) for name in sorted(values))


def _files(root: Path) -> Iterator[tuple[float, int, Path]]:
    for path in root.glob("jax-*/*"):
        with contextlib.suppress(OSError):  # another process has removed it
            status = path.stat()
            yield status.st_mtime, status.st_size, path


def _user_caches() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given) if os.path.isabs(given) else Path.home() / ".cache"


def _private(root: Path) -> bool:
    """Whether nobody else could have put something into the folder."""
    if not hasattr(os, "getuid") or not root.exists():
        return True
    status = root.stat()
    if status.st_uid == os.getuid() and not status.st_mode & 0o022:
        return True
    logger.debug("compiled programs are not kept in %s: others can write there", root)
    return False


@cache
def _surroundings() -> tuple[str, ...]:
    """The versions, the processor and the flags that a program is compiled for."""
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
    """Drop the noise that XLA writes to stderr past Python; what else arrives there meanwhile is written afterwards."""
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
