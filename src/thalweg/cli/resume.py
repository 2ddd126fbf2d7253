"""`thalweg resume`: continue a run from its checkpoint."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

import thalweg
from thalweg.cli.running import run_and_report
from thalweg.cli.settings import RunSettings, shared_options
from thalweg.search import checkpoint as checkpoints
from thalweg.search.stopping import Budget


@click.command(context_settings={"show_default": True})
@click.argument("checkpoint", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@partial(shared_options, budget_default="that of CHECKPOINT")
def resume(checkpoint: Path, **given: Any) -> None:
    """Continue a run of `thalweg minimize` from its checkpoint.

    CHECKPOINT is the file that --checkpoint has written. It does not hold the function: pass the same MODULE:FUNCTION or
    --command again. Starting point, bounds, method, seed and budgets are read from the file; budgets given here replace them.
    The result is that of a run without interruption.

    \b
      thalweg resume run.ckpt model.py:loss --workers 4
      thalweg resume run.ckpt model.py:loss --max-evals 20000

    The exit status is that of `thalweg minimize`.
    """  # noqa: D301  (click needs the backspace character, which keeps the lines of the paragraph)
    settings = RunSettings(**given)
    saved = checkpoints.read(checkpoint).contents
    limits = {name: saved["settings"][name] if limit is None else limit for name, limit in asdict(settings.budget).items()}
    run = partial(thalweg.resume, checkpoint, settings.objective(), **settings.arguments())
    run_and_report(run, settings, f"{settings.name}, from {checkpoint}", Budget(**limits), saved["elapsed"], checkpoint)
