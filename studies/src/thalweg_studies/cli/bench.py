"""`thalweg bench bbob`: methods and peers on COCO's BBOB functions, into a folder."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from thalweg.cli.live import progress_bars
from thalweg.storage.atomic import write_text
from thalweg_studies.bbob import batch
from thalweg_studies.bbob import post as cocopp
from thalweg_studies.bbob.benchmark import Benchmark
from thalweg_studies.bbob.comparison import compare
from thalweg_studies.bbob.entrant import MODELS, Entrant, baseline_of, entrants
from thalweg_studies.bbob.plan import (
    DIMENSIONS,
    ENGINES,
    FUNCTIONS,
    INSTANCES,
    LOGGERS,
    RESTARTS,
    Settings,
    Trial,
    trials,
    whole_numbers,
)
from thalweg_studies.bbob.record import Run
from thalweg_studies.bbob.reference import choose, read_reference
from thalweg_studies.bbob.reference_page import write_comparison
from thalweg_studies.bbob.report import page, runtimes
from thalweg_studies.bbob.summary import Results, alone, as_csv, as_json, compared, gather
from thalweg_studies.cli.progress import duration, show_progress
from thalweg_studies.common.results import ResultsFolder, open_results, read_manifest
from thalweg_studies.common.work import Failure, execute
from thalweg_studies.report.page import as_markdown

FULL: dict[str, Any] = {"dims": "2,5,10,20", "functions": "1-24", "instances": "1-15", "budget": 1e4, "out": Path("out/bbob")}
QUICK: dict[str, Any] = {"dims": "2", "functions": "1,8", "instances": "1-3", "budget": 500.0, "out": Path("out/bbob-quick")}
"""Defaults of the options, without and with --quick."""


class Benchmarks(click.Group):
    """Benchmarks; without the name of one it is BBOB."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        return super().parse_args(
            ctx, ["bbob", *args] if first.startswith("-") and first not in ctx.help_option_names else args
        )


@click.group(cls=Benchmarks)
def bench() -> None:
    """Run benchmarks of the field. With options alone, as in `thalweg bench --quick`, it is BBOB."""


@bench.command(context_settings={"show_default": True})
@click.option("--methods", default="gnn-cma,cma", help="Methods and peers, with options as in gnn-cma:flow=affine,popsize=10d.")
@click.option("--dims", help="Dimensions, from 2, 3, 5, 10, 20, 40.  [default: 2,5,10,20]")
@click.option("--functions", help="Numbers of functions.  [default: 1-24]")
@click.option("--instances", help="Instances of each function.  [default: 1-15]")
@click.option("--budget", type=float, help="Evaluations of each run, as a multiple of the dimension.  [default: 1e4]")
@click.option(
    "--popsize", help="Population of the first run, for methods without this option: a number, or 10d for 10 times d."
)
@click.option("--model", type=click.Choice(MODELS), help="Model of the objective, for methods without one as in cma+quadratic.")
@click.option("--restarts", type=click.Choice(RESTARTS), default="ipop", help="Restart scheme until the budget is spent.")
@click.option(
    "--engine", type=click.Choice(ENGINES), default="coco", help="Source of the functions: coco-experiment, or JAX for speed."
)
@click.option(
    "--logger", type=click.Choice(LOGGERS), default="coco", help="Format of the logs: for cocopp, for IOHanalyzer, or none."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Seed of starts and methods; all methods share the starts.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=max(1, os.cpu_count() or 1),
    help="Number of processes; 1 with --engine jax.",
)
@click.option("--baseline", help="Method that all others are compared with.  [default: the latent, else cma]")
@click.option(
    "--reference",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="CSV file of archived runtimes to show beside ours.",
)
@click.option(
    "--reference-algorithms",
    help="Algorithms of that file, or all.  [default: CMA-ES, lq-CMA-ES, BIPOP-saACM-k and others of note]",
)
@click.option("--post/--no-post", default=None, help="Run cocopp for its figures.  [default: if it is installed]")
@click.option("--quick", is_flag=True, help="Two functions in dimension 2 with a small budget: less than a minute.")
@click.option("--out", type=click.Path(path_type=Path), help="Results folder.  [default: out/bbob; out/bbob-quick]")
def bbob(
    methods: str,
    popsize: str | None,
    model: str | None,
    baseline: str | None,
    reference: Path | None,
    reference_algorithms: str | None,
    post: bool | None,
    workers: int,
    quick: bool,
    **given: Any,
) -> None:
    """Run methods on the 24 noiseless BBOB functions of COCO, and compare their average runtimes.

    Methods are all that `thalweg methods` lists, without or with a model: gnn-cma, gnn-cma+quadratic. Peers are other
    libraries, called as their users do: pycma, pycma-lq, cmaes, evosax-cma, nevergrad-cma, scipy-de.

    Prints the average runtimes, and writes summary.md, summary.csv and runs.json (the evaluations of every run to every
    target), the logger's files, and cocopp's pages in ppdata; with --reference also a page and figures in the folder reference,
    which git ignores. An interrupted command continues where it stopped. Later calls may add methods, functions, dimensions or
    instances to a folder; the summary covers those of the call.
    """
    chosen = {key: (QUICK if quick else FULL)[key] if value is None else value for key, value in given.items() if key in FULL}
    settings = Settings(budget=chosen["budget"], **{key: given[key] for key in ("seed", "restarts", "engine", "logger")})
    who = entrants(methods, popsize, model)
    against = None if baseline is None else entrants(baseline, popsize, model)[0]
    if against is not None and against not in who:
        raise ValueError(f"baseline must be one of the methods, got {baseline!r}; name it in --methods too")
    ranges = (("functions", FUNCTIONS), ("dims", DIMENSIONS), ("instances", INSTANCES))
    work = trials(who, *(whole_numbers(chosen[name], name, known) for name, known in ranges))
    if settings.engine == "jax":
        batch.check(who)
    if reference is None and reference_algorithms is not None:
        raise ValueError(
            f"reference-algorithms, got {reference_algorithms!r}, needs a file to choose from; give --reference too"
        )
    archive = None if reference is None else choose(read_reference(reference), reference_algorithms, reference)
    draw = cocopp.wanted(post, settings)
    console, start = Console(), time.monotonic()
    benchmark = Benchmark(settings, chosen["out"])
    results = open_results(benchmark.folder, benchmark)
    with progress_bars() as bars:
        failures = execute(results, work, workers, show_progress(bars, "bbob", "starting")[1])
    found = gather(work, map(results.read, work))
    written, tables = summarise(results, work, found, failures, against)
    console.print(tables, highlight=False, markup=False, soft_wrap=True)
    if archive is not None and reference is not None and found:
        written += write_comparison(compare(found, archive), reference.name, benchmark.folder)
    for path in written:
        console.print(str(path), highlight=False, soft_wrap=True)
    if draw:
        folders = [folder for folder in map(benchmark.trajectories, who) if folder.is_dir()]
        console.print(str(cocopp.post_process(folders, benchmark.folder / "ppdata")), highlight=False, soft_wrap=True)
    if console.is_terminal:
        console.print(f"{duration(time.monotonic() - start)}, {workers} workers", highlight=False)
    if failures:
        raise click.ClickException(f"{len(failures)} of {len(work)} runs failed; {failures[0]}")


def summarise(
    results: ResultsFolder[Trial, Run],
    work: Sequence[Trial],
    found: Results,
    failures: Sequence[Failure[Trial]],
    baseline: Entrant | None,
) -> tuple[list[Path], str]:
    """Write the summary as a page and as rows, and all runs; return the paths, and the average runtimes as text."""
    manifest = read_manifest(results.folder, results.study.format)
    rows = alone(found)
    who = list(dict.fromkeys(trial.entrant for trial in work))
    for entrant in who:
        other = baseline_of(entrant, who, baseline)
        if other is not None:
            rows += compared(found, entrant, other)
    texts = {
        "summary.md": as_markdown(page(rows, manifest, list(map(str, failures)))),
        "summary.csv": as_csv(rows),
        "runs.json": as_json(found, manifest["settings"]),
    }
    for name, text in texts.items():
        write_text(results.folder / name, text)
    return [results.folder / name for name in texts], as_markdown(runtimes(rows))
