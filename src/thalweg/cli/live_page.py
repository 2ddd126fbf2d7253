"""`--live`: the page of a run while it goes on."""

import contextlib
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import click

from thalweg.cli.settings import RunSettings
from thalweg.plots.html.live import Live
from thalweg.plots.recorded import Followed
from thalweg.search.minimize import log_path


@contextlib.contextmanager
def live_page(
    settings: RunSettings, title: str, checkpoint: Path | None
) -> Generator[tuple[Live | None, dict[str, Any]], None, None]:
    """Serve the page of a run with --live; yield it and the arguments of the run that it needs: a log, if there is none."""
    if not settings.live:
        yield None, {}
        return
    with contextlib.ExitStack() as stack:
        given, place = {}, log_path(settings.log, checkpoint, vectorized=settings.vectorized)
        if place is None:
            if click.get_current_context().params.get("log_coordinates") is not None:
                raise click.UsageError("--live with --log-coordinates needs --checkpoint, or variables described by --var")
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="thalweg-live-"))
            place = Path(folder, "run.jsonl")
            given["log"] = place
        path = Path(place).absolute()
        saved = None if checkpoint is None else checkpoint.absolute()

        def source() -> Followed:
            path.stat()  # there may be no log yet
            return Followed(path.name, path, saved, first=path)

        where = address(settings.live_host, settings.live_port)
        yield stack.enter_context(serve(Live(source, name=title, running=True, **where))), given


@contextlib.contextmanager
def serve(live: Live) -> Generator[Live, None, None]:
    """Serve a page, and print its address."""
    with live:
        click.echo(f"live page: {live.url}", err=True)
        yield live


def address(host: str | None, port: int | None) -> dict[str, Any]:
    """Return the arguments of `Live` for --live-host and --live-port."""
    return {"host": host or "127.0.0.1", "port": port or 0}
