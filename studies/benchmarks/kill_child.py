"""The process that `kill.py` kills: one attempt of a run of `minimize`, whose objective keeps a record of its calls.

python studies/benchmarks/kill_child.py '{"folder": "/tmp/run", "attempt": 1, "seed": 1, ...}'
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import thalweg

LINE = 64
"""Bytes of a line in the record: a divisor of a memory page, so that no kill leaves part of a line."""


def objective(x: np.ndarray, folder: str, attempt: int, seconds: float) -> float:
    """Return the value of a function with many minima and regions of NaN and infinity; record begin and end of the call."""

    def note(kind: str) -> None:
        handle = os.open(os.path.join(folder, "record"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(handle, f"{kind} {attempt:06} {x.tobytes().hex()} {time.monotonic_ns()}".ljust(LINE - 1).encode() + b"\n")
        os.close(handle)

    note("begin")
    time.sleep(seconds)
    value = float(x @ x + 2 * (2 - np.cos(5 * x).sum()))
    note("end")
    return float("nan") if x[0] > 2.9 else float("inf") if x[1] < -1.0 else value


def child(
    folder: str, attempt: int, seed: int, workers: int, log: str, evaluations: int, seconds: float, asynchronous: bool
) -> None:
    """Start the run, or continue it from its checkpoint, and write its result."""
    small: dict[str, Any] = {"method": "cma", "popsize": 6, "restarts": 3, "options": {"tolfun": 1e-3}}
    result = thalweg.minimize(
        objective,
        [2.0, 1.0],
        0.6,
        args=(folder, attempt, seconds),
        seed=seed,
        max_evals=evaluations,
        workers=workers,
        asynchronous=asynchronous,
        retries=9,  # so that killing a worker does not change the result
        checkpoint=os.path.join(folder, "run.ckpt"),
        log=os.path.join(folder, f"run.{log}"),
        **small,
    )
    numbers = {name: np.asarray(result[name], float).tobytes().hex() for name in ("x", "fun", "mean", "std", "sigma")}
    counts = {name: result[name] for name in ("nfev", "nit", "failures", "restarts", "message", "success")}
    Path(folder, "result").write_text(json.dumps(numbers | counts))


if __name__ == "__main__":
    child(**json.loads(sys.argv[1]))
