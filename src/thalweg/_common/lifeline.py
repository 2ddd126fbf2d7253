"""Child processes that die with this process, on Linux: also after SIGKILL, and in the midst of code that holds the GIL.

A pipe whose writing end is here alone: the kernel tells the group of the child by SIGKILL when it closes. Other than a signal
that a process asks for at the death of its parent, this reaches what the child has started, and does not depend on threads.
"""

import os
import signal
import sys
import weakref
from contextlib import suppress


class Lifeline:
    """A pipe for one child, which must inherit `descriptors`; call `hold` once it has begun, and `close` once it has ended."""

    def __init__(self) -> None:
        self.descriptors: tuple[int, ...] = ()
        """Descriptors for `pass_fds`; none on other systems."""
        self._ends: tuple[int, ...] = ()
        if sys.platform == "linux":
            self._ends = os.pipe()
            self.descriptors = self._ends[:1]
            _open.add(self)

    def hold(self, group: int) -> None:
        """Let the process group die with this process."""
        if sys.platform == "linux" and self._ends:
            import fcntl

            with suppress(OSError):  # a kernel that only looks like Linux
                fcntl.fcntl(self._ends[0], fcntl.F_SETOWN, -group)
                fcntl.fcntl(self._ends[0], fcntl.F_SETSIG, signal.SIGKILL)
                fcntl.fcntl(self._ends[0], fcntl.F_SETFL, os.O_ASYNC)

    def close(self) -> None:
        """Close the pipe without a signal."""
        if sys.platform == "linux" and self._ends:
            import fcntl

            with suppress(OSError):
                fcntl.fcntl(self._ends[0], fcntl.F_SETFL, 0)
        self._close()

    def _close(self) -> None:
        ends, self._ends = self._ends, ()
        for end in ends:
            os.close(end)


_open: weakref.WeakSet[Lifeline] = weakref.WeakSet()


def _close_all() -> None:
    for each in list(_open):
        each._close()  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):  # a forked process must not keep the writing ends open
    os.register_at_fork(after_in_child=_close_all)
