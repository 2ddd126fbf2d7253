"""Ctrl-C during a run: it interrupts the user's own code and whatever waits for it; elsewhere it is noted for a better moment.

Python raises KeyboardInterrupt between any two instructions: while a checkpoint is written, a lock released, the result made.
While a `Guard` is there, only the code in `with interruptible():` is left in this way. The loop of a run asks `check` when all
is in order. Without a guard, as in another thread, or where the user has a handler of signals, these do nothing.
"""

import os
import signal
import threading
import time
from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar

AGAIN, PATIENCE = 0.5, 5.0
"""Seconds after which a further signal raises at once: of the user's code that goes on all the same, and of any other."""


class State(Enum):
    """The treatment of a signal."""

    NOTED = 0
    RAISES = 1
    HELD_BACK = 2
    """Noted, also in `interruptible` code."""
    RAISED = 3
    """Has just raised."""


class Guard:
    """Handles signals in the main thread until it is left; those that the user handles or ignores are left alone."""

    present: ClassVar["Guard | None"] = None
    """The guard that handles signals now."""

    def __init__(self, numbers: Sequence[int] = (signal.SIGINT,)) -> None:
        self.numbers = sorted(numbers, key=lambda number: number == signal.SIGINT)
        self.before: dict[int, Any] = {}
        """Handlers to restore; that of SIGINT is the last."""
        self.thread = threading.get_ident()
        self.outer: State | None = None
        self.state = State.NOTED
        self.noted: list[int] = []
        """Signals that were received, in order."""
        self.moments: list[float] = []

    def __enter__(self) -> "Guard":
        if threading.current_thread() is not threading.main_thread():
            return self
        present = Guard.present
        if present is not None:  # a run inside the objective of another, or inside a command
            self.outer, present.state = present.state, State.NOTED
            return present
        usual = dict.fromkeys(self.numbers, signal.SIG_DFL) | {signal.SIGINT: signal.default_int_handler}
        self.before = {number: usual[number] for number in self.numbers if signal.getsignal(number) is usual[number]}
        try:
            for number in self.before:
                signal.signal(number, _handle)  # raises until the guard is present
            Guard.present = self if self.before else None
        except BaseException:
            self._restore()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.outer is not None and Guard.present is not None:
            Guard.present.state = self.outer
        if Guard.present is self:
            try:
                self._restore()
            except KeyboardInterrupt:  # after SIGINT, the last one, was restored: the run has its result by now
                pass
            finally:
                Guard.present = None

    def _restore(self) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def take(self, number: int) -> None:
        """Note a signal, and raise KeyboardInterrupt if this is the moment."""
        now = time.monotonic()
        self.noted.append(number)
        self.moments.append(now)
        again = self.state is State.RAISED and now - self.moments[-2] > AGAIN
        if self.state is State.RAISES or again or now - self.moments[0] > PATIENCE:
            self.state = State.RAISED
            raise KeyboardInterrupt


class Section:
    """A part of the code with its own treatment of signals."""

    __slots__ = ("before", "guard", "state")

    def __init__(self, state: State) -> None:
        self.state = state
        self.guard: Guard | None = None

    def __enter__(self) -> None:
        guard = Guard.present
        if guard is None or guard.state is State.HELD_BACK or guard.thread != threading.get_ident():
            return
        self.before = State.NOTED if guard.state is State.RAISED else guard.state
        self.guard, guard.state = guard, self.state
        if self.state is State.RAISES and guard.noted:
            guard.state = self.before
            raise KeyboardInterrupt

    def __exit__(self, *_: object) -> None:
        if self.guard is not None:
            self.guard.state = self.before


def interruptible() -> Section:
    """Let a signal raise KeyboardInterrupt at once, also one that was noted before."""
    return Section(State.RAISES)


def undisturbed() -> Section:
    """Note signals, also in what is interruptible inside."""
    return Section(State.HELD_BACK)


def check() -> None:
    """Raise KeyboardInterrupt if a signal was noted."""
    if _noted():
        raise KeyboardInterrupt


def reason() -> str:
    """Return the reason to stop of the first signal: "interrupt" for Ctrl-C, "terminated" for others."""
    return "terminated" if _noted()[:1] not in ([], [signal.SIGINT]) else "interrupt"


def _noted() -> list[int]:
    guard = Guard.present
    return [] if guard is None or guard.thread != threading.get_ident() else guard.noted


def _handle(number: int, _: object) -> None:
    if Guard.present is None:  # a forked process, or before the run
        raise KeyboardInterrupt
    Guard.present.take(number)


def _forget() -> None:
    Guard.present = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
