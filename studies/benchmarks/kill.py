"""Kill runs at random moments, again and again until they end, and check that nothing is lost.

    python studies/benchmarks/kill.py --kills 10000 --jobs 2     # goes on where results/kill.json ends
    python studies/benchmarks/kill.py --minutes 60 --jobs 2
    python studies/benchmarks/kill.py --run 4711                 # the run with this seed alone; its folder stays
    python studies/benchmarks/kill.py --table docs/reliability.md

A run of `minimize` with a checkpoint and a log is a process of its own; its settings (workers, asynchronous or not, restarts,
bounds, space, constraints, model, method, log) are drawn by its seed. SIGKILL is sent at a random moment to the run, to the run
and its workers, or to one worker; a killed run is started again, one time in ten as a new Python process and else as a fork of
one that has imported the library. The objective keeps a record of the begin and the end of each of its calls. After every kill:

- the checkpoint can be read, is no older than before, counts no evaluation that is missing in the log, and has no worse best;
- the log can be read by `read_log` and by pandas, holds what it held before, and each evaluation once;
- the log has all evaluations that had ended, except those that were on their way from the objective to the log: at most one for
  each worker, killed ones included. `cut_off` counts them; `longest_cut_off_ms` is the longest time that one was on its way;
- no evaluation in the log was evaluated again;
- no worker outlives the run.

In the end the result is the best of the log, no lock is left, and result and log are those of an undisturbed run with the same
seed, to the last bit. No two asynchronous runs are alike; these are repeated from their log and an early checkpoint, and give
the same bits without a single evaluation. Linux only. This takes about a second a kill.
"""

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kill_process import Nursery
from kill_run import LostError, Run, Tally, bits
from shared import add_table, deliver, make_parser, markdown, provenance, write_json

from thalweg.storage.log import read_log

MOST = 25
"""Largest number of kills of a run."""


def settings_of(seed: int, evaluations: int, seconds: float) -> dict[str, Any]:
    """Return the settings of a run."""
    choose = random.Random(f"settings {seed}")
    problem = choose.choice(["plain", "bounds", "space", "constraints"])
    return {
        "seed": seed,
        "workers": choose.choice([1, 1, 2, 3]),
        "log": choose.choice(["jsonl", "parquet"]),
        "asynchronous": choose.random() < 0.3,
        "problem": problem,
        "restarts": choose.choice(["none", "restarts", "bipop"]),
        "model": problem != "constraints" and choose.random() < 0.3,
        "method": choose.choice(["cma", "cma", "gnn-cma"]),
        "evaluations": evaluations,
        "seconds": seconds,
    }


def options_of(settings: dict[str, Any]) -> list[str]:
    """Return the names of the options by which kills are counted."""
    return [
        "serial" if settings["workers"] == 1 else f"{settings['workers']} processes",
        "asynchronous" if settings["asynchronous"] else "synchronous",
        {"plain": "no bounds"}.get(settings["problem"], settings["problem"]),
        {"none": "one run"}.get(settings["restarts"], settings["restarts"]),
        "with a model" if settings["model"] else "without a model",
        settings["method"],
        f"log: {settings['log']}",
    ]


def result_and_log(run: Run) -> tuple[str, list[tuple[Any, ...]]]:
    """Return the result of a finished run and its sorted log."""
    if run.process.returncode != 0:
        raise LostError(f"a run ended with exit code {run.process.returncode}")
    return (run.folder / "result").read_text(), sorted(bits(row) for row in read_log(run.folder / f"run.{run.settings['log']}"))


def undisturbed_run(folder: Path, run: Run) -> Run:
    """Run the same settings without a kill; with a model the number of workers says how many points are chosen at once."""
    workers = run.settings["workers"] if run.settings["model"] else 1
    other = Run(folder, {**run.settings, "workers": workers, "log": "jsonl"}, Tally(), run.nursery)
    other.start(afresh=False)
    other.process.wait()
    return other


def replayed_run(folder: Path, run: Run) -> Run:
    """Repeat a run from its log and an early checkpoint, which leaves nothing to evaluate."""
    log = f"run.{run.settings['log']}"
    shutil.copy(run.folder / "early.ckpt", folder / "run.ckpt")
    (shutil.copytree if (run.folder / log).is_dir() else shutil.copy)(run.folder / log, folder / log)
    again = Run(folder, run.settings, Tally(), run.nursery)
    again.start(afresh=False)
    again.process.wait()
    if again.recorded():
        raise LostError("a run that is all in the log was evaluated again")
    return again


def kill_one_run(settings: dict[str, Any], folder: Path, nursery: Nursery | None = None, most: int = MOST) -> Tally:
    """Kill a run until it ends by itself, compare it with one that was not killed, and return the counts."""
    choose, began = random.Random(settings["seed"]), time.monotonic()
    killed, other = folder / "killed", folder / "other"
    killed.mkdir()
    other.mkdir()
    run = Run(killed, settings, Tally(), nursery)
    kill_until_finished(run, most, choose)
    reference = replayed_run(other, run) if settings["asynchronous"] else undisturbed_run(other, run)
    if result_and_log(run) != result_and_log(reference):
        raise LostError("the result differs from that of a run that was not killed")
    begun = Counter(x for kind, _, x, _ in run.recorded() if kind == "begin")
    run.tally.begun_again += sum(begun.values()) - len(begun)
    run.tally.runs += 1
    run.tally.evaluations += len(run.rows)
    run.tally.seconds = round(time.monotonic() - began, 1)
    return run.tally


def kill_until_finished(run: Run, most: int, choose: random.Random) -> None:
    """Kill a run and start it again until it ends by itself."""
    tally = run.tally
    run.start()
    while True:
        if tally.kills + tally.worker_kills >= most:
            run.process.wait()
        # most kills come during the search, some during the start
        working = choose.random() < 0.8
        if not run.wait(choose.expovariate(8.0) if working else choose.uniform(0.0, 1.0), working=working):
            run.inspect_end()
            return
        # a run ends once three workers in a row died before they were ready, by design
        if run.settings["workers"] > 1 and choose.random() < 0.3 and run.worker_kills < 2:
            run.kill_worker(choose)
            continue
        run.kill(workers_too=choose.random() < 0.5)
        run.inspect()
        run.start(afresh=choose.random() < 0.1)


_nursery: list[Nursery] = []


def job(seed: int, evaluations: int, seconds: float) -> tuple[Tally | str, dict[str, Any]]:
    """Kill the run with this seed; return the counts, or what was lost and where to look, and its settings."""
    if not _nursery:
        _nursery.append(Nursery())
    settings = settings_of(seed, evaluations, seconds)
    folder = Path(tempfile.mkdtemp(prefix=f"thalweg-kill-{seed}-"))
    try:
        tally = kill_one_run(settings, folder, _nursery[0])
    except Exception as error:  # the campaign goes on, and the folder stays
        return f"{type(error).__name__}: {error} (in {folder})", settings
    shutil.rmtree(folder)
    return tally, settings


class Total:
    """Counts of all runs so far, as in the result file."""

    def __init__(self, path: Path) -> None:
        saved = json.loads(path.read_text()) if path.exists() else {}
        self.path, self.tally = path, Tally(**saved.get("counts", {}))
        self.by: Counter[str] = Counter(saved.get("kills", {}))
        self.faults: list[dict[str, Any]] = saved.get("faults", [])
        self.next_seed: int = saved.get("next_seed", 1)

    @property
    def kills(self) -> int:
        """Number of kills, of runs and of workers."""
        return self.tally.kills + self.tally.worker_kills

    def add(self, found: Tally | str, settings: dict[str, Any]) -> None:
        """Count a run and write the file."""
        if isinstance(found, str):
            self.faults.append({"what": found, **settings})
        else:
            self.tally.add(found)
            self.tally.seconds = round(self.tally.seconds, 1)
            for option in options_of(settings):
                self.by[option] += found.kills + found.worker_kills
        counted = {"counts": asdict(self.tally), "kills": dict(sorted(self.by.items())), "faults": self.faults}
        write_json(self.path, {"meta": provenance("kill"), "next_seed": self.next_seed, **counted})


def campaign(total: Total, kills: int, jobs: int, minutes: float, work: Callable[..., Any]) -> None:
    """Kill runs in so many processes until there were so many kills, or time is up; then let the last runs end."""
    end, running = time.monotonic() + 60 * minutes, set[Future[Any]]()
    with ProcessPoolExecutor(jobs, get_context("spawn"), max_tasks_per_child=50) as pool:
        while True:
            while len(running) < jobs and total.kills < kills and time.monotonic() < end:
                running.add(pool.submit(work, total.next_seed))
                total.next_seed += 1
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for each in done:
                total.add(*each.result())
            faults = total.faults[-1]["what"] if total.faults else ""
            print(f"{total.kills} kills, {total.tally.runs} runs, {len(total.faults)} faults {faults}", flush=True)


class Work:
    """The function of a seed that a process of the campaign calls."""

    def __init__(self, evaluations: int, seconds: float) -> None:
        self.given = evaluations, seconds

    def __call__(self, seed: int) -> tuple[Tally | str, dict[str, Any]]:
        return job(seed, *self.given)


def show(path: Path) -> str:
    """Return a table of the counts."""
    total = Total(path)
    counts = asdict(total.tally)
    head = [
        f"{total.kills:,} kills ({counts['kills']:,} of runs, {counts['worker_kills']:,} of workers)",
        f"{counts['runs']:,} runs",
    ]
    head += [f"{counts['evaluations']:,} evaluations", f"{len(total.faults)} faults"]
    rows = [[name, f"{number:,}"] for name, number in total.by.items()]
    return ", ".join(head) + ".\n\n" + markdown(["option", "kills"], rows)


def main() -> None:
    parser = make_parser(__doc__, "kill")
    parser.add_argument(
        "--kills", type=int, default=10_000, help="number of kills in all, of runs and workers (default: 10000)"
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no run after so many minutes")
    parser.add_argument("--jobs", type=int, default=1, help="number of runs at a time (default: 1)")
    parser.add_argument("--evaluations", type=int, default=400, help="evaluations of a run (default: 400)")
    parser.add_argument("--seconds", type=float, default=0.001, help="time of an evaluation (default: 0.001)")
    parser.add_argument("--seed", type=int, help="seed of the first run (default: where --out ends, or 1)")
    parser.add_argument("--run", type=int, metavar="SEED", help=argparse.SUPPRESS)
    add_table(parser)
    options = parser.parse_args()
    if options.table is not None:
        deliver(show(options.out), options.table, "kill")
    elif options.run is not None:
        folder = Path(tempfile.mkdtemp(prefix=f"thalweg-kill-{options.run}-"))
        print(folder, settings := settings_of(options.run, options.evaluations, options.seconds))
        print(kill_one_run(settings, folder))
    else:
        total = Total(options.out)
        total.next_seed = options.seed or total.next_seed
        campaign(total, options.kills, options.jobs, options.minutes, Work(options.evaluations, options.seconds))


if __name__ == "__main__":
    main()
