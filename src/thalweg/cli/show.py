"""`thalweg show`: a run from its checkpoint or its log, as a summary and as a figure."""

from pathlib import Path

import click

from thalweg import plots
from thalweg.cli.result_output import check_writable
from thalweg.plots.recorded import Recorded, labels, read
from thalweg.search.progress import clock
from thalweg.storage.atomic import replace

FIGURES = (".png", ".svg", ".pdf")
"""Endings of the names of figures."""


@click.command(context_settings={"show_default": True})
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for a figure of the run: .png, .svg or .pdf.  [default: none]",
)
def show(run: Path, out: Path | None) -> None:
    """Show a run that goes on or has ended.

    RUN is its checkpoint or its log (.jsonl, or the folder .parquet). A checkpoint run.ckpt and its log run.ckpt.jsonl are read
    together. Prints where the run has come to, and with --out draws convergence, step-size, coordinates, bend, model, failures
    and times.

    \b
      thalweg show run.ckpt
      thalweg show run.ckpt.jsonl --out run.png
    """  # noqa: D301  (click needs the backspace character, which keeps the lines of the paragraph)
    if out is not None:
        if out.suffix not in FIGURES:
            raise click.UsageError(f"--out must end in {', '.join(FIGURES)}, got {str(out)!r}")
        plots.require()
        check_writable(out)
    recorded = read(run)
    if not recorded.nfev:
        raise ValueError(f"{str(run)!r} holds no evaluation yet; try again once one has ended")
    click.echo(describe(recorded))
    if out is not None:
        figure = plots.run(recorded)
        replace(out, lambda file: figure.savefig(file, format=out.suffix[1:]))


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
