"""Kill processes of clusters that were started separately, and see what becomes of the runs that use them.

    python studies/benchmarks/clusters.py --repeats 3       # adds to results/clusters.json
    python studies/benchmarks/clusters.py --engine dask --repeats 1

A Dask scheduler with two workers, or a Ray head with a second node, is started as processes of their own. A run of `minimize`
gets its address. In the middle a worker (Dask), the second node (Ray), or the scheduler or head is killed. If the run goes on,
its result must be that of a serial run, to the last bit; if it ends by an error, that must be one line, and the same call with
a new cluster must go on from the checkpoint to the same result. The log has each evaluation once. Linux only.
"""

import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from kill_process import kill_process, members
from shared import Row, add_table, deliver, make_parser, markdown, provenance, read_rows, save_rows

import thalweg
from thalweg import read_log

MARK = "THALWEG_CLUSTER"
BIN = Path(sys.executable).parent
EVALUATIONS = 120


class Cluster:
    """Processes of a cluster on this machine."""

    def __init__(self, engine: str) -> None:
        self.mark, self.engine = uuid.uuid4().hex, engine
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}" if engine == "dask" else f"127.0.0.1:{port}"
        if engine == "dask":
            self.head = self.start("dask", "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
            worker = ["dask", "worker", self.address, "--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny"]
            self.nodes = [self.start(*worker) for _ in range(2)]
        else:
            common = ["--num-cpus", "1", "--object-store-memory", "100000000", "--disable-usage-stats", "--block"]
            self.head = self.start("ray", "start", "--head", "--port", str(port), "--include-dashboard", "false", *common)
            time.sleep(12)
            self.nodes = [self.start("ray", "start", "--address", self.address, *common)]
        time.sleep(6)

    def start(self, program: str, *arguments: str) -> tuple[subprocess.Popen[bytes], str]:
        """Start a program; return it with the mark of its own and its children's environment."""
        mark = f"{self.mark}-{len(members(self.mark, MARK))}-{uuid.uuid4().hex[:6]}"
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        return subprocess.Popen([str(BIN / program), *arguments], env=os.environ | {MARK: mark}, **quiet), mark

    def kill(self, what: str, choose: random.Random) -> None:
        """Kill the head, or one of the nodes, with all of its processes."""
        _, mark = self.head if what == "head" else choose.choice(self.nodes)
        for pid in members(mark, MARK):
            kill_process(pid)

    def close(self) -> None:
        """Kill all processes."""
        for pid in members(self.mark, MARK):
            kill_process(pid)
        for process, _ in (self.head, *self.nodes):
            process.wait()


def objective(x: np.ndarray) -> float:
    time.sleep(0.05)
    return float(x @ x + 2 * (2 - np.cos(5 * x).sum()))


def minimize(folder: Path, seed: int, workers: Any) -> Any:
    given: dict[str, Any] = {"method": "cma", "popsize": 6, "seed": seed, "max_evals": EVALUATIONS, "retries": 5}
    return thalweg.minimize(objective, [2.0, 1.0], 0.6, workers=workers, checkpoint=folder / "run.ckpt", **given)


def attempt(engine: str, folder: Path, seed: int, kill: str | None) -> tuple[str, Any]:
    """Run with a cluster, of which a part is killed in the middle; return what happened and the result."""
    make = thalweg.Dask if engine == "dask" else thalweg.Ray
    choose, cluster = random.Random(seed), Cluster(engine)
    timer = threading.Timer(choose.uniform(2.0, 4.0), lambda: kill and cluster.kill(kill, choose))
    try:
        timer.start()
        return "went on", minimize(folder, seed, make(address=cluster.address, workers=2))
    except Exception as error:
        if "\n" in str(error) or isinstance(error, AttributeError | KeyError | AssertionError):
            return f"fault: {type(error).__name__}: {str(error)[:300]}", None
        return f"ended: {type(error).__name__}: {str(error)[:300]}", None
    finally:
        timer.cancel()
        cluster.close()


def trial(engine: str, kill: str, seed: int) -> Row:
    """Kill a part of a cluster under a run; the run must end as a serial one, perhaps with a new cluster."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="thalweg-cluster-") as name:
        folder, serial = Path(name) / "run", Path(name) / "serial"
        folder.mkdir()
        serial.mkdir()
        what, result = attempt(engine, folder, seed, kill)
        if result is None:
            logged = len(read_log(folder / "run.ckpt.jsonl"))
            again, result = attempt(engine, folder, seed, None)
            what += f"; continued after {logged}: {again}"
        expected = minimize(serial, seed, 1)
        rows = [(row.run, row.generation, row.index) for row in read_log(folder / "run.ckpt.jsonl")]
        same = result is not None and result.x.tobytes() == expected.x.tobytes() and result.nfev == expected.nfev
        once = len(set(rows)) == len(rows) == EVALUATIONS
    return {
        "engine": engine,
        "kill": kill,
        "seed": seed,
        "right": same and once,
        "what": what,
        "s": round(time.monotonic() - began),
    }


def show(rows: list[Row]) -> str:
    """Return a table of what happened."""
    body: list[list[str]] = []
    for engine in ("dask", "ray"):
        for kill in ("node", "head"):
            mine = [row for row in rows if (row["engine"], row["kill"]) == (engine, kill)]
            went = sum(row["what"].startswith("went on") for row in mine)
            right = sum(row["right"] for row in mine)
            body.append([engine, kill, str(len(mine)), str(went), str(len(mine) - went), str(right)])
    return markdown(["cluster", "killed", "runs", "went on", "ended, and continued", "with the serial result"], body)


def main() -> None:
    parser = make_parser(__doc__, "clusters")
    parser.add_argument("--repeats", type=int, default=3, help="number of runs of each kind (default: 3)")
    parser.add_argument("--engine", choices=["dask", "ray"], help="this engine alone")
    add_table(parser)
    options = parser.parse_args()
    rows = read_rows(options.out) if options.out.exists() else []
    if options.table is not None:
        deliver(show(rows), options.table, "clusters")
        return
    for _ in range(options.repeats):
        for engine in [options.engine] if options.engine else ["dask", "ray"]:
            for kill in ("node", "head"):
                rows.append(trial(engine, kill, 1 + len(rows)))
                print(rows[-1], flush=True)
                save_rows(options.out, provenance("clusters"), rows)


if __name__ == "__main__":
    main()
