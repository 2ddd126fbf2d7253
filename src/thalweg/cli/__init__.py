"""The command `thalweg` (extra `cli`). This module imports neither click nor rich, so that it can report a missing one."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from thalweg._common.extras import command


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end the process: with status 0, or with another one and one sentence on stderr."""
    for name in ("click", "rich"):
        if find_spec(name) is None:
            sys.exit(f"The command line needs {name}, which is not installed: {command('cli')}")
    from thalweg.cli.app import app

    app.main(list(arguments) if arguments is not None else None, prog_name="thalweg")
