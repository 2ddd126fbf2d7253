"""A fingerprint of an objective: a hash of all that it is made of, as far as that can be told without calling it.

Of Python's functions that is the compiled code, which exists without a source file and does not change with comments, the
values it refers to (defaults, closures, globals) and, in turn, the functions and classes among them; of modules of the user's
the files. Installed packages count by their names. Of a program it is the command line and the files that this names. Data
that are read from elsewhere, and the insides of objects that Python cannot look into, are not seen.
"""

import dis
import functools
import hashlib
import os
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import util
from itertools import islice
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol, cast, runtime_checkable

import jax
import numpy as np

LARGEST = 2**28
"""Number of bytes of an array or a file that are read; of a longer file also its size and time."""
MOST = 100_000
"""Number of objects, and of items of each of them, that are looked at."""
DEEPEST = 50
ATOMS = (type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis))
TEXTUAL = ("pathlib", "decimal", "fractions", "datetime", "uuid", "re")
"""Modules of objects whose `repr` has all of them."""
NAMESPACES = ("types.SimpleNamespace", "argparse.Namespace")
"""Classes of the standard library whose attributes are the user's."""
ARRAYS = ("pandas", "torch")
"""Packages of objects that numpy can copy."""
PACKAGES = {"site-packages", "dist-packages"}
ROOTS = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), str(Path(__file__).parents[1])})
SYSTEM = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/lib/")
"""Folders of programs that are not the user's."""


@runtime_checkable
class Program(Protocol):
    """An objective that runs a program, as `thalweg.objectives.command.Command` does."""

    def named_files(self) -> list[str]: ...


def fingerprint(*parts: Any) -> str:
    """Return the fingerprint of an objective and what belongs to it; it tells edits apart, not processes.

    >>> one, same, other = ((lambda x, k=k: k * x) for k in (2, 2, 3))
    >>> fingerprint(one) == fingerprint(same), fingerprint(one) == fingerprint(other)
    (True, False)
    """
    return _Reader().read(parts).hex()


class _Reader:
    """Reads objects, each once; those that refer to each other in a circle too."""

    def __init__(self) -> None:
        self.known: dict[int, bytes] = {}
        self.alive: list[Any] = []
        """Objects that were read; as long as they live, no other has their id."""
        self.depth = 0
        self.readers: list[tuple[Any, Callable[[Any], bytes]]] = [
            (np.ndarray, self._array),
            (jax.Array, lambda value: self._array(np.asarray(value))),
            (dict, lambda value: self._unordered([*pair] for pair in value.items())),
            ((set, frozenset), self._unordered),
            ((list, tuple, deque), lambda value: self._all(len(value), *islice(value, MOST))),
            (ModuleType, self._module),
            (type, self._class),
            (CodeType, self._code),
            (FunctionType, self._function),
            (MethodType, lambda value: self._all(value.__func__, value.__self__)),
            (functools.partial, lambda value: self._all(value.func, value.args, value.keywords)),
            ((staticmethod, classmethod), lambda value: self.read(value.__func__)),
            (property, lambda value: self.read(value.fget)),
            (functools.cached_property, lambda value: self.read(value.func)),
            (CellType, lambda value: self.read(value.cell_contents)),
            (Program, self._program),
            (object, self._object),
        ]

    def read(self, value: Any) -> bytes:
        """Return the hash of an object; of one that cannot be looked into, that of its class."""
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if id(value) in self.known:
            return self.known[id(value)]
        if self.depth > DEEPEST or len(self.known) > MOST:
            return _hashed(name)
        atom = isinstance(value, ATOMS)
        if not atom:
            self.known[id(value)] = _hashed("circle", name)
            self.alive.append(value)
        self.depth += 1
        try:
            own = repr(value) if atom else next(read for kind, read in self.readers if isinstance(value, kind))(value)
        except KeyboardInterrupt:
            raise
        except BaseException:  # foreign objects may raise anything here
            own = ""
        self.depth -= 1
        found = _hashed(name, own)
        if not atom:
            self.known[id(value)] = found
        return found

    def _all(self, *values: Any) -> bytes:
        return _hashed(*map(self.read, values))

    def _unordered(self, values: Iterable[Any]) -> bytes:
        return _hashed(*sorted(map(self.read, islice(values, MOST))))

    def _array(self, array: np.ndarray) -> bytes:
        if array.dtype.hasobject:
            return self.read(array.tolist())
        start = array.flat[: LARGEST // max(1, array.itemsize)]
        return _hashed(repr(array.dtype), repr(array.shape), np.ascontiguousarray(start).tobytes())

    def _code(self, code: CodeType) -> bytes:
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
        names = code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars
        return self._all(code.co_code, code.co_exceptiontable, code.co_consts, counts, names)

    def _function(self, function: FunctionType) -> bytes:
        values = (function.__defaults__, function.__kwdefaults__, function.__closure__)
        code = function.__code__
        if not _is_own(code.co_filename):
            return self._all(function.__module__, function.__qualname__, *values)
        names, scope = sorted({name for each in _nested(code) for name in each.co_names}), function.__globals__
        imports = sorted({name for each in _nested(code) for name in _imports(each)})
        files = [file for name in imports for file in _files_of(name)]
        return self._all(code, *values, [(name, scope[name]) for name in names if name in scope], *map(_content, files))

    def _class(self, kind: type) -> bytes:
        module = sys.modules.get(kind.__module__)
        if module is None or not _is_own_module(module):
            return _hashed(kind.__module__, kind.__qualname__)
        left_out = {"__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__"}
        return self._all(kind.__bases__, {name: value for name, value in vars(kind).items() if name not in left_out})

    def _module(self, module: ModuleType) -> bytes:
        if not _is_own_module(module):
            return _hashed(module.__name__)
        values = list(vars(module).values())
        names = {getattr(value, "__module__", None) for value in values if isinstance(value, FunctionType | type)}
        used = [sys.modules[name] for name in names if isinstance(name, str) and name in sys.modules]
        used += [value for value in values if isinstance(value, ModuleType)]
        others = {other.__name__: other for other in used if _is_own_module(other)}
        return self._all(_content(module.__file__), [others[name] for name in sorted(others)])

    def _program(self, program: "Program") -> bytes:
        files = [file for file in program.named_files() if not os.path.realpath(file).startswith(SYSTEM)]
        return self._all({**vars(program), "timeout": None}, *map(_content, files))

    def _object(self, value: Any) -> bytes:
        kind, name = type(value), getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        package = kind.__module__.partition(".")[0]
        if package in TEXTUAL:
            return _hashed(repr(value))
        if package in ARRAYS and hasattr(value, "__array__"):
            return self._array(np.asarray(value))
        if callable(value) and (wrapped := getattr(value, "__wrapped__", None)) is not None:
            return self.read(wrapped)
        parts: list[Any] = [str(getattr(value, "__module__", "")), str(name), kind]
        if package not in sys.stdlib_module_names or f"{kind.__module__}.{kind.__qualname__}" in NAMESPACES:
            slots = {slot for each in kind.__mro__ for slot in _listed(vars(each).get("__slots__", ()))}
            parts += [getattr(value, "__dict__", None), {slot: getattr(value, slot, None) for slot in slots}]
        return self._all(*parts)


def _hashed(*parts: str | bytes) -> bytes:
    """Return a hash of the parts, which does not depend on the process."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little") + data)
    return found.digest()


def _content(file: str | None) -> bytes:
    """Return the hash of a file; of a large one its beginning, size and time."""
    if file is None or not os.path.isfile(file):
        return b""
    state = os.stat(file)
    later = "" if state.st_size <= LARGEST else f"{state.st_size} {state.st_mtime_ns}"
    with open(file, "rb") as opened:
        return _hashed(opened.read(LARGEST), later)


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of those inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)


def _imports(code: CodeType) -> Iterator[str]:
    """Yield the names of modules that the function imports when it is called."""
    return (step.argval for step in dis.get_instructions(code) if step.opname == "IMPORT_NAME")


def _files_of(name: str) -> list[str]:
    """Return the files of a user's module that may not be imported yet, and of the package that it is in."""
    package, *rest = name.split(".")
    spec = util.find_spec(package)
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin) or not _is_own(spec.origin):
        return []
    return [spec.origin, str(Path(spec.origin).parent.joinpath(*rest).with_suffix(".py"))]


def _is_own_module(module: ModuleType) -> bool:
    """Return whether a module is the user's, not an installed one."""
    file = getattr(module, "__file__", None)
    if file is None:
        return module.__name__ == "__main__"
    return _is_own(file)


def _is_own(file: str) -> bool:
    """Return whether code of this file is the user's; that of a notebook or of `python -c` is."""
    return not file.startswith((*ROOTS, "<frozen")) and PACKAGES.isdisjoint(Path(file).parts)


def _listed(slots: Any) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else cast("Iterable[str]", slots)
