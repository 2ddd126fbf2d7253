"""Output of a result: a summary as text, and all of it as a JSON file."""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Generator
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from thalweg.search.progress import clock
from thalweg.storage.atomic import write_text

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

STDOUT = Path("-")
"""The name that --out has for stdout."""


def summary(result: "OptimizeResult", seconds: float) -> str:
    """Return the summary that is printed at the end of a run, with the point by name, or with x as `--x0` accepts it."""
    took = f"{seconds:.1f} s" if seconds < 60 else clock(seconds)
    by_name = "point" in result
    before = result.get("nfev_before", 0)
    earlier = f", {'all' if before == result.nfev else before} of them in earlier calls" if before else ""
    rows = {
        "f": repr(float(result.fun)),
        "point" if by_name else "x": ", ".join(f"{name}={value!r}" for name, value in result.point.items())
        if by_name
        else ",".join(repr(value) for value in result.x.tolist()),
        **({"feasible": "yes" if result.feasible else f"no, violation {result.violation:g}"} if "feasible" in result else {}),
        "evaluations": f"{result.nfev} in {result.nit} generation{'s' * (result.nit != 1)}, {took}{earlier}",
    }
    if result.restarts:
        rows["restarts"] = str(result.restarts)
    if result.failures:
        rows["failures"] = f"{result.failures}, the first: " + " ".join((result.first_failure or "").split())
    rows["seed"] = str(result.seed)
    return "\n".join([result.message, *(f"{name:<11}  {text}" for name, text in rows.items())])


def write_result(path: Path, result: "OptimizeResult", seconds: float) -> None:
    """Write all fields of a result and the time it took as JSON, without its history, which logs and checkpoints hold."""
    fields = {name: value for name, value in result.items() if name not in ("space", "history")}
    if not isinstance(result.method, str):
        del fields["method"]
    text = json.dumps(as_json({**fields, "seconds": seconds}), indent=1, allow_nan=False) + "\n"
    if path == STDOUT:
        sys.stdout.write(text)
    else:
        write_text(path, text)


def check_writable(path: Path) -> None:
    """Raise an error before the run if its result could not be written to this path; create the missing folders."""
    if path.is_dir():
        raise ValueError(f"--out must name a file, but {str(path)!r} is a folder")
    if path.parent == Path("/dev") or (path.exists() and not path.is_file()):
        raise ValueError(f"--out must name a file, but {str(path)!r} is none; pass - for stdout")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(f"--out {str(path)!r} cannot be written: {error.strerror or error}; pass another name") from None


@contextlib.contextmanager
def stdout_kept(wanted: bool) -> Generator[None, None, None]:
    """Send to stderr what an objective prints here and in processes that start meanwhile, to keep stdout for the result."""
    if not wanted:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def as_json(value: Any) -> Any:
    """Convert a value to types that JSON has; numbers that JSON lacks become the texts "inf", "-inf" and "nan".

    >>> as_json({"x": np.array([1.0, np.inf]), "nit": np.int64(3), "stop": {"tolx": 1e-11}})
    {'x': [1.0, 'inf'], 'nit': 3, 'stop': {'tolx': 1e-11}}
    """
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array__"):
        return as_json(np.asarray(value).tolist())
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
