"""A run from the command line: progress while it goes on, a summary at its end, and a clean end on a signal."""

import contextlib
import logging
import shlex
import signal
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thalweg._common.interrupts import Guard
from thalweg.cli.engines import describe_workers, open_workers
from thalweg.cli.live_page import live_page
from thalweg.cli.result_output import STDOUT, check_writable, stdout_kept, summary, write_result
from thalweg.cli.settings import RunSettings, resume_command
from thalweg.evaluate import AllFailedError
from thalweg.search.continuing import notices
from thalweg.search.stopping import Budget

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")

SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)]
"""Signals that end a run: batch systems send SIGTERM at the time limit, a lost connection SIGHUP."""


def run_and_report(
    run: "Callable[..., OptimizeResult]",
    settings: RunSettings,
    title: str,
    budget: Budget,
    elapsed: float,
    checkpoint: Path | None,
) -> None:
    """Call `run` with workers and progress, then print and write its result; on signal n, exit with status 128 + n.

    `elapsed` holds the seconds that a continued run had taken before.
    """
    if settings.out not in (None, STDOUT):
        check_writable(settings.out)
    out = settings.out if settings.out in (None, STDOUT) else settings.out.absolute()  # a function may change the directory
    began, ctx = time.monotonic(), click.get_current_context()
    with Guard(SIGNALS) as guard, interrupts_unprinted(), stdout_kept(out == STDOUT):
        try:
            with (
                open_workers(settings) as workers,
                progress_arguments(settings, title, budget, elapsed) as progress,
                live_page(settings, title, checkpoint) as (live, log),
            ):
                result = run(workers=workers, **progress, **log)
                if live is not None:
                    live.result = {"message": result.message, "elapsed": elapsed + time.monotonic() - began}
        except TypeError as error:  # an option of the wrong type
            raise ValueError(str(error)) from error
        except AllFailedError as error:
            raise click.ClickException(f"{error.problem}; {settings.advice(error.accepts)}") from error
        except RuntimeError as error:  # the workers cannot be replaced
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            result = None
    status = 128 + (guard.noted[0] if guard.noted else signal.SIGINT)
    reasons = {"interrupt", "terminated"} & (set() if result is None else result.stop.keys())
    if result is None or (reasons and result.nfev == 0):
        how = "Interrupted" if status == 128 + signal.SIGINT else "Terminated"
        click.echo(f"{how} before the {'next' if elapsed else 'first'} evaluation.", err=True)
        ctx.exit(status)
    seconds = elapsed + time.monotonic() - began
    if out is not None:
        write_result(out, result, seconds)
    click.echo(summary(result, seconds), err=out == STDOUT)
    if reasons:
        if checkpoint is not None:
            click.echo(f"continue with: {shlex.join(resume_command(ctx, checkpoint))}", err=True)
        ctx.exit(status)


@contextlib.contextmanager
def interrupts_unprinted() -> Generator[None, None, None]:
    """Keep Python from printing a Ctrl-C that was raised in a callback, such as JAX's of the garbage collector; it is noted."""
    before = sys.unraisablehook

    def hook(seen: "sys.UnraisableHookArgs") -> None:
        if not isinstance(seen.exc_value, KeyboardInterrupt):
            before(seen)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextlib.contextmanager
def progress_arguments(
    settings: RunSettings, title: str, budget: Budget, elapsed: float
) -> Generator[dict[str, Any], None, None]:
    """Yield the arguments of `minimize` that show a panel on a terminal, lines in a pipe, or nothing with --quiet."""
    with contextlib.ExitStack() as stack:
        if settings.quiet or settings.command:  # otherwise Python's default: warnings with tracebacks on stderr
            handler = logging.NullHandler() if settings.quiet else Messages(logging.WARNING)
            logger.addHandler(handler)
            stack.callback(logger.removeHandler, handler)
        if settings.quiet:
            yield {}
            return
        stack.enter_context(notices_on_stderr())
        from rich.console import Console

        console = Console(stderr=True)
        if settings.plain or not console.is_terminal:
            yield {"progress": True}
            return
        from thalweg.cli.live import Display

        with Display(title, describe_workers(settings), budget, console, elapsed) as display:
            yield {"progress": display}


@contextlib.contextmanager
def notices_on_stderr() -> Generator[None, None, None]:
    """Print the notices about a run that continues, and keep them from handlers that a user's module may have installed."""
    handler, before = Messages(logging.INFO), (notices.level, notices.propagate)
    notices.addHandler(handler)
    notices.setLevel(logging.INFO)
    notices.propagate = False
    try:
        yield
    finally:
        notices.setLevel(before[0])
        notices.propagate = before[1]
        notices.removeHandler(handler)


class Messages(logging.Handler):
    """Prints messages without tracebacks: those of a failed program lead only through the library."""

    def emit(self, record: logging.LogRecord) -> None:
        print(record.getMessage(), file=sys.stderr)
