"""All commands, and how they fail."""

import sys
from typing import Any

import click

import thalweg
from thalweg.cli.bench import bench
from thalweg.cli.demo import demo
from thalweg.cli.minimize import minimize
from thalweg.cli.reproduce import reproduce
from thalweg.cli.resume import resume
from thalweg.gnnes import GNNES
from thalweg.latents import LATENTS


class Commands(click.Group):
    """Commands whose expected failures are one sentence."""

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


def describe(name: str) -> str:
    """One line about a method: what the file that implements it says of itself."""
    strategy = thalweg.make_strategy(name)
    if isinstance(strategy, GNNES):
        inner = next((key for key, make in LATENTS.items() if type(strategy.latent) is make), type(strategy.latent).__name__)
        return f"GNN-ES: {inner} under a flow that bends its search distribution"
    text = sys.modules[type(strategy).__module__].__doc__ or name
    return text.partition("\n")[0].partition("; docs/")[0].rstrip(".").replace("`", "")


for command in (bench, demo, minimize, reproduce, resume):
    app.add_command(command)
