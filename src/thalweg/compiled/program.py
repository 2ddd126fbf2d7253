"""Functions compiled ahead of time: read from the cache on disk, or compiled by background threads.

XLA compiles without Python's lock, so the programs of a search are compiled at once, and the last of them while the first
generation is evaluated. Tracing stays in the caller's thread, whose JAX settings it has to see.
"""

import logging
import os
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import cache
from typing import Any

import jax
import jax.monitoring
import jax.numpy as jnp

from thalweg._common.interrupts import interruptible
from thalweg.compiled import disk_cache
from thalweg.compiled.inline import compile_inline

logger = logging.getLogger("thalweg")

OPTIONS: dict[str, Any] = {
    "xla_backend_optimization_level": 1,
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
    "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
}
"""Compiler options of programs for the CPU.

With the first three the compiler takes half of the time or less, and a generation as long as without, or up to 8 percent
longer: its time goes into hundreds of small kernels. The fourth puts kernels into an order in which each waits for the one
before: other threads, to which XLA hands kernels that could run at the same time, cost more than these do. The user's own
XLA_FLAGS come first.
"""


def options() -> dict[str, Any]:
    """Return the compiler options of programs for the present device."""
    flags = os.environ.get("XLA_FLAGS", "")
    on_cpu = jax.default_backend() == "cpu"
    return {name: value for name, value in OPTIONS.items() if on_cpu and name not in flags}


class Program:
    """A function for arguments of given shapes; the first call waits for the compiler.

    >>> import numpy as np
    >>> double = Program(lambda x: 2 * x, jax.ShapeDtypeStruct((2,), "float32"))
    >>> double(np.ones(2, "float32")).tolist()
    [2.0, 2.0]

    A function with a name is not traced if the cache on disk has its program. `notes` are attributes of `owner` that the trace
    of the function sets; they are stored with the program, and set from there.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *shapes: Any,
        name: str | None = None,
        owner: Any = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.function: Any = jax.jit(function)
        self.compiled: Any = None
        entry = None if name is None else disk_cache.entry_of(name, options())
        content = None if entry is None else disk_cache.stored(entry)
        if entry is not None and content is not None and content.trees is not None:
            vars(owner).update(content.notes)
            _prepare()
            self.pending: Future[Any] | None = in_background(disk_cache.load, entry, content, content.trees)
        else:
            self.pending = None
        if self.pending is None:
            lowered: Any = self.function.lower(*shapes)
            text = lowered.as_text()
            if entry is None or not _calls_lapack_alone(text):
                entry, noted = disk_cache.entry_of(text, options()), None
            else:
                noted = {each: vars(owner)[each] for each in notes}
            self.pending = in_background(_obtain, lowered, entry, noted)

    def __call__(self, *arguments: Any) -> Any:
        if self.pending is not None:
            with interruptible():
                compiled = self.pending.result()  # raises what the compiler has raised
            # a program that was stored and cannot be used leaves the function
            self.compiled, self.pending = self.function if compiled is None else compiled, None
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


def _calls_lapack_alone(text: str) -> bool:
    """Return whether the functions outside of a program that it calls, if any, are those that `_prepare` prepares."""
    return all(name.startswith("lapack_") for name in re.findall(r"custom_call\s*@(\w+)", text))


@cache
def _prepare() -> None:
    """Let JAX find LAPACK's functions, which it does when it lowers a call of one of them: a stored program calls them too."""
    jax.jit(jnp.linalg.cholesky).lower(jax.ShapeDtypeStruct((1, 1), "float32"))


def _obtain(lowered: Any, entry: disk_cache.Entry | None, notes: Mapping[str, Any] | None) -> Any:
    content = None if entry is None else disk_cache.stored(entry)
    trees = jax.tree.structure(lowered.args_info), lowered.out_tree
    found = None if entry is None or content is None else disk_cache.load(entry, content, trees)
    return _compile(lowered, entry, notes) if found is None else found


def _compile(lowered: Any, entry: disk_cache.Entry | None, notes: Mapping[str, Any] | None = None) -> Any:
    _this_thread.found = False
    try:
        compiled = _compile_with(options(), lowered)
    except jax.errors.JaxRuntimeError as error:  # another version of XLA may lack an option
        logger.debug("a program is compiled without options: %s", error)
        compiled = _compile_with({}, lowered)
    # JAX goes on with a cache that it was once given, and what it takes from there is incomplete when it is stored again
    if entry is not None and not _this_thread.found:
        disk_cache.save(entry, compiled, notes)
    return compiled


def _compile_with(options: dict[str, Any], lowered: Any) -> Any:
    # a cache of JAX's keeps no program that is declared to call Python back
    inline = jax.default_backend() == "cpu" and not disk_cache.setting("jax_compilation_cache_dir")
    return compile_inline(lowered, options) if inline else lowered.compile(compiler_options=options or None)


_this_thread = threading.local()


def _notice(event: str, **_: Any) -> None:
    if event == "/jax/compilation_cache/cache_hits":
        _this_thread.found = True


jax.monitoring.register_event_listener(_notice)
