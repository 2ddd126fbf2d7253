"""Functions compiled ahead of time: read from the cache on disk, or compiled by background threads.

XLA compiles without Python's lock, so the programs of a search are compiled at once, and the last of them while the first
generation is evaluated. Tracing stays in the caller's thread, whose JAX settings it has to see.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import jax
import jax.monitoring

from thalweg._common.interrupts import interruptible
from thalweg.compiled import disk_cache

OPTIONS: dict[str, Any] = {}
"""Compiler options for the library's own programs."""


class Program:
    """A function for arguments of given shapes; the first call waits for the compiler.

    >>> import numpy as np
    >>> double = Program(lambda x: 2 * x, jax.ShapeDtypeStruct((2,), "float32"))
    >>> double(np.ones(2, "float32")).tolist()
    [2.0, 2.0]
    """

    def __init__(self, function: Callable[..., Any], *shapes: Any) -> None:
        self.function: Callable[..., Any] = jax.jit(function)
        lowered: Any = self.function.lower(*shapes)  # pyright: ignore[reportFunctionMemberAccess]
        self.shapes: Any = lowered.out_info
        """Shapes of what the function returns."""
        self.compiled: Any = None
        self.pending: Future[Any] | None = in_background(_obtain, lowered, disk_cache.entry_of(lowered, OPTIONS))

    def __call__(self, *arguments: Any) -> Any:
        if self.pending is not None:
            with interruptible():
                compiled = self.pending.result()  # raises what the compiler has raised
            self.compiled, self.pending = compiled, None
        try:
            return self.compiled(*arguments)
        except (TypeError, ValueError):  # a strategy whose state changes shape, or arrays on another device
            return self.function(*arguments)


def in_background(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Call a function in a new thread. Python waits for the thread before it exits: XLA cannot be interrupted."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(function(*arguments))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="thalweg-compile", daemon=False).start()
    return future


def _obtain(lowered: Any, entry: disk_cache.Entry | None) -> Any:
    found = None if entry is None else disk_cache.load(entry, lowered)
    return _compile(lowered, entry) if found is None else found


def _compile(lowered: Any, entry: disk_cache.Entry | None) -> Any:
    _this_thread.found = False
    compiled = lowered.compile(compiler_options=OPTIONS or None)
    # JAX goes on with a cache that it was once given, and what it takes from there is incomplete when it is stored again
    if entry is not None and not _this_thread.found:
        disk_cache.save(entry, compiled)
    return compiled


_this_thread = threading.local()


def _notice(event: str, **_: Any) -> None:
    if event == "/jax/compilation_cache/cache_hits":
        _this_thread.found = True


jax.monitoring.register_event_listener(_notice)
