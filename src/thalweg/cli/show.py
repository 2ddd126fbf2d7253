"""`thalweg show`: a run from its checkpoint or its log, as a summary and as a figure."""

import signal
import threading
from pathlib import Path

import click

from thalweg import plots
from thalweg._common.interrupts import Guard, interruptible
from thalweg.cli.live_page import address, serve
from thalweg.cli.result_output import check_writable
from thalweg.cli.running import SIGNALS
from thalweg.cli.settings import LIVE, check_live, with_options
from thalweg.plots.html.live import Live
from thalweg.plots.recorded import Recorded, follow, labels
from thalweg.search.progress import clock
from thalweg.storage.atomic import replace, write_text

FIGURES, PAGE = (".png", ".svg", ".pdf"), ".html"
"""Endings of the names of figures and pages."""


@click.command(context_settings={"show_default": True})
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for a page of the run, .html, or for a figure: .png, .svg or .pdf.  [default: none]",
)
@with_options(LIVE)
def show(run: Path, out: Path | None, live: bool, live_host: str | None, live_port: int | None) -> None:
    """Show a run that goes on or has ended.

    RUN is its checkpoint or its log (.jsonl, or the folder .parquet). A checkpoint run.ckpt and its log run.ckpt.jsonl are read
    together. Prints where the run has come to, and with --out draws convergence, step-size, coordinates, bend, model, failures
    and times, or writes a page for a browser, which has all evaluations too. With --live it serves that page, which moves with
    the run, until Ctrl-C.

    \b
      thalweg show run.ckpt
      thalweg show run.ckpt.jsonl --out run.png
      thalweg show run.ckpt --out run.html
      thalweg show run.ckpt --live
    """  # noqa: D301  (click needs the backspace character, which keeps the lines of the paragraph)
    if out is not None:
        if out.suffix not in (PAGE, *FIGURES):
            raise click.UsageError(f"--out must end in {', '.join((PAGE, *FIGURES))}, got {str(out)!r}")
        if out.suffix != PAGE:
            plots.require()
        check_writable(out)
    check_live(live, live_host, live_port)
    try:
        followed = follow(run)
    except FileNotFoundError as error:  # a mistake in what was typed
        raise ValueError(str(error)) from error
    recorded = followed.read()
    if not recorded.nfev and not live:
        raise ValueError(f"{str(run)!r} holds no evaluation yet; try again once one has ended")
    click.echo(describe(recorded))
    if out is not None and out.suffix == PAGE:
        write_text(out, plots.page(recorded))
    elif out is not None:
        figure = plots.run(recorded)
        replace(out, lambda file: figure.savefig(file, format=out.suffix[1:]))
    if live:
        with Guard(SIGNALS) as guard, serve(Live(lambda: followed, **address(live_host, live_port))):
            try:
                with interruptible():
                    threading.Event().wait()
            except KeyboardInterrupt:
                click.get_current_context().exit(128 + (guard.noted[0] if guard.noted else signal.SIGINT))


def describe(run: Recorded) -> str:
    """Return the summary of a run: how it was searched, where it has come to, and its best point."""
    kinds = [f"{run.d} variable{'s' * (run.d != 1)}"]
    kinds += [] if run.method is None else [f"method {run.method}", f"seed {run.seed}"]
    open_end = "not ended: it goes on, or can be continued" if run.method else "a log does not tell whether its run has ended"
    rows = {"run": ", ".join([run.name, *kinds]), "status": run.message or open_end}
    if run.best is not None:
        rows["f"] = f"{run.best.f!r}, at evaluation {run.best.nfev:,}"
        x = [int(value) if whole else value for value, whole in zip(run.best.x.tolist(), run.integers, strict=True)]
        if run.names == labels(None, run.d):
            rows["x"] = ",".join(map(repr, x))
        else:
            rows["point"] = ", ".join(f"{name}={value!r}" for name, value in zip(run.names, x, strict=True))
        if run.constrained:
            rows["feasible"] = "yes" if run.best.violation == 0 else f"no, violation {run.best.violation:g}"
    took = "" if run.elapsed is None else f" in {run.elapsed:.1f} s" if run.elapsed < 60 else f" in {clock(run.elapsed)}"
    rows["evaluations"] = f"{run.nfev:,}{took}"
    if restarts := max([*run.evaluations.run[-1:], *run.generations.run[-1:]], default=0):
        rows["restarts"] = str(restarts)
    if run.failures:
        first = run.evaluations.errors[:1]
        rows["failures"] = ", the first: ".join([f"{run.failures:,}", *(" ".join(text.split()) for text in first)])
    return "\n".join(f"{name:<11}  {text}" for name, text in rows.items())
