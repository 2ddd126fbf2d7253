"""Tracebacks of failed evaluations for the log: one for each way through the code that failed."""

import traceback
from contextlib import suppress

from thalweg._common.outcome import Failure, Outcome
from thalweg.evaluate.pickling import IN_WORKER

LONGEST = 4000
"""Length at which a traceback is cut off, at its beginning."""
MOST = 100
"""Number of different tracebacks that are kept."""


class Tracebacks:
    """Gives each traceback once, so that a thousand failures of the same line do not fill the log.

    >>> from thalweg._common.outcome import evaluate_here
    >>> once, failed = Tracebacks(), [evaluate_here(lambda x: 1 / x, (), 0) for _ in range(2)]
    >>> [once.new(outcome) is None for outcome in failed]
    [False, True]
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def new(self, outcome: Outcome) -> str | None:
        """Return the traceback of a failure, unless one through the same lines was returned before."""
        if not isinstance(outcome.value, Failure) or outcome.value.error is None or len(self._seen) >= MOST:
            return None
        text = traceback_of(outcome.value.error)
        way = "\n".join(line for line in text.splitlines() if line.startswith("  File ")) or text
        if way in self._seen:
            return None
        self._seen.add(way)
        return text


def traceback_of(error: BaseException) -> str:
    """Return the traceback of an exception, from the process where it was raised, as text that can be written as UTF-8."""
    text = repr(type(error))
    with suppress(Exception):  # a foreign exception may raise anything when it is shown
        notes = [note for note in getattr(error, "__notes__", ()) if str(note).startswith(IN_WORKER)]
        text = notes[0].removeprefix(IN_WORKER).partition("\n")[2] if notes else "".join(traceback.format_exception(error))
    text = text.strip().encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST else "[...] " + text[-LONGEST:]
