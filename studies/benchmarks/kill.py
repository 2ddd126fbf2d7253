"""Kill runs at random moments, again and again until they end, and check that nothing is lost.

    python studies/benchmarks/kill.py --kills 300 --workers 2 --log jsonl --out studies/benchmarks/results/kill.json

A run of `minimize` with a checkpoint and a log is a process of its own. SIGKILL is sent at a random moment to the run, to the
run and its workers, or to one worker; a killed run is started again. The objective keeps a record of the begin and the end of
each of its calls. After every kill:

- the checkpoint can be read, is no older than before, and counts no evaluation that is missing in the log;
- the log can be read by `read_log` and by pandas, holds what it held before, and each evaluation once;
- the log has all evaluations that had ended, except those that were on their way from the objective to the log: at most one for
  each worker, killed ones included. `cut_off` counts them; `longest_cut_off_ms` is the longest time that one was on its way;
- no evaluation in the log was evaluated again;
- no worker outlives the run.

In the end the result and the log are those of an undisturbed run with the same seed, to the last bit. With --asynchronous no
two runs are alike; there the run is repeated from its log and an early checkpoint, and gives the same bits without a single
evaluation. Linux only. This takes about two seconds a kill.
"""

import json
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kill_run import LostError, Run, Tally, bits
from shared import make_parser, write_json

from thalweg.storage.log import read_log


def result_and_log(run: Run) -> tuple[str, list[tuple[Any, ...]]]:
    """Return the result of a finished run and its sorted log."""
    if run.process.returncode != 0:
        raise LostError(f"a run ended with exit code {run.process.returncode}")
    return (run.folder / "result").read_text(), sorted(bits(row) for row in read_log(run.folder / f"run.{run.settings['log']}"))


def undisturbed_run(folder: Path, settings: dict[str, Any]) -> Run:
    """Run the same settings without a kill."""
    run = Run(folder, {**settings, "workers": 1, "log": "jsonl"}, Tally(1, "jsonl", False, settings["seed"]))
    run.start()
    run.process.wait()
    return run


def replayed_run(folder: Path, run: Run) -> Run:
    """Repeat a run from its log and an early checkpoint, which leaves nothing to evaluate."""
    log = f"run.{run.settings['log']}"
    shutil.copy(run.folder / "early.ckpt", folder / "run.ckpt")
    (shutil.copytree if (run.folder / log).is_dir() else shutil.copy)(run.folder / log, folder / log)
    again = Run(folder, run.settings, Tally(0, "", True, 0))
    again.start()
    again.process.wait()
    if again.recorded():
        raise LostError("a run that is all in the log was evaluated again")
    return again


def campaign(
    kills: int,
    workers: int,
    seed: int,
    log: str,
    folder: Path,
    evaluations: int = 1500,
    seconds: float = 0.002,
    asynchronous: bool = False,
) -> Iterator[Tally]:
    """Run until there were so many kills, compare each run with one that was not killed, and yield the counts so far."""
    tally, choose, started = Tally(workers, log, asynchronous, seed), random.Random(seed), time.monotonic()
    common = {"workers": workers, "log": log, "evaluations": evaluations, "seconds": seconds, "asynchronous": asynchronous}
    while tally.kills + tally.worker_kills < kills:
        settings = {"seed": seed + tally.runs, **common}
        killed, other = (folder / f"{kind}-{settings['seed']}" for kind in ("killed", "other"))
        killed.mkdir()
        other.mkdir()
        run = Run(killed, settings, tally)
        kill_until_finished(run, kills, choose)
        reference = replayed_run(other, run) if asynchronous else undisturbed_run(other, settings)
        if result_and_log(run) != result_and_log(reference):
            raise LostError(f"the result of seed {settings['seed']} differs from that of a run that was not killed")
        begun = Counter(x for kind, _, x, _ in run.recorded() if kind == "begin")
        tally.begun_again += sum(begun.values()) - len(begun)
        tally.runs += 1
        tally.evaluations += len(run.rows)
        tally.seconds = round(time.monotonic() - started, 1)
        yield tally


def kill_until_finished(run: Run, kills: int, choose: random.Random) -> None:
    """Kill a run and start it again until it ends by itself."""
    tally = run.tally
    run.start()
    while True:
        if tally.kills + tally.worker_kills >= kills:
            run.process.wait()
        # most kills come during the search, some during the start
        working = choose.random() < 0.8
        if not run.wait(choose.expovariate(4.0) if working else choose.uniform(0.0, 2.0), working=working):
            run.inspect()
            return
        if run.settings["workers"] > 1 and choose.random() < 0.3:
            run.kill_worker(choose)
            continue
        run.kill(workers_too=choose.random() < 0.5)
        run.inspect()
        run.start()


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--kills", type=int, default=300, help="number of kills, of runs and workers (default: 300)")
    parser.add_argument("--workers", type=int, default=1, help="number of worker processes (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first run and of the kills (default: 1)")
    parser.add_argument("--log", choices=["jsonl", "parquet"], default="jsonl", help="format of the log (default: jsonl)")
    parser.add_argument("--asynchronous", action="store_true", help="run the asynchronous loop")
    parser.add_argument("--out", type=Path, help="JSON file to which the counts are added")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="thalweg-kill-"))  # stays if something is lost
    before = json.loads(options.out.read_text()) if options.out and options.out.exists() else []
    chosen = {name: getattr(options, name) for name in ("kills", "workers", "seed", "log", "asynchronous")}
    for tally in campaign(**chosen, folder=folder):
        print(json.dumps(asdict(tally)), flush=True)
        if options.out:
            write_json(options.out, [*before, asdict(tally)])
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
