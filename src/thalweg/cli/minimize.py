"""`thalweg minimize`: a function of a module or an external program, from the command line."""

from functools import partial
from pathlib import Path
from typing import Any

import click

import thalweg
from thalweg._common.checks import as_seed
from thalweg.cli.problem import default_sigma0, read_bounds, read_options, read_start
from thalweg.cli.running import carry_out
from thalweg.cli.settings import Settings, shared
from thalweg.search.optimizer import read_account


@click.command(context_settings={"show_default": True})
@click.option("--x0", help='The start: "0,0,0", @file (.json, .csv, .npy) or random.  [default: the middle of --bounds]')
@click.option("--dimension", type=click.IntRange(min=1), help="The number of coordinates, where --x0 leaves it open.")
@click.option("--sigma0", type=float, help="The first standard deviation.  [default: 0.3 of the narrowest --bounds, else 1]")
@click.option("--bounds", help='One pair "-5,5" for all, one for each "-5,5;0,1;0,", or @file; nothing is an open side.')
@click.option("--method", default="gnn-cma", help="A name that `thalweg methods` lists.")
@click.option("--popsize", type=click.IntRange(min=2), help="Points per generation.  [default: 4 + 3 ln d]")
@click.option("--restarts", type=click.IntRange(min=0), default=0, help="How often to begin again, with twice the population.")
@click.option("--bipop", is_flag=True, help="Spend half of the evaluations on small runs between the large ones.")
@click.option("--seed", type=click.IntRange(min=0), help="For a run that can be repeated.  [default: drawn, and told]")
@click.option("--option", "option", multiple=True, metavar="NAME=VALUE", help="A field of the method or a stop tolerance.")
@click.option(
    "--checkpoint", type=click.Path(path_type=Path, dir_okay=False), help="Write all that is needed to go on; goes on from it."
)
@shared
def minimize(
    x0: str | None,
    dimension: int | None,
    sigma0: float | None,
    bounds: str | None,
    seed: int | None,
    option: tuple[str, ...],
    checkpoint: Path | None,
    **given: Any,
) -> None:
    """Minimise MODULE:FUNCTION, or the number that an external program prints.

    The function takes a vector and returns a number; its module may lie in this folder, and path/to/file.py:function will do
    too. The result is printed; progress and warnings go to stderr.

    \b
      thalweg minimize scipy.optimize:rosen --x0=-1,1 --sigma0 0.5
      thalweg minimize model.py:loss --dimension 10 --bounds=-5,5 --workers 4 --checkpoint run.ckpt --out result.json
      thalweg minimize --command "./simulate {x}" --bounds "0,1;10,20" --workers 8 --eval-timeout 60 --retries 1

    In --command, {x} stands for all coordinates as arguments, {x0}, {x1}, ... for single ones, {file} for a JSON file with the
    list of them; without any of these the list is on stdin. The value is the last line on stdout that is a number, or JSON
    with a number "f". A status other than 0, no number, or more than --eval-timeout seconds are a failure.

    Exit status: 0 when the run came to an end, 1 after an error, 2 for wrong options, 130 after Ctrl-C and 143 after SIGTERM;
    then too the best point so far is printed, and how to go on.
    """  # noqa: D301  (click must see the backspace itself, which keeps the lines as they are)
    own = {name: given.pop(name) for name in ("method", "popsize", "restarts", "bipop")}
    settings = Settings(**given)
    box = None if bounds is None else read_bounds(bounds)
    account = read_account(checkpoint) if checkpoint is not None and checkpoint.exists() else None
    seed = as_seed(account["config"]["seed"] if seed is None and account is not None else seed)
    start = read_start(x0, dimension, box, seed)
    run = partial(
        thalweg.minimize,
        settings.objective(),
        start,
        default_sigma0(box, len(start)) if sigma0 is None else sigma0,
        bounds=box,
        seed=seed,
        options=read_options(option),
        checkpoint=checkpoint,
        **own,
        **settings.arguments(),
    )
    elapsed = 0.0 if account is None else account["elapsed"]
    carry_out(run, settings, f"{settings.name}, {own['method']}, d = {len(start)}", settings.budget, elapsed, checkpoint)
