"""Imports of optional dependencies, which the extras of the package install."""

import importlib
from typing import Any


def command(extra: str) -> str:
    """Return what to do for an extra that is missing, as the end of an error's sentence.

    >>> command("plots")
    'run pip install ".[plots]" in a clone of the Thalweg repository'
    """
    return f'run pip install ".[{extra}]" in a clone of the Thalweg repository'


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional dependency, or raise an ImportError that names the extra to install.

    Args:
        module: Name of the module, such as "pyarrow.parquet".
        extra: Extra of this package that installs it, such as "parquet".
        purpose: Subject of the error message: what needs the module, in the singular.

    >>> require("no_such_module", extra="plots", purpose="a figure")
    Traceback (most recent call last):
    ModuleNotFoundError: a figure needs no_such_module, which is not installed: run pip install ".[plots]" in a clone of the ...
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        package = (error.name if missing and error.name else module).partition(".")[0]
        state = "is not installed" if missing else f"cannot be imported ({error})"
        message = f"{purpose} needs {package}, which {state}: {command(extra)}"
        raise (ModuleNotFoundError if missing else ImportError)(message, name=package) from error
