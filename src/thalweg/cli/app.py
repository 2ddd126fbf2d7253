"""All commands, and how they fail."""

import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

import thalweg
from thalweg.cli.demo import demo
from thalweg.cli.minimize import minimize
from thalweg.cli.resume import resume
from thalweg.strategies.gnnes import GNNES
from thalweg.strategies.latents import LATENTS

PLUGINS = "thalweg.commands"
"""The entry points by which other packages add commands."""
STUDIES = ("bench", "reproduce")
"""Commands of the package `thalweg-studies`, which may not be installed."""


class Commands(click.Group):
    """Commands of this package and of those that add some; expected failures are one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *entry_points(group=PLUGINS).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        for plugin in entry_points(group=PLUGINS, name=cmd_name):
            return load(plugin)
        if cmd_name in STUDIES:
            raise click.ClickException(
                f"`thalweg {cmd_name}` belongs to the package thalweg-studies, which is not installed: run pip install "
                "./studies in a clone of Thalweg's repository"
            )
        return None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (ImportError, OSError, ValueError) as error:  # a missing extra, an unwritable folder, a wrong value
            raise click.ClickException(" ".join(str(error).split())) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(thalweg.__version__, message="thalweg %(version)s")
def app() -> None:
    """Black-box minimisation with evolution strategies whose search distribution bends."""


@app.command()
def methods() -> None:
    """List the methods by name."""
    names = thalweg.method_names()
    for name in names:
        click.echo(f"{name:<{max(map(len, names))}}  {describe(name)}")


def load(plugin: EntryPoint) -> click.Command:
    """Import a command of another package."""
    command = plugin.load()
    if not isinstance(command, click.Command):
        raise click.ClickException(f"the entry point {plugin.value!r} of {PLUGINS} is no click command")
    return command


def describe(name: str) -> str:
    """One line about a method: what the file that implements it says of itself."""
    strategy = thalweg.make_strategy(name)
    if isinstance(strategy, GNNES):
        inner = next((key for key, make in LATENTS.items() if type(strategy.latent) is make), type(strategy.latent).__name__)
        return f"GNN-ES: {inner} under a flow that bends its search distribution"
    text = sys.modules[type(strategy).__module__].__doc__ or name
    return text.partition("\n")[0].partition("; docs/")[0].rstrip(".").replace("`", "")


for command in (demo, minimize, resume):
    app.add_command(command)
