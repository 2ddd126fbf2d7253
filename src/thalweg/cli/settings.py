"""The options that `thalweg minimize` and `thalweg resume` share: what is evaluated, by whom, and for how long."""

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from thalweg.cli.problem import find_function
from thalweg.objectives.command import Command
from thalweg.search.stopping import Budget

ENGINES = ("processes", "ray", "dask")

Decorator = Callable[[Any], Any]

OPTIONS: tuple[Decorator, ...] = (
    click.argument("target", metavar="[MODULE:FUNCTION]", required=False),
    click.option("--command", help="A program in place of the function, such as './simulate {x}'."),
    click.option("--shell", is_flag=True, help="Let a shell read --command."),
    click.option("--scratch", is_flag=True, help="Run each --command in a folder of its own, which is removed afterwards."),
    click.option("--vectorized", is_flag=True, help="The function takes a whole generation, (popsize, d)."),
    click.option("--max-evals", type=float, help="Stop after the generation that reaches as many evaluations."),
    click.option("--max-iter", type=float, help="Stop after as many generations."),
    click.option("--ftarget", type=float, help="Stop at a value that is as low."),
    click.option("--timeout", type=float, help="Stop after as many seconds."),
    click.option("--workers", type=int, help="Evaluations at a time; -1: one for each CPU.  [default: 1; of Ray and Dask all]"),
    click.option("--engine", type=click.Choice(ENGINES), default="processes", help="Who evaluates."),
    click.option("--address", help="Of a running Ray or Dask cluster; without, one is started here."),
    click.option("--retries", type=click.IntRange(min=0), default=0, help="How often to repeat an evaluation that failed."),
    click.option("--eval-timeout", type=float, help="Seconds for one evaluation; what takes longer has failed."),
    click.option("--asynchronous", is_flag=True, help="Keep all workers busy: do not wait for whole generations."),
    click.option("--log", help="Record every evaluation in x.jsonl or x.parquet.  [default: beside the checkpoint]"),
    click.option("--no-log", is_flag=True, help="Record nothing."),
    click.option("--out", type=click.Path(path_type=Path), help="Write the result to a JSON file."),
    click.option("--plain", is_flag=True, help="A line of progress, no panel."),
    click.option("--quiet", is_flag=True, help="No progress and no warnings."),
)


def shared(command: Any) -> Any:
    """Give a command these options."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Settings:
    """What the shared options were set to."""

    target: str | None
    command: str | None
    shell: bool
    scratch: bool
    vectorized: bool
    max_evals: float | None
    max_iter: float | None
    ftarget: float | None
    timeout: float | None
    workers: int | None
    engine: str
    address: str | None
    retries: int
    eval_timeout: float | None
    asynchronous: bool
    log: str | None
    no_log: bool
    out: Path | None
    plain: bool
    quiet: bool

    def __post_init__(self) -> None:
        if (self.target is None) == (self.command is None):
            raise click.UsageError("name what to minimise: either MODULE:FUNCTION or --command")
        if self.command is None and (self.shell or self.scratch):
            raise click.UsageError("--shell and --scratch are for --command")
        if self.command is not None and self.vectorized:
            raise click.UsageError("--vectorized is for functions, a --command takes one point")
        if self.engine == "processes" and self.address is not None:
            raise click.UsageError("--address is for --engine ray or dask")
        if self.log is not None and self.no_log:
            raise click.UsageError("--log or --no-log, not both")
        if self.workers is not None and (self.workers == 0 or self.workers < -1):
            raise click.UsageError(f"--workers must be at least 1, or -1 for one for each CPU, got {self.workers}")

    @property
    def name(self) -> str:
        """What is minimised."""
        return self.target or self.command or ""

    @property
    def number(self) -> int | None:
        """How many evaluations may go on at a time; None is all that Ray or Dask has."""
        if self.engine != "processes":
            return None if self.workers == -1 else self.workers
        return (os.cpu_count() or 1) if self.workers == -1 else self.workers or 1

    @property
    def budget(self) -> Budget:
        """As far as it was given."""
        return Budget.checked(self.max_evals, self.max_iter, self.ftarget, self.timeout)

    def objective(self) -> Callable[..., Any]:
        """The function, or the program as one; programs keep to --eval-timeout themselves, as all their processes must end."""
        if self.command is not None:
            return Command(self.command, timeout=self.eval_timeout, shell=self.shell, scratch=self.scratch)
        return find_function(self.target or "")

    def arguments(self) -> dict[str, Any]:
        """The arguments of `minimize` and `resume` that say something."""
        given: dict[str, Any] = {name: getattr(self, name) for name in ("max_evals", "max_iter", "ftarget", "timeout")}
        if self.retries:
            given["retries"] = self.retries
        if self.eval_timeout is not None and self.command is None:
            given["eval_timeout"] = self.eval_timeout
        if self.log is not None or self.no_log:
            given["log"] = self.log or False
        return given | {name: True for name in ("vectorized", "asynchronous") if getattr(self, name)}


def continuation(ctx: click.Context, checkpoint: Path) -> list[str]:
    """The words of a command that goes on from a checkpoint, with the options of this one that it takes too."""
    words = ["thalweg", "resume", str(checkpoint)]
    if ctx.params["target"] is not None:
        words.append(ctx.params["target"])
    names = {field.name for field in fields(Settings)} - {"target", "max_evals", "max_iter", "ftarget", "timeout"}
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if parameter.name in names and value != parameter.get_default(ctx) and value is not None:
            words += [parameter.opts[0]] if value is True else [parameter.opts[0], str(value)]
    return words
