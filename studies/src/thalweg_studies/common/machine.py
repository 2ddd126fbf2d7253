"""The versions and the machine that results are computed with."""

import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import thalweg


def versions() -> dict[str, str]:
    """Return the versions of the packages that compute; others may give other digits."""
    return {name: metadata.version(name) for name in ("jax", "jaxlib", "numpy")} | {"thalweg": thalweg.__version__}


def machine() -> str:
    """Describe this machine for readers of a report."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
