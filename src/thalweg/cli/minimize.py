"""`thalweg minimize`: minimise a function of a module or an external program. `thalweg resume`: continue a run."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

import thalweg
from thalweg._common.checks import as_seed
from thalweg.cli.problem import for_each, read_bounds, read_coordinates, read_numbers, read_options, read_start
from thalweg.cli.running import run_and_report
from thalweg.cli.settings import RunSettings, shared_options
from thalweg.cli.variables import read_space
from thalweg.models import MODELS
from thalweg.search import checkpoint as checkpoints
from thalweg.search.stopping import Budget


@click.command(context_settings={"show_default": True})
@click.option(
    "--x0",
    help='Starting point: numbers as in "0,0,0", @file (.json, .csv or .npy), or random for a random point within --bounds.  '
    "[default: the middle of --bounds; on a coordinate with an open side 0, or sigma0 inside the bound]",
)
@click.option(
    "--dimension",
    type=click.IntRange(min=1),
    help="Number of coordinates d. Repeats a single number in --x0.  [default: that of --x0 or --bounds]",
)
@click.option(
    "--sigma0",
    help="Initial standard deviation of the points, in units of x: one number for all coordinates, or one for each as in "
    '"0.1,1,10", or @file.  [default: 0.3 times the width of --bounds in each coordinate that has two, else 1]',
)
@click.option(
    "--bounds",
    help='Bounds: one pair "-5,5" for all coordinates, one pair for each as in "-5,5;0,1;0,", or @file; an empty side is '
    "unbounded.  [default: none]",
)
@click.option(
    "--scale",
    help="Size of x, in units of which --sigma0 is: one number, or one for each coordinate, or @file.  [default: 1]",
)
@click.option(
    "--log-coordinates",
    metavar="I,J,...",
    help="Coordinates to search by their logarithms, counted from 0; --sigma0 is then that of the natural logarithm.  "
    "[default: none]",
)
@click.option(
    "--integers", metavar="I,J,...", help="Coordinates that take whole numbers alone, counted from 0.  [default: none]"
)
@click.option(
    "--var",
    "variables",
    multiple=True,
    metavar="NAME=LOW..HIGH[:log][:int]",
    help="A variable by name, such as rate=1e-5..1e-1:log, width=8..512:int, shift=0..:x0=2:sigma0=0.5 (open above) or "
    "gamma=0.99 (fixed), instead of --x0, --sigma0 and --bounds. May be repeated. The function gets a mapping of names to "
    "numbers.",
)
@click.option(
    "--space",
    "space_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="TOML file with a line for each variable, such as: rate = {low = 1e-5, high = 1e-1, log = true}.  [default: none]",
)
@click.option("--as-vector", is_flag=True, help="With --var or --space: pass the vector of values instead of a mapping.")
@click.option("--method", default="gnn-cma", help="Optimisation method; `thalweg methods` lists the names.")
@click.option(
    "--model",
    type=click.Choice(list(MODELS)),
    help="Model of the function that chooses which points of a generation are evaluated and stands in for the others: far "
    "fewer evaluations of a smooth function. For evaluations that take longer than some milliseconds.  [default: none]",
)
@click.option("--popsize", type=click.IntRange(min=2), help="Number of points per generation.  [default: 4 + 3 ln d]")
@click.option(
    "--restarts",
    type=click.IntRange(min=0),
    default=0,
    help="Maximum number of restarts. Each has twice the population of the run before.",
)
@click.option(
    "--bipop",
    is_flag=True,
    help="With --restarts: spend half of the evaluations on additional runs with small populations (BIPOP).",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed of the random numbers: the same seed gives the same run.  [default: a random one, which is printed]",
)
@click.option(
    "--option",
    "option",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the method or a stop tolerance, such as tolx=1e-9. May be repeated.",
)
@click.option(
    "--known",
    type=click.Path(path_type=Path, exists=True),
    help="Log of an earlier run (.jsonl or .parquet) of the same function, to start from. Its best point counts, its "
    "evaluations do not.  [default: none]",
)
@click.option("--known-similar", is_flag=True, help="The log of --known is one of a similar function: it says where to start.")
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps the state of the run. If it exists, the run continues from it.  [default: none]",
)
@shared_options
def minimize(
    x0: str | None,
    dimension: int | None,
    sigma0: str | None,
    bounds: str | None,
    scale: str | None,
    log_coordinates: str | None,
    integers: str | None,
    variables: tuple[str, ...],
    space_file: Path | None,
    as_vector: bool,
    seed: int | None,
    option: tuple[str, ...],
    known: Path | None,
    known_similar: bool,
    checkpoint: Path | None,
    **given: Any,
) -> None:
    """Minimise a Python function or an external program.

    MODULE:FUNCTION names a function that takes a vector and returns a number. MODULE is installed or lies in the current
    folder; a path such as path/to/model.py works too. The result is printed to stdout, progress and warnings to stderr.

    \b
      thalweg minimize scipy.optimize:rosen --x0=-1,1 --sigma0 0.5
      thalweg minimize model.py:loss --dimension 10 --bounds=-5,5 --workers 4 --checkpoint run.ckpt --out result.json
      thalweg minimize --command "./simulate {x}" --bounds "0,1;10,20" --workers 8 --eval-timeout 60 --retries 1
      thalweg minimize --command "./train --lr {rate} --width {width}" --var rate=1e-5..1e-1:log --var width=8..512:int:log

    With --command a program is run for each point. In it, {x} stands for all coordinates as arguments, {x0}, {x1}, ... for
    single coordinates, {NAME} for a variable of --var or --space, and {file} for a JSON file with the list of coordinates, or
    with an object of the variables. Without any of these the program reads that JSON from stdin. The value is the last line on
    stdout that is a number, or a JSON object with a number "f". An evaluation fails if the program exits with a status other
    than 0, prints no number, or takes more than --eval-timeout seconds.

    Exit status: 0 if the run ended by itself, 1 if it failed, 2 for a mistake in the command, 130 after Ctrl-C, 143 after
    SIGTERM, 129 after SIGHUP. After a signal the best point so far is printed, and the command that continues if there is a
    --checkpoint.
    """  # noqa: D301  (click needs the backspace character, which keeps the lines of the paragraph)
    own = {name: given.pop(name) for name in ("method", "model", "popsize", "restarts", "bipop")}
    settings = RunSettings(**given)
    saved = checkpoints.read(checkpoint).contents if checkpoint is not None and checkpoint.exists() else None
    seed = as_seed(saved["problem"]["seed"] if seed is None and saved is not None else seed)
    if known_similar and known is None:
        raise click.UsageError("--known-similar needs --known, the log of the similar function")
    given_known = None if known is None else thalweg.Known(known, similar=known_similar)
    space = read_space(variables, space_file)
    if log_coordinates is not None and (settings.log is not None or settings.no_log):
        raise click.UsageError("--log-coordinates excludes --log and --no-log; describe the variables by --var instead")
    kinds = {
        "scale": read_numbers(scale, "--scale"),
        "log": read_coordinates(log_coordinates, "--log-coordinates"),
        "integers": read_coordinates(integers, "--integers"),
    }
    if space is None:
        box = None if bounds is None else read_bounds(bounds)
        if given_known is not None and x0 is None and dimension is None and not isinstance(box, list):
            dimension = given_known.table()[0].shape[1]
        no_start = box is None and x0 is None and given_known is not None
        start = None if no_start else read_start(x0, dimension, box, seed, log=kinds["log"], integers=kinds["integers"])
        box = for_each(box, dimension if start is None else None)
        d = dimension if start is None and box is None else len(box if start is None else start)
    else:
        replaced = {"--x0": x0, "--dimension": dimension, "--sigma0": sigma0, "--bounds": bounds, "--scale": scale}
        replaced |= {"--log-coordinates": log_coordinates, "--integers": integers}
        for name in (name for name, value in replaced.items() if value is not None):
            raise click.UsageError(f"--var and --space take the place of {name}; describe it there, as in rate=0..1:x0=0.5")
        start, box, d = space.as_vector() if as_vector else space, None, space.d
    settings.check_command(space.names if space is not None and not as_vector else None, d)
    run = partial(
        thalweg.minimize,
        settings.objective(),
        start,
        read_numbers(sigma0, "--sigma0"),
        bounds=box,
        scale=kinds["scale"],
        integers=kinds["integers"],
        known=given_known,
        seed=seed,
        options=read_options(option),
        checkpoint=checkpoint,
        **own,
        **settings.arguments(),
        **({} if kinds["log"] is None else {"log": kinds["log"]}),
    )
    elapsed = 0.0 if saved is None else saved["elapsed"]
    title = f"{settings.name}, {own['method']}, d = {d}"
    run_and_report(run, settings, title, settings.budget, elapsed, checkpoint)


@click.command(context_settings={"show_default": True})
@click.argument("checkpoint", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@partial(shared_options, budget_default="that of CHECKPOINT")
def resume(checkpoint: Path, **given: Any) -> None:
    """Continue a run of `thalweg minimize` from its checkpoint.

    CHECKPOINT is the file that --checkpoint has written. It does not hold the function: pass the same MODULE:FUNCTION or
    --command again. Starting point, bounds, method, model, seed and budgets are read from the file; budgets given here replace
    them. The result is that of a run without interruption.

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
