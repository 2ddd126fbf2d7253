"""Kill processes of clusters that were started separately, and see what becomes of the runs that use them.

    python studies/benchmarks/clusters.py --repeats 3       # adds to results/clusters.json
    python studies/benchmarks/clusters.py --engine dask --repeats 1

A Dask scheduler with two workers, or a Ray head with a second node, is started as processes of their own. A run of `minimize`,
in another process, gets its address. In the middle a worker (Dask), the second node (Ray), or the scheduler or head is killed
with all its processes by SIGKILL. If the run goes on, its result must be that of a serial run, to the last bit; if it ends,
it must say why in one line, and the same call with a new cluster must go on from the checkpoint to the same result. The log has
each evaluation once. Linux only.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
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
LIMIT = 180.0
"""Seconds that a run may take."""
SECONDS = "THALWEG_CLUSTER_SECONDS"
"""Environment variable with the time of an evaluation."""
ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",  # all processes have one token: an explicit address looks for none in the home folder
    "RAY_AUTH_TOKEN": uuid.uuid4().hex * 2,
    "RAY_gcs_rpc_server_reconnect_timeout_s": "10",  # seconds after which Ray gives up a head that is gone (60)
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",  # the same for Dask (30)
    SECONDS: "0.05",
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
}


class Cluster:
    """Processes of a cluster on this machine."""

    def __init__(self, engine: str) -> None:
        self.mark, self.engine = uuid.uuid4().hex, engine
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}" if engine == "dask" else f"127.0.0.1:{port}"
        self.programs: list[tuple[subprocess.Popen[bytes], str]] = []
        if engine == "dask":
            self.start("dask", "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
            for _ in range(2):
                self.start("dask", "worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        else:
            common = ["--num-cpus", "1", "--object-store-memory", "100000000", "--disable-usage-stats", "--block"]
            self.start("ray", "start", "--head", "--port", str(port), "--include-dashboard", "false", *common)
            self.wait_for(port)
            self.start("ray", "start", "--address", self.address, *common)

    def wait_for(self, port: int) -> None:
        """Wait until the head listens."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.2)
        raise TimeoutError(f"nothing listens at port {port}")

    def start(self, program: str, *arguments: str) -> None:
        """Start a program with a mark in the environment, which its children inherit."""
        mark = f"{self.mark}-{len(self.programs)}-"
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        started = subprocess.Popen([str(BIN / program), *arguments], env=os.environ | ENVIRONMENT | {MARK: mark}, **quiet)
        self.programs.append((started, mark))

    def kill(self, what: str, choose: random.Random) -> None:
        """Kill the head, or one of the nodes, with all of its processes."""
        _, mark = self.programs[0] if what == "head" else choose.choice(self.programs[1:])
        for pid in family(members(mark, MARK)):
            kill_process(pid)

    def close(self) -> None:
        """Kill all processes."""
        while found := family(members(self.mark, MARK)):  # one that is killed may just have started another one
            for pid in found:
                kill_process(pid)
            time.sleep(0.05)
        for process, _ in self.programs:
            process.wait()


def family(pids: list[int]) -> list[int]:
    """Return processes with all of their descendants; some of Ray's overwrite their environment by a title."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    found = list(pids)
    for pid in found:  # grows
        found += [each for each, parent in parents.items() if parent == pid and each not in found]
    return found


def objective(x: np.ndarray) -> float:
    time.sleep(float(os.environ[SECONDS]))
    return float(x @ x + 2 * (2 - np.cos(5 * x).sum()))


def wait_for_nodes(engine: str, address: str) -> None:
    """Wait until both workers or nodes have joined the cluster."""
    if engine == "dask":
        import distributed

        with distributed.Client(address) as client:
            client.wait_for_workers(2, timeout=60)
    else:
        import ray

        ray.init(address=address, logging_level="error")
        while ray.cluster_resources().get("CPU", 0) < 2:
            time.sleep(0.2)
        ray.shutdown()


def child(engine: str, address: str, folder: str, seed: int) -> None:
    """Make a run and write its result; or print why it ends, in one line, and exit with 3."""
    workers: Any = 1
    if engine != "serial":
        wait_for_nodes(engine, address)
        workers = (thalweg.Dask if engine == "dask" else thalweg.Ray)(address=address, workers=2)
    given: dict[str, Any] = {"method": "cma", "popsize": 6, "seed": seed, "max_evals": EVALUATIONS, "retries": 5}
    try:
        result = thalweg.minimize(objective, [2.0, 1.0], 0.6, workers=workers, checkpoint=f"{folder}/run.ckpt", **given)
    except Exception as error:
        Path(folder, "ended").write_text(f"{type(error).__name__}: {error}")
        raise SystemExit(3) from None
    Path(folder, "result").write_text(json.dumps([result.x.tobytes().hex(), result.nfev, result.nit]))


def logged(folder: Path) -> list[tuple[int, int, int]]:
    """Return run, generation and index of the evaluations in the log."""
    path = folder / "run.ckpt.jsonl"
    return [(row.run, row.generation, row.index) for row in read_log(path)] if path.exists() else []


def attempt(engine: str, folder: Path, seed: int, kill: str | None) -> str:
    """Run with a cluster, of which a part is killed in the middle; return what happened."""
    choose, cluster = random.Random(seed), None if engine == "serial" else Cluster(engine)
    given = [engine, "" if cluster is None else cluster.address, str(folder), str(seed)]
    environment = os.environ | ENVIRONMENT | ({SECONDS: "0"} if engine == "serial" else {})
    words = folder / "words"
    for name in ("result", "ended"):
        (folder / name).unlink(missing_ok=True)
    with words.open("wb") as stderr:
        run = subprocess.Popen([sys.executable, __file__, "--child", *given], env=environment, stderr=stderr, stdout=stderr)
    try:
        end, moment = time.monotonic() + LIMIT, choose.randrange(20, 90)
        while run.poll() is None and time.monotonic() < end:
            if kill is not None and cluster is not None and len(logged(folder)) >= moment:
                cluster.kill(kill, choose)
                kill = None
            time.sleep(0.1)
        if run.poll() is None:
            return f"fault: takes longer than {LIMIT:.0f} s after {len(logged(folder))} evaluations"
        if kill is not None and run.returncode == 0 and cluster is not None:
            return "fault: ended before the kill"
        if run.returncode == 0:
            return "went on"
        if run.returncode == 3:
            error = (folder / "ended").read_text()
            return f"fault: {error[:300]}" if "\n" in error else f"ended: {error[:300]}"
        last = words.read_text(errors="replace").strip().splitlines()[-3:]
        return f"ended by {engine} with {run.returncode}: {' '.join(last)[-300:]}"
    finally:
        run.kill()
        run.wait()
        if cluster is not None:
            cluster.close()


def trial(engine: str, kill: str, seed: int) -> Row:
    """Kill a part of a cluster under a run; the run must end as a serial one, perhaps with a new cluster."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="thalweg-cluster-") as name:
        folder, serial = Path(name) / "run", Path(name) / "serial"
        folder.mkdir()
        serial.mkdir()
        what = attempt(engine, folder, seed, kill)
        if what != "went on":
            before = len(logged(folder))
            what += f"; continued after {before}: {attempt(engine, folder, seed, None)}"
        attempt("serial", serial, seed, None)
        expected, found = serial / "result", folder / "result"
        same = found.exists() and expected.exists() and found.read_text() == expected.read_text()
        rows = logged(folder)
        once = len(set(rows)) == len(rows) == EVALUATIONS
    row = {"engine": engine, "kill": kill, "seed": seed, "right": same and once and "fault" not in what, "what": what}
    return row | {"s": round(time.monotonic() - began)}


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
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    add_table(parser)
    options = parser.parse_args()
    if options.child:
        engine, address, folder, seed = options.child
        child(engine, address, folder, int(seed))
        return
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
