"""The command `thalweg` with its subcommands, and the way in which they report errors.

Modules of subcommands import rich inside functions, because `thalweg --help` imports all of them.
"""

import re
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

import thalweg
from thalweg._common import starting
from thalweg.cli.demo import demo
from thalweg.cli.minimize import minimize, resume
from thalweg.cli.show import show
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents import LATENTS

PLUGINS = "thalweg.commands"
"""The group of entry points through which other packages add commands."""
INTERRUPTED = 130
"""Exit status after Ctrl-C, as that of other programs."""
STUDIES = ("bench", "reproduce")
"""Commands of the package `thalweg-studies`, which may not be installed."""


class Mistake(click.ClickException):
    """A mistake in what was typed, or in a file that it names."""

    exit_code = 2


class Commands(click.Group):
    """The commands of this package and those of other packages; an expected error is printed as one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *entry_points(group=PLUGINS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        for plugin in entry_points(group=PLUGINS, name=cmd_name):
            return load(plugin)
        if cmd_name in STUDIES:
            reason = "is part of the package thalweg-studies, which is not installed: run pip install ./studies in a clone of "
            return unavailable(cmd_name, reason + "the Thalweg repository")
        return None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            starting.finish()
            return super().invoke(ctx)
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            hint = "put quotes around a value that has spaces, and commas between numbers"
            raise click.UsageError(f"{error.message.rstrip('.')}; {hint}", error.ctx) from error
        except ValueError as error:
            raise Mistake(as_options(" ".join(str(error).split()))) from error
        except MemoryError as error:
            raise Mistake("there is not enough memory; lower --dimension or --popsize") from error
        except (ImportError, OSError) as error:  # a missing extra, a disk that is full
            raise click.ClickException(" ".join(str(error).split())) from error
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(thalweg.__version__, message="thalweg %(version)s")
def app() -> None:
    """Minimise black-box functions with evolution strategies whose search distribution bends."""


@app.command()
def methods() -> None:
    """List the methods that --method accepts, with one line on each."""
    names = thalweg.method_names()
    for name in names:
        click.echo(f"{name:<{max(map(len, names))}}  {describe(name)}")


def as_options(sentence: str) -> str:
    """Return an error with options in the place of Python's arguments.

    >>> as_options("vectorized=True passes whole generations; leave workers=2 and max_evals out")
    '--vectorized passes whole generations; leave --workers 2 and --max-evals out'
    """
    sentence = re.sub(r"\b(vectorized|asynchronous|bipop)=True\b", r"--\1", sentence)
    sentence = re.sub(r"(?<!-)\b(workers|restarts|popsize)=(\w+)", r"--\1 \2", sentence)
    sentence = re.sub(r"^(bounds|integers|x0|sigma0|scale|ftarget|timeout|known)(?= (must|of)\b)", r"--\1", sentence)
    return re.sub(
        r"(?<![-\w'])(max_evals|max_iter|eval_timeout)\b(?!=)", lambda name: f"--{name[0].replace('_', '-')}", sentence
    )


def load(plugin: EntryPoint) -> click.Command:
    """Import a command of another package; one that cannot be imported fails only when it is run."""
    try:
        command = plugin.load()
    except Exception as error:  # whatever the other package may do
        return unavailable(plugin.name, f"cannot be imported from {plugin.value}: {type(error).__name__}: {error}")
    if isinstance(command, click.Command):
        return command
    return unavailable(plugin.name, f"is broken: the entry point {plugin.value} is not a click command")


def unavailable(name: str, reason: str) -> click.Command:
    """Return a command that takes any arguments and fails with this reason."""

    def fail() -> None:
        raise click.ClickException(f"`thalweg {name}` {' '.join(reason.split())}")

    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    short_help = "(not available; run it to see why)"
    return click.Command(name, callback=fail, short_help=short_help, add_help_option=False, context_settings=anything)


def describe(name: str) -> str:
    """Return one line about a method: the first line of the module that implements it."""
    strategy = thalweg.make_strategy(name)
    if isinstance(strategy, GNNES):
        inner = next((key for key, make in LATENTS.items() if type(strategy.latent) is make), type(strategy.latent).__name__)
        return f"GNN-ES: {inner} under a flow that bends its search distribution"
    text = sys.modules[type(strategy).__module__].__doc__ or name
    return text.partition("\n")[0].partition("; docs/")[0].rstrip(".").replace("`", "")


for command in (demo, minimize, resume, show):
    app.add_command(command)
