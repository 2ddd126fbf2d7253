"""Ctrl-C while the command line is being imported, which takes seconds.

A KeyboardInterrupt raised in the midst of an import shows a traceback of a library's, and callbacks of JAX swallow it. So while
`python -m thalweg`, or the script of that name, is the whole program, the process just ends, as long as it has nothing to lose.
This module begins with that when it is imported, before any other, and imports nothing that takes long.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence


def is_command_line(words: Sequence[str]) -> bool:
    """Return whether an interpreter that was started with these words runs the command line.

    >>> is_command_line(["python", "-m", "thalweg", "demo"]), is_command_line(["python", "bin/thalweg"])
    (True, True)
    >>> is_command_line(["python", "-m", "thalweg.other"]), is_command_line(["python", "my.py", "thalweg"])
    (False, False)
    """
    script = os.path.basename(words[1]) if len(words) > 1 else ""
    return list(words[1:3]) == ["-m", "thalweg"] or os.path.splitext(script)[0] == "thalweg"


def begin() -> None:
    """End the process on Ctrl-C from now on, if it is the command line and nobody else handles the signal."""
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if usual and is_command_line(sys.orig_argv) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _end)


def finish() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, as a command must clean up."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os.write(2, b"Interrupted.\n")
    os._exit(130)


begin()
