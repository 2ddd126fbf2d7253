"""Change checkpoints and logs in every way that a fault or an enemy might, and read them: 100,000 times.

    python studies/benchmarks/mutate.py --minutes 30       # goes on where results/mutate.json ends
    python studies/benchmarks/mutate.py --trial 4711       # this one alone

Each trial changes one of the files of some real runs: bits and bytes, cuts, members of the zip archive, values of the JSON,
sizes that are claimed, arrays, lines, parts. Then it does with the file what a user would: continue the search from the
checkpoint, read the log, continue a run whose log it is. The outcome is "refused", by a ValueError of one line that names the
file, or "read", and then the search goes on to a result inside its bounds. Faults are:

- any other error, a crash, or more than 30 seconds;
- more than 512 MiB of memory, or 1 GiB of addresses, compiled programs included; the files have 5 to 60 kB;
- while the file is read: a pickle, a process, a socket, compiled or executed code, or a write to another file.

Linux only.
"""

import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from changes import Data, change_json, change_lines, change_members, claim, edit_bytes, edit_json, edit_text, rename
from supervised import CACHE, FaultError, Plan, run_plan

import thalweg
from thalweg.search.optimizer import Optimizer
from thalweg.storage.log import read_log

TRIALS = 100_000
SECONDS, MIB = 30.0, 512.0
LAST = 60
"""Number of evaluations of the runs whose logs are changed."""
FORBIDDEN = (
    "pickle.find_class",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.",
    "marshal.",
)


def sphere(x: Any) -> float:
    return float(np.sum((np.asarray(x) - 0.5) ** 2))


def limited(x: Any) -> tuple[float, list[float], list[float]]:
    return sphere(x), [0.2 - x[0]], [x[0] + x[1] - 1.0]


def checkpoints(folder: Path) -> Iterator[bytes]:
    """Yield checkpoints of searches of every kind."""
    common = {"seed": 3, "popsize": 4}
    searches: list[tuple[Any, dict[str, Any]]] = [
        ([1.0, 2.0], {"method": "cma", "restarts": 2, "options": {"tolx": 1.0}, "bounds": (-5, None)}),
        ([1.0, 2.0, 0.5], {"method": "gnn-cma", "restarts": 3, "bipop": True}),
        ([1.0, 2.0], {"method": "cma", "model": "quadratic", "bounds": [(-5, 5), (None, 4)]}),
        (
            thalweg.Space(a=thalweg.Real(0.1, 10, log=True), n=thalweg.Integer(0, 9), c=thalweg.Real(-1, 1)),
            {"method": "sep-cma"},
        ),
        ([1.0, 2.0], {"method": "xnes", "bounds": (0, 3)}),
    ]
    for i, (x0, more) in enumerate(searches):
        es = Optimizer(x0, **common, **more)
        for _ in range(5):
            go_on(es)
        es.tell(es.ask(3)[:1], [1.0])  # one waits, two are open
        if i == 0:
            es.tell([[0.5, 0.5]], [0.1], foreign=True)
        es.save(folder / "run.ckpt", {"first_failure": None})
        yield (folder / "run.ckpt").read_bytes()
    thalweg.minimize(
        limited, [1.0, 2.0], method="cma", seed=3, popsize=4, max_evals=24, checkpoint=folder / "limited.ckpt", log=False
    )
    yield (folder / "limited.ckpt").read_bytes()


def runs(folder: Path) -> Iterator[tuple[str, Data]]:
    """Yield the names of logs with the files of unfinished runs."""
    for log in ("run.jsonl", "run.parquet"):
        for asynchronous in (False, True):
            here = folder / f"{log}-{asynchronous}"
            here.mkdir()
            minimize(here, log, LAST // 2, asynchronous)
            yield log, {str(file.relative_to(here)): file.read_bytes() for file in here.rglob("*") if file.is_file()}


def minimize(folder: Path, log: str, max_evals: int, asynchronous: bool) -> Any:
    return thalweg.minimize(
        sphere,
        [1.0, 2.0],
        method="cma",
        seed=3,
        popsize=4,
        bounds=(-5, 5),
        max_evals=max_evals,
        asynchronous=asynchronous,
        checkpoint=folder / "run.ckpt",
        log=folder / log,
    )


def go_on(es: Optimizer) -> None:
    """Make a generation of any search, and see that its points are inside its bounds."""
    X = es.ask()
    low, high = ([pair[i] for pair in es.space.pairs or [[None, None]] * es.d] for i in (0, 1))
    low, high = np.array(low, float), np.array(high, float)  # None becomes NaN
    if not (np.all(np.isfinite(X)) and not np.any(low > X) and not np.any(high < X)):
        raise FaultError(f"points {X.tolist()} outside of the bounds")
    limits = () if es.kinds is None else ([[-1.0] * es.kinds.inequalities] * len(X), [[0.0] * es.kinds.equalities] * len(X))
    es.tell(X, [sphere(x) for x in X], *limits)


class Watch:
    """Watches a process for what reading a file must not do."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.on, self.seen = str(folder), False, list[str]()
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and isinstance(args[0], str) and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR):
            if not args[0].startswith((self.folder, os.environ[CACHE], "/dev/null", "/proc/self")):
                self.seen.append(f"open {args[0]}")
        elif event == "exec" and args[0].co_filename.startswith(self.folder):
            self.seen.append(f"{event} {str(args)[:80]}")
        elif event.startswith(FORBIDDEN) or (event == "exec" and args[0].co_filename.startswith("<")):
            self.seen += [f"{event} {str(args)[:80]}"] * (not harmless(sys._getframe(1)))

    def __call__(self, read: Callable[[], Any]) -> Any:
        """Call a reader and raise a FaultError if it does what it must not."""
        self.on, self.seen = True, []
        try:
            return read()
        finally:
            self.on = False
            if self.seen:
                raise FaultError(f"reading did {self.seen[:3]}")


def harmless(frame: FrameType | None) -> bool:
    """Return whether a module is being imported, which reads compiled code, or pycma evaluates its own defaults."""
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        if frame.f_code.co_filename.endswith(os.path.join("cma", "options_parameters.py")):
            return True  # their texts are in pycma; the adapter passes it numbers and nothing else
        frame = frame.f_back
    return frame is not None


def prepare(folder: Path) -> Callable[[random.Random], str]:
    """Return the function that makes a trial."""
    (folder / "base").mkdir()
    saved, logged = list(checkpoints(folder / "base")), list(runs(folder / "base"))
    for name in thalweg.METHODS:
        thalweg.make_strategy(name)  # imports what it needs
    watch, place, known = Watch(folder), folder / "trial", set[Any]()

    def trial(choose: random.Random) -> str:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if choose.random() < 0.6:
            return one_checkpoint(choose)
        return one_log(choose)

    def one_checkpoint(choose: random.Random) -> str:
        data, other, path = choose.choice(saved), choose.choice(saved), place / "run.ckpt"
        kind = choose.choice(["bytes", "members", "array", "json", "json", "text", "claim"])
        if kind == "bytes":
            data = edit_bytes(data, choose, other)
        elif kind in ("members", "array"):
            data = change_members(data, choose, other)
        else:
            data = change_json(data, choose, {"json": edit_json, "text": edit_text, "claim": claim}[kind])
        path.write_bytes(data)
        search = refused(partial(watch, partial(Optimizer.load, path)), str(path))
        if isinstance(search, str):
            return f"checkpoint {kind}: refused"
        program = (repr(search.strategy), search.popsize, search.d)
        if program not in known and len(known) > 60 and choose.random() > 0.02:
            return f"checkpoint {kind}: read"  # a generation of another size is another program to compile
        known.add(program)
        try:
            ended = refused(lambda: [go_on(search) for _ in range(2) if not search.stop()], "")
        except RuntimeError as error:
            if "no longer finite" not in str(error):
                raise
            ended = "not finite"
        search.result  # noqa: B018
        return f"checkpoint {kind}: {'refused later' if isinstance(ended, str) else 'read'}"

    def one_log(choose: random.Random) -> str:
        log, files = choose.choice(logged)
        names = [name for name in files if name != "run.ckpt"]
        name = choose.choice(names)
        kind = choose.choice(["bytes", "lines" if name.endswith("jsonl") else "names"])
        if kind == "names":
            files = rename(files, name, choose)
        else:
            files = {**files, name: (change_lines if kind == "lines" else edit_bytes)(files[name], choose)}
        for file, data in files.items():
            (place / file).parent.mkdir(exist_ok=True)
            (place / file).write_bytes(data)
        watch(partial(read_log, place / log))
        known_there = choose.random()
        if known_there < 0.6:
            return f"{log} {kind}: read"
        if known_there < 0.7:
            found = refused(partial(Optimizer, [1.0, 2.0], method="cma", popsize=4, seed=1, known=place / log), "known")
            return f"{log} {kind}: {'refused' if isinstance(found, str) else 'read'} as known"
        found = refused(partial(minimize, place, log, LAST, choose.random() < 0.5), log)
        if isinstance(found, str):
            return f"{log} {kind}: refused by the run"
        if not (found.nfev == LAST or found.success) or np.any(np.abs(found.x) > 5):
            raise FaultError(f"a run with such a log ends at {found.x} after {found.nfev} evaluations: {found.message}")
        return f"{log} {kind}: continued"

    return trial


def refused(read: Callable[[], Any], name: str) -> Any:
    """Return what a reader returns, or the message of its ValueError, which must be one line with this name in it."""
    try:
        return read()
    except ValueError as error:
        message = str(error)
        if "\n" in message or name not in message or len(message) > 1000:
            raise FaultError(f"the message is {message[:400]!r}") from None
        return message


PLAN = Plan(Path(__file__), prepare, SECONDS, MIB)

if __name__ == "__main__":
    run_plan(PLAN, "mutate", TRIALS, __doc__)
