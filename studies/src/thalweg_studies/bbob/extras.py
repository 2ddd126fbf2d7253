"""What the extra `bench` brings, imported where it is used."""

import importlib
from typing import Any

PACKAGES = {"cocoex": "coco-experiment", "evosax.algorithms": "evosax", "cma.bbobbenchmarks": "cma"}
"""Distributions whose name is not that of the module."""


def require(module: str) -> Any:
    """A module of the extra, or one sentence about how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise missing(module) from error


def missing(module: str) -> ImportError:
    """What to say if it is not there."""
    package = PACKAGES.get(module, module)
    return ImportError(f'this benchmark needs {package}, which is not installed: run pip install "thalweg[bench]"')
