"""`thalweg resume`: go on from a checkpoint."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

import thalweg
from thalweg.cli.running import carry_out
from thalweg.cli.settings import Settings, shared
from thalweg.search.optimizer import read_account
from thalweg.search.stopping import Budget


@click.command(context_settings={"show_default": True})
@click.argument("checkpoint", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@shared
def resume(checkpoint: Path, **given: Any) -> None:
    """Go on from CHECKPOINT with the function or --command that it was written for, to the same end.

    Start, bounds, method, seed and budgets are those in the file; budgets that are given here take the place of those.

    \b
      thalweg resume run.ckpt model.py:loss --workers 4
      thalweg resume run.ckpt model.py:loss --max-evals 20000

    Exit status as that of `thalweg minimize`.
    """  # noqa: D301  (click must see the backspace itself, which keeps the lines as they are)
    settings = Settings(**given)
    account = read_account(checkpoint)
    limits = {name: account["config"][name] if limit is None else limit for name, limit in asdict(settings.budget).items()}
    run = partial(thalweg.resume, checkpoint, settings.objective(), **settings.arguments())
    carry_out(run, settings, f"{settings.name}, from {checkpoint}", Budget(**limits), account["elapsed"], checkpoint)
