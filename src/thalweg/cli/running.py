"""A run from the command line: shown while it goes on, summed up at its end, and well-behaved when it is stopped."""

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
from rich.console import Console

from thalweg.cli.engines import in_words, open_workers
from thalweg.cli.live import Display
from thalweg.cli.outcome import check_writable, summary, write_result
from thalweg.cli.settings import Settings, continuation
from thalweg.search.stopping import Budget

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

logger = logging.getLogger("thalweg")


def carry_out(
    run: "Callable[..., OptimizeResult]",
    settings: Settings,
    title: str,
    budget: Budget,
    elapsed: float,
    checkpoint: Path | None,
) -> None:
    """Call `run` with workers and a display; print and write what it returns. Ends the process with 128 + n on signal n."""
    if settings.out is not None:
        check_writable(settings.out)
    began = time.monotonic()
    with until_signal() as caught, open_workers(settings) as workers, shown(settings, title, budget, elapsed) as ways:
        try:
            result = run(workers=workers, **ways)
        except (RuntimeError, TypeError) as error:  # nothing but failures; an option of the wrong type
            raise click.ClickException(str(error)) from error
    seconds = elapsed + time.monotonic() - began
    if settings.out is not None:
        write_result(settings.out, result, seconds)
    click.echo(summary(result, seconds))
    if "interrupt" in result.stop:
        ctx = click.get_current_context()
        if checkpoint is not None:
            click.echo(f"continue with: {shlex.join(continuation(ctx, checkpoint))}", err=True)
        ctx.exit(128 + (caught[0] if caught else signal.SIGINT))


@contextlib.contextmanager
def until_signal() -> Generator[list[int], None, None]:
    """SIGTERM, by which batch systems say that the time is up, and SIGHUP end a run as Ctrl-C does; the list tells which."""
    caught: list[int] = []

    def stop(number: int, _: object) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    numbers = [
        number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL
    ]  # not nohup's
    for number in numbers:
        signal.signal(number, stop)
    try:
        yield caught
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def shown(settings: Settings, title: str, budget: Budget, elapsed: float) -> Generator[dict[str, Any], None, None]:
    """A panel on a terminal, lines in a pipe, or nothing: as arguments of `minimize`."""
    console = Console(stderr=True)
    with warnings_as(logging.NullHandler() if settings.quiet else Sentence() if settings.command else None):
        if settings.quiet:
            yield {}
        elif settings.plain or not console.is_terminal:
            yield {"progress": True}
        else:
            with Display(title, in_words(settings), budget, elapsed=elapsed, console=console) as display:
                yield {"callback": display.callback}


@contextlib.contextmanager
def warnings_as(handler: logging.Handler | None) -> Generator[None, None, None]:
    """What the library logs goes there; None leaves it to Python, which writes warnings with their tracebacks to stderr."""
    if handler is not None:
        logger.addHandler(handler)
    try:
        yield
    finally:
        if handler is not None:
            logger.removeHandler(handler)


class Sentence(logging.Handler):
    """A warning without a traceback, which leads through our own code only if a program has failed."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        print(record.getMessage(), file=sys.stderr)
