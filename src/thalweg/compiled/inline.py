"""Programs that run in the thread that calls them.

XLA hands the call of a program on the CPU to another thread, unless it is tiny, and to switch threads twice takes longer than a
small generation. A program that may call Python back runs where it is called, and so ours are declared to be such: they get a
function that nothing calls. JAX has no public way for this. Where the parts that are used here are missing, a program runs as
any other, with the same result.
"""

import io
import logging
from typing import Any

import jax
from jax.experimental import serialize_executable

logger = logging.getLogger("thalweg")


def compile_inline(lowered: Any, options: dict[str, Any]) -> Any:
    """Compile a lowered function for the CPU."""
    try:
        callbacks = lowered._lowering.compile_args["host_callbacks"]
        callbacks.append(_never)
    except (AttributeError, KeyError, TypeError) as error:
        return _usual(error, lowered.compile(compiler_options=options or None))
    compiled = lowered.compile(compiler_options=options or None)
    try:
        return _inline(compiled)
    except (AttributeError, TypeError) as error:
        return _usual(error, compiled)


def load_inline(program: bytes, in_tree: Any, out_tree: Any) -> Any:
    """Return the compiled function that `serialize_executable.serialize` has made bytes of."""
    devices = jax.local_devices()[:1]
    try:
        executable, shapes, no_kwargs = _unpickler()(io.BytesIO(program), devices[0].client, devices).load()
        return jax.stages.Compiled(executable.load(), [], in_tree.unflatten(shapes), out_tree, no_kwargs=no_kwargs)
    except (AttributeError, TypeError) as error:
        usual = serialize_executable.deserialize_and_load(program, in_tree, out_tree, execution_devices=devices)
        return _usual(error, usual)


def _inline(compiled: Any) -> Any:
    executable = compiled._executable._unloaded_executable
    executable.host_callbacks = []  # JAX itself need not know: it would take a detour through Python, and store nothing
    return jax.stages.Compiled(executable.load(), [], compiled.args_info, compiled.out_tree, no_kwargs=True)


def _unpickler() -> Any:
    base: Any = serialize_executable._JaxPjrtUnpickler  # pyright: ignore[reportPrivateUsage]

    class Unpickler(base):
        def persistent_load(self, pid: Any) -> Any:
            if pid[0] != "exec":
                return super().persistent_load(pid)
            to: dict[str, Any] = {"executable_devices": self.execution_devices, "host_callbacks": [_never]}
            return self.backend.deserialize_executable(pid[1], **to)

    return Unpickler


def _usual(error: Exception, compiled: Any) -> Any:
    logger.debug("a compiled program runs in another thread than its caller: %s", error)
    return compiled


def _never(*_: Any) -> None:
    raise RuntimeError("no program calls this")
