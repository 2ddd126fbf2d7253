"""The options that `thalweg minimize` and `thalweg resume` share: the objective, its workers, the budgets and the output."""

import difflib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from pathlib import Path
from typing import Any

import click

from thalweg._common.checks import one_of
from thalweg.cli.problem import find_function
from thalweg.evaluate import ENGINES
from thalweg.objectives.command import COORDINATE, PLACEHOLDER, Command
from thalweg.search.stopping import Budget

Decorator = Callable[[Any], Any]

OBJECTIVE: tuple[Decorator, ...] = (
    click.argument("target", metavar="[MODULE:FUNCTION]", required=False),
    click.option("--command", help="External program to minimise instead of a function, such as './simulate {x}'."),
    click.option("--shell", is_flag=True, help="Run --command in a shell, for pipes, variables and several commands."),
    click.option("--scratch", is_flag=True, help="Run each --command in a temporary folder of its own."),
    click.option("--vectorized", is_flag=True, help="Call the function with a whole generation, an array (popsize, d)."),
)

LIVE: tuple[Decorator, ...] = (
    click.option("--live", is_flag=True, help="Serve a page of the run to browsers on this machine; its address is on stderr."),
    click.option(
        "--live-host",
        metavar="ADDRESS",
        help="Network interface of that page; on another than the default whoever knows its address sees the run.  "
        "[default: 127.0.0.1]",
    ),
    click.option("--live-port", type=click.IntRange(0, 65535), help="Port of that page.  [default: a free one]"),
)

EVALUATION: tuple[Decorator, ...] = (
    click.option(
        "--workers",
        type=int,
        help="Number of evaluations at the same time; -1 is one for each CPU.  [default: 1; with ray and dask all workers]",
    ),
    click.option(
        "--engine", type=click.Choice(list(ENGINES)), default="processes", help="Kind of workers that evaluate the points."
    ),
    click.option("--address", help="Address of a running Ray or Dask cluster.  [default: start one on this machine]"),
    click.option("--retries", type=click.IntRange(min=0), default=0, help="Number of times to repeat a failed evaluation."),
    click.option(
        "--eval-timeout",
        type=float,
        help="Time limit of one evaluation in seconds; a longer one counts as failed.  [default: no limit]",
    ),
    click.option("--asynchronous", is_flag=True, help="Start points as workers become free, without waiting for generations."),
    click.option(
        "--log", help="File ending in .jsonl or .parquet that records every evaluation.  [default: beside the checkpoint]"
    ),
    click.option("--no-log", is_flag=True, help="Do not record the evaluations."),
    *LIVE,
    click.option(
        "--trust/--no-trust",
        default=None,
        help="Take the values of the checkpoint for those of the function, or evaluate its best point again and refuse to "
        "continue if the value is another.  [default: --no-trust if the function, the command or its scripts have changed]",
    ),
    click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="JSON file for the complete result; - is stdout, which then has nothing else.  [default: none]",
    ),
    click.option("--plain", is_flag=True, help="Show progress as one line instead of a panel."),
    click.option("--quiet", is_flag=True, help="Show no progress and no warnings."),
)

MOST_WORKERS = 10_000
BUDGETS = {
    "--max-evals": ("Stop at this number of evaluations.", "no limit"),
    "--max-iter": ("Stop after this number of generations.", "pycma's limit if there is no --max-evals and no --timeout"),
    "--ftarget": ("Stop once f <= this value.", "none"),
    "--timeout": ("Stop after this number of seconds.", "no limit"),
}
"""Options that end a run, with their help and their defaults for a new run."""


def shared_options(command: Any, *, budget_default: str | None = None) -> Any:
    """Add the options of `RunSettings` to a command; a decorator. `budget_default` replaces the defaults of `BUDGETS`."""
    budgets = [
        click.option(name, type=float, help=f"{text}  [default: {budget_default or default}]")
        for name, (text, default) in BUDGETS.items()
    ]
    return with_options((*OBJECTIVE, *budgets, *EVALUATION))(command)


def with_options(options: Sequence[Decorator]) -> Decorator:
    """Return a decorator that adds options to a command, in this order."""
    return lambda command: reduce(lambda given, option: option(given), reversed(options), command)


@dataclass(frozen=True)
class RunSettings:
    """The values of the shared options."""

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
    trust: bool | None
    live: bool
    live_host: str | None
    live_port: int | None
    out: Path | None
    plain: bool
    quiet: bool

    def __post_init__(self) -> None:
        if (self.target is None) == (self.command is None):
            raise click.UsageError("pass what to minimise: either MODULE:FUNCTION or --command")
        if self.command is None and (self.shell or self.scratch):
            raise click.UsageError("--shell and --scratch need --command")
        if self.command is not None and self.vectorized:
            raise click.UsageError("--vectorized needs a function; --command evaluates one point at a time")
        if self.engine == "processes" and self.address is not None:
            raise click.UsageError("--address needs --engine ray or dask")
        check_live(self.live, self.live_host, self.live_port)
        if self.live and self.no_log:
            raise click.UsageError("--live reads the log of the run; leave out --no-log")
        if self.log is not None and self.no_log:
            raise click.UsageError("--log and --no-log exclude each other")
        if self.workers is not None and (self.workers == 0 or not -1 <= self.workers <= MOST_WORKERS):
            limits = f"at least 1 and at most {MOST_WORKERS}, or -1 for one for each CPU"
            raise click.UsageError(f"--workers must be {limits}, got {self.workers}")

    @property
    def name(self) -> str:
        """The objective as it was typed: MODULE:FUNCTION or the command."""
        return self.target or self.command or ""

    @property
    def worker_count(self) -> int | None:
        """The number of evaluations at the same time; None is all workers of Ray or Dask."""
        if self.engine != "processes":
            return None if self.workers == -1 else self.workers
        return (os.cpu_count() or 1) if self.workers == -1 else self.workers or 1

    @property
    def budget(self) -> Budget:
        """The limits that were given."""
        return Budget.checked(self.max_evals, self.max_iter, self.ftarget, self.timeout)

    def advice(self, accepts: str) -> str:
        """Return what to look at if each evaluation fails; `accepts` is what a function must accept."""
        if self.command is not None:
            return "run the command by hand, with a point in the place of its placeholders"
        return f"check that {self.target} accepts {'a generation of shape (popsize, d)' if self.vectorized else accepts}"

    def objective(self) -> Callable[..., Any]:
        """Return the function, or the program as one; a program gets --eval-timeout itself, to end all its processes."""
        if self.command is not None:
            return Command(self.command, timeout=self.eval_timeout, shell=self.shell, scratch=self.scratch)
        return find_function(self.target or "")

    def check_command(self, names: Sequence[str] | None, d: int | None) -> None:
        """Raise a ValueError if a placeholder of --command stands for nothing in a point of these names, or of size d."""
        if self.command is None or (names is None and d is None):
            return
        Command(self.command, shell=self.shell).words([1.0] * (d or 0) if names is None else dict.fromkeys(names, 1.0))
        for found in set(PLACEHOLDER.findall(self.command)) - {"here", *(names or ())}:
            if names is not None and not COORDINATE.fullmatch(found) and difflib.get_close_matches(found, names):
                raise ValueError(
                    f"--command has {{{found}}}, which is no variable; {one_of(found, names, 'the variables are')}"
                )

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `thalweg.minimize` and `thalweg.resume` that follow from these settings."""
        given: dict[str, Any] = {name: getattr(self, name) for name in ("max_evals", "max_iter", "ftarget", "timeout")}
        if self.retries:
            given["retries"] = self.retries
        if self.eval_timeout is not None and self.command is None:
            given["eval_timeout"] = self.eval_timeout
        if self.log is not None or self.no_log:
            given["log"] = self.log or False
        if self.trust is not None:
            given["trust"] = self.trust
        return given | {name: True for name in ("vectorized", "asynchronous") if getattr(self, name)}


def check_live(live: bool, host: str | None, port: int | None) -> None:
    """Raise an error if a live page is described that is not asked for."""
    if not live and (host is not None or port is not None):
        raise click.UsageError("--live-host and --live-port need --live")


def resume_command(ctx: click.Context, checkpoint: Path) -> list[str]:
    """Return the words of the `thalweg resume` command that continues this run, with the options that both commands take."""
    words = ["thalweg", "resume", str(checkpoint)]
    if ctx.params["target"] is not None:
        words.append(ctx.params["target"])
    names = {field.name for field in fields(RunSettings)} - {"target", "max_evals", "max_iter", "ftarget", "timeout", "trust"}
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if parameter.name in names and value != parameter.get_default(ctx) and value is not None:
            words += [parameter.opts[0]] if value is True else [parameter.opts[0], str(value)]
    return words
