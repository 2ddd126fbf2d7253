"""What is left of a run: a summary on stdout, and a file."""

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.search.progress import clock
from thalweg.storage.atomic import write_text

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


def summary(result: "OptimizeResult", seconds: float) -> str:
    """Lines to read; x as `--x0` takes it."""
    took = f"{seconds:.1f} s" if seconds < 60 else clock(seconds)
    rows = {
        "f": repr(float(result.fun)),
        "x": ",".join(repr(value) for value in result.x.tolist()),
        "evaluations": f"{result.nfev} in {result.nit} generation{'s' * (result.nit != 1)}, {took}",
    }
    if result.restarts:
        rows["restarts"] = str(result.restarts)
    if result.failures:
        rows["failures"] = f"{result.failures}, the first: " + " ".join((result.first_failure or "").split())
    rows["seed"] = str(result.seed)
    return "\n".join([result.message, *(f"{name:<11}  {text}" for name, text in rows.items())])


def write_result(path: Path, result: "OptimizeResult", seconds: float) -> None:
    """All that a result holds, and the time it took, as JSON; what JSON has no number for is text: "inf", "-inf", "nan"."""
    fields = {name: value for name, value in result.items() if name != "method" or isinstance(value, str)}
    write_text(path, json.dumps(plain({**fields, "seconds": seconds}), indent=1, allow_nan=False) + "\n")


def check_writable(path: Path) -> None:
    """Complain before the work, not after it, about a result that could not be written."""
    if path.is_dir():
        raise ValueError(f"--out {str(path)!r} is a folder; name a file")
    path.parent.mkdir(parents=True, exist_ok=True)


def plain(value: Any) -> Any:
    """Only what JSON knows.

    >>> plain({"x": np.array([1.0, np.inf]), "nit": np.int64(3), "stop": {"tolx": 1e-11}})
    {'x': [1.0, 'inf'], 'nit': 3, 'stop': {'tolx': 1e-11}}
    """
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        return plain(np.asarray(value).tolist())
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
