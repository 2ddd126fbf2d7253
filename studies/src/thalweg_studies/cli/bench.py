"""`thalweg bench bbob`: methods and peers on COCO's BBOB functions, into a folder."""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from thalweg.cli.bars import progress_bars
from thalweg_studies.bbob import batch
from thalweg_studies.bbob import post as cocopp
from thalweg_studies.bbob.entrant import Entrant, baseline_of, entrants
from thalweg_studies.bbob.plan import (
    DIMENSIONS,
    ENGINES,
    FUNCTIONS,
    INSTANCES,
    LOGGERS,
    RESTARTS,
    Settings,
    Unit,
    units,
    whole_numbers,
)
from thalweg_studies.bbob.reference import Reference, read_reference
from thalweg_studies.bbob.store import MANIFEST, Store, open_store
from thalweg_studies.bbob.summary import alone, archived, as_csv, as_json, compared, gather
from thalweg_studies.bbob.work import Failure, execute
from thalweg_studies.cli.reproduce import duration
from thalweg_studies.paper.store import write_text
from thalweg_studies.paper.work import Progress
from thalweg_studies.report.bbob import page
from thalweg_studies.report.page import as_markdown

FULL: dict[str, Any] = {"dims": "2,5,10,20", "functions": "1-24", "instances": "1-15", "budget": 1e4, "out": Path("out/bbob")}
QUICK: dict[str, Any] = {"dims": "2", "functions": "1,8", "instances": "1-3", "budget": 500.0, "out": Path("out/bbob-quick")}
"""What options are if they are not given."""


@click.group()
def bench() -> None:
    """Benchmarks of the field."""


@bench.command(context_settings={"show_default": True})
@click.option("--methods", default="gnn-cma,cma", help="Methods and peers, with options as in gnn-cma:flow=affine,popsize=10d.")
@click.option("--dims", help="Dimensions, out of 2, 3, 5, 10, 20, 40.  [default: 2,5,10,20]")
@click.option("--functions", help="Numbers of functions.  [default: 1-24]")
@click.option("--instances", help="Instances of each function.  [default: 1-15]")
@click.option("--budget", type=float, help="Evaluations of each run, as a multiple of the dimension.  [default: 1e4]")
@click.option("--popsize", help="Population of the first run for methods that say none: a number, or 10d for 10 times d.")
@click.option("--restarts", type=click.Choice(RESTARTS), default="ipop", help="How to begin again until the budget is spent.")
@click.option(
    "--engine", type=click.Choice(ENGINES), default="coco", help="Whose functions: coco-experiment's, or ours in JAX."
)
@click.option("--logger", type=click.Choice(LOGGERS), default="coco", help="Files for cocopp, or for IOHanalyzer.")
@click.option("--seed", type=click.IntRange(min=0), default=1, help="For starts and methods; all methods have the same starts.")
@click.option(
    "--workers", type=click.IntRange(min=1), default=max(1, os.cpu_count() or 1), help="Processes at work; --engine jax is one."
)
@click.option("--baseline", help="The method that all others are compared with.  [default: the latent, else cma]")
@click.option("--reference", type=click.Path(path_type=Path), help="A CSV file of archived runtimes to put beside ours.")
@click.option("--post/--no-post", default=None, help="Whether cocopp draws its figures.  [default: if it is installed]")
@click.option("--quick", is_flag=True, help="Two functions in dimension 2 with a small budget: less than a minute.")
@click.option("--out", type=click.Path(path_type=Path), help="The results folder.  [default: out/bbob; out/bbob-quick]")
def bbob(
    methods: str,
    popsize: str | None,
    baseline: str | None,
    reference: Path | None,
    post: bool | None,
    workers: int,
    quick: bool,
    **given: Any,
) -> None:
    """Run methods on the 24 noiseless BBOB functions as COCO has them, and compare their average runtimes.

    Methods are all that `thalweg methods` lists. Peers are the libraries as their users call them: pycma, cmaes, evosax-cma,
    nevergrad-cma, scipy-de.

    Writes summary.md, summary.csv and runs.json (every run's evaluations to every target), the observer's files, and
    cocopp's pages in ppdata. A run that was stopped goes on where it was; more methods, functions, dimensions or instances
    may be added to a folder later, and the summary covers those that are named.
    """
    chosen = {key: (QUICK if quick else FULL)[key] if value is None else value for key, value in given.items() if key in FULL}
    settings = Settings(budget=chosen["budget"], **{key: given[key] for key in ("seed", "restarts", "engine", "logger")})
    who = entrants(methods, popsize)
    against = None if baseline is None else entrants(baseline, popsize)[0]
    if against is not None and against not in who:
        raise ValueError(f"baseline must be one of the methods, got {baseline!r}; name it in --methods too")
    ranges = (("functions", FUNCTIONS), ("dims", DIMENSIONS), ("instances", INSTANCES))
    work = units(who, *(whole_numbers(chosen[name], name, known) for name, known in ranges))
    if settings.engine == "jax":
        batch.check(who)
    archive = {} if reference is None else read_reference(reference)
    draw = cocopp.wanted(post, settings)
    console, start = Console(), time.monotonic()
    store = open_store(chosen["out"], settings)
    failures = run(store, work, workers)
    for path in summarise(store, work, failures, against, archive):
        console.print(str(path), highlight=False, soft_wrap=True)
    if draw:
        folders = [store.courses / entrant.slug for entrant in who if (store.courses / entrant.slug).is_dir()]
        console.print(str(cocopp.post_process(folders, store.folder / "ppdata")), highlight=False, soft_wrap=True)
    if console.is_terminal:
        console.print(f"{duration(time.monotonic() - start)}, {workers} workers", highlight=False)
    if failures:
        raise click.ClickException(f"{len(failures)} of {len(work)} runs failed; {failures[0]}")


def run(store: Store, work: Sequence[Unit], workers: int) -> list[Failure]:
    """Run what is missing, with a bar and the time left on a terminal."""
    with progress_bars() as bars:
        task = bars.add_task("bbob", total=1.0, note="starting")

        def report(progress: Progress) -> None:
            left = "starting" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
            bars.update(task, completed=progress.share, note=f"{progress.done} of {progress.total}, {left}")

        if store.settings.engine == "jax":
            return batch.execute(store, work, report)
        return execute(store, work, workers, report)


def summarise(
    store: Store, work: Sequence[Unit], failures: Sequence[Failure], baseline: Entrant | None, archive: Reference
) -> list[Path]:
    """Write the summary as a page, as rows, and all runs behind it."""
    manifest = json.loads((store.folder / MANIFEST).read_text(encoding="utf-8"))
    results = gather(work, map(store.read, work))
    rows = alone(results)
    who = list(dict.fromkeys(unit.entrant for unit in work))
    for entrant in who:
        other = baseline_of(entrant, who, baseline)
        if other is not None:
            rows += compared(results, entrant, other)
    rows += archived(archive, sorted({(unit.dimension, unit.function) for unit in work}))
    texts = {
        "summary.md": as_markdown(page(rows, manifest, list(map(str, failures)))),
        "summary.csv": as_csv(rows),
        "runs.json": as_json(results, manifest["settings"]),
    }
    for name, text in texts.items():
        write_text(store.folder / name, text)
    return [store.folder / name for name in texts]
