"""Names of strategies for the cache on disk, by which their programs are found without tracing them."""

import hashlib
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import thalweg._common


def identity(strategy: Any) -> str | None:
    """Return a text that says all about a strategy on which its programs depend, among it the source code of this package.

    None for strategies that are not from this package, or that hold anything else than its own parts and plain values: nothing
    but their programs tells what those do.

    >>> from thalweg.strategies.latents import CMAES
    >>> identity(CMAES(popsize=8))[64:]
    " thalweg.strategies.latents.cmaes.CMAES(popsize=8, traceable=True, defaults='pycma', active=True)"
    """
    text, source = _described(strategy), _source()
    return None if text is None or source is None else f"{source} {text}"


def _described(value: Any) -> str | None:
    kind: Any = type(value)
    if value is None or kind in (bool, int, float, str):
        return repr(value)
    if kind is tuple:
        parts = [_described(each) for each in value]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    if not is_dataclass(value) or not kind.__module__.startswith("thalweg."):
        return None
    if getattr(import_module(kind.__module__), kind.__qualname__, None) is not kind:  # made on the fly
        return None
    named = {field.name: _described(getattr(value, field.name)) for field in fields(value)}
    if None in named.values() or vars(value).keys() - named.keys():
        return None
    return f"{kind.__module__}.{kind.__qualname__}({', '.join(f'{name}={part}' for name, part in named.items())})"


@cache
def _source() -> str | None:
    """Return a hash of the package's source code; None where it cannot be read."""
    digest, root = hashlib.sha256(), Path(thalweg._common.__file__).parents[1]
    try:
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    except OSError:
        return None
    return digest.hexdigest()
