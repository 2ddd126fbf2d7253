"""The process that `kill.py` kills: one attempt of a run of `minimize`, whose objective keeps a record of its calls.

    python studies/benchmarks/kill_child.py '{"folder": "/tmp/run", "attempt": 1, "seed": 1, ...}'
    python studies/benchmarks/kill_child.py --serve

With --serve it imports the library once and makes each attempt in a fork, which saves most of an attempt's time. It reads
lines of JSON: `{"start": {...}, "environment": {...}}` is answered by the process id, `{"wait": id}` by the exit code.
"""

import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import thalweg

LINE = 64
"""Bytes of a line in the record: a divisor of a memory page, so that no kill leaves part of a line."""


RECORD, ATTEMPT = "THALWEG_KILL_RECORD", "THALWEG_KILL_ATTEMPT"
"""Environment variables: as arguments they would make another objective of each attempt."""


def objective(point: Any, seconds: float, problem: str) -> Any:
    """Return the value of a function with many minima and regions of NaN and infinity; record begin and end of the call."""
    x = np.array(list(point.values()) if isinstance(point, Mapping) else point, float) + 0.0  # a whole number has no -0

    def note(kind: str) -> None:
        handle = os.open(os.environ[RECORD], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        line = f"{kind} {os.environ[ATTEMPT]:0>6} {x.tobytes().hex()} {time.monotonic_ns()}"
        os.write(handle, line.ljust(LINE - 1).encode() + b"\n")
        os.close(handle)

    note("begin")
    time.sleep(seconds)
    z = x - [0.5, 0.0] if problem == "space" else x  # no minimum lies on a bound of the rate, where points would be equal
    value = float(z @ z + 2 * (2 - np.cos(5 * z).sum()))
    note("end")
    value = float("nan") if x[0] > 2.9 else float("inf") if x[1] < -1.0 else value
    return (value, [0.3 - x[0]]) if problem == "constraints" else value


def problem_of(name: str) -> dict[str, Any]:
    """Return the arguments of `minimize` that describe a problem in two variables."""
    if name == "space":
        return {"x0": thalweg.Space(rate=thalweg.Real(0.01, 8.0, log=True), number=thalweg.Integer(-3, 5))}
    start = {"x0": [2.0, 1.0], "sigma0": 0.6}
    return start | {"bounds": [(0.5, 4.0), (None, 2.0)]} if name == "bounds" else start


def child(settings: dict[str, Any]) -> None:
    """Start the run, or continue it from its checkpoint, and write its result."""
    folder, again = settings["folder"], {"none": {}, "restarts": {"restarts": 3}, "bipop": {"restarts": 2, "bipop": True}}
    os.environ |= {RECORD: os.path.join(folder, "record"), ATTEMPT: str(settings["attempt"])}
    result = thalweg.minimize(
        objective,
        **problem_of(settings["problem"]),
        **again[settings["restarts"]],
        method=settings["method"],
        model="quadratic" if settings["model"] else None,
        popsize=6,
        options={"tolfun": 1e-3} if settings["restarts"] != "none" else {"tolfun": 0, "tolfunhist": 0},
        args=(settings["seconds"], settings["problem"]),
        seed=settings["seed"],
        max_evals=settings["evaluations"],
        workers=settings["workers"],
        asynchronous=settings["asynchronous"],
        retries=9,  # so that killing a worker does not change the result
        checkpoint=os.path.join(folder, "run.ckpt"),
        log=os.path.join(folder, f"run.{settings['log']}"),
    )
    numbers = {name: np.asarray(result[name], float).tobytes().hex() for name in ("x", "fun", "mean", "std", "sigma")}
    counts = {name: result[name] for name in ("nfev", "nit", "failures", "restarts", "message", "success")}
    Path(folder, "result").write_text(json.dumps(numbers | counts))


def serve() -> None:
    """Make attempts in forks, as told on the standard input, until it ends."""
    warnings.filterwarnings("ignore", message="os.fork")  # JAX is imported, but has started no thread yet
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            answer = os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1])
        elif (answer := os.fork()) == 0:
            code = 1
            try:
                os.environ.update(asked["environment"])
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(2, 1)
                child(asked["start"])
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        print(answer, flush=True)


if __name__ == "__main__":
    serve() if sys.argv[1] == "--serve" else child(json.loads(sys.argv[1]))
