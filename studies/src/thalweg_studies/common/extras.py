"""Optional packages of the studies, imported where they are used."""

import importlib
from typing import Any

BBOB = "./studies[bbob]"
"""The requirement that installs the packages of the BBOB study, from the root of the repository."""

PACKAGES = {"cocoex": "coco-experiment", "evosax.algorithms": "evosax", "cma.bbobbenchmarks": "cma"}
"""Names of distributions that differ from the name of the module."""


def require(module: str, requirement: str = BBOB) -> Any:
    """Import a module that belongs to an extra.

    Raises:
        ImportError: The module is missing; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise missing(module, requirement) from error


def missing(module: str, requirement: str = BBOB) -> ImportError:
    """Return the error for a missing module."""
    package = PACKAGES.get(module, module)
    place = "in a clone of the Thalweg repository"
    return ImportError(f'this study needs {package}, which is not installed: run pip install "{requirement}" {place}')
