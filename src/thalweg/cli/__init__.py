"""The command line, `thalweg` (extra `cli`). Neither click nor rich is imported here, so that it can say if one is missing."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command; ends the process with 0, or with another number and one sentence on stderr."""
    try:
        from thalweg.cli.app import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("click", "rich"):
            raise
        sys.exit(f'The command line needs {error.name}, which is not installed: run pip install "thalweg[cli]"')
    app.main(list(arguments) if arguments is not None else None, prog_name="thalweg")
