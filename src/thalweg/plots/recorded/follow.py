"""Reading a run from its files, also while it goes on: each time only what is new."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from thalweg._common.checks import shortened
from thalweg.plots.recorded.run import Recorded, labels, spans_decades
from thalweg.plots.recorded.saved import Saved, read_saved
from thalweg.plots.recorded.tables import Evaluations, Generations
from thalweg.search.campaign import Best
from thalweg.search.constraints import Kinds
from thalweg.search.history import History
from thalweg.storage.log import Evaluation
from thalweg.storage.log.follow import News, follow_log

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

ZIP, PARQUET = b"PK\x03\x04", b"PAR1"
"""First bytes of a checkpoint, and of a part of a Parquet log."""
KINDS = "pass a log (.jsonl or .parquet) or a checkpoint of a run, or the result of minimize"


def read(what: "OptimizeResult | str | os.PathLike[str]") -> Recorded:
    """Return all that is known of a run.

    >>> import thalweg
    >>> result = thalweg.minimize(lambda x: x @ x, [1.0, 2.0], method="cma", seed=1, max_iter=40)
    >>> run = read(result)
    >>> run.nfev, run.best.f == result.fun, run.generations.mean.shape
    (240, True, (40, 2))

    Args:
        what: A result, or the path of a log or of a checkpoint. A checkpoint `run.ckpt` and its log `run.ckpt.jsonl` belong
            together: where both are there, both are read.
    """
    if isinstance(what, str | os.PathLike):
        return follow(what).read()
    if not isinstance(getattr(what, "history", None), History):
        raise TypeError(f"no run is recorded in {shortened(what)}; {KINDS}")
    return of_result(what)


def follow(path: str | os.PathLike[str]) -> "Followed":
    """Follow the files of a run; raise a ValueError or a FileNotFoundError if there are none."""
    path = Path(path)
    if not path.exists():
        log = path.with_name(f"{path.name}.jsonl")
        if not log.exists():
            raise FileNotFoundError(f"there is no file {os.fspath(path)!r}; {KINDS}")
        return Followed(path.name, log, path, first=log)  # the first generation is still being evaluated
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(4)
        if start == ZIP:
            return Followed(path.name, path.with_name(f"{path.name}.jsonl"), path, first=path)
        if start == PARQUET:
            raise ValueError(f"{os.fspath(path)!r} is a part of a Parquet log; pass the folder that holds its parts")
    saved = path.with_suffix("") if path.suffix == ".jsonl" else None
    return Followed(path.name, path, saved, first=path)


class Followed:
    """The files of a run: a log, a checkpoint, or both, of which `first` is the one that must be right."""

    def __init__(self, name: str, log: Path, checkpoint: Path | None, first: Path) -> None:
        self.name, self.first = name, first
        self._log, self._checkpoint = follow_log(log), checkpoint
        self._saved: Saved | None = None
        self._stamp: tuple[int, int] | None = None
        """Time of change and size of the checkpoint that was read."""
        self._evaluations, self._generations = Evaluations(), Generations()
        """Tables of the log, without its waiting rows."""
        self._point: dict[str, float] | None = None
        """A point by the names of the variables."""
        self._latest: Recorded | None = None

    def read(self) -> Recorded:
        """Return the run as it is now: the same object as before if nothing has changed."""
        changed = self._read_checkpoint()  # first: the log then has all evaluations that the checkpoint knows
        news = self._log.news()
        if self._latest is not None and not changed and news is None:
            return self._latest
        news = News([], []) if news is None else news
        if news.anew:
            self._evaluations, self._generations, self._point = Evaluations(), Generations(), None
        rows = news.rows or news.waiting
        self._point = self._point or (rows[0].point if rows else None)
        self._evaluations, self._generations = self._with(news.rows)
        self._latest = self._recorded(*self._with(news.waiting))
        return self._latest

    def _with(self, rows: list[Evaluation]) -> tuple[Evaluations, Generations]:
        before = len(self._evaluations)
        table = self._evaluations.with_rows(rows)
        best = table.best_so_far(None if self._saved is None else self._saved.kinds)
        return table, self._generations.with_rows(rows, before, table, best)

    def _read_checkpoint(self) -> bool:
        """Read the checkpoint if it has changed; return whether it has."""
        if self._checkpoint is None:
            return False
        try:
            status = self._checkpoint.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp == self._stamp:
                return False
            self._saved, self._stamp = read_saved(self._checkpoint), stamp
        except (ValueError, OSError):
            if self._checkpoint == self.first:
                raise
            return False
        return True

    def _recorded(self, table: Evaluations, numbers: Generations) -> Recorded:
        saved = self._saved
        if saved is None:
            if not len(table) and self._log.strange:
                raise ValueError(f"{os.fspath(self.first)!r} holds no evaluation of a run; {KINDS}")
            point = self._point or {}
            d = table.x.shape[1]
            return Recorded(
                name=self.name,
                evaluations=table,
                generations=numbers,
                names=labels(tuple(point), d),
                logarithmic=spans_decades(table.x),
                integers=np.array([isinstance(each, int) for each in point.values()] if len(point) == d else [False] * d, bool),
                best=_best(table, None),
                nfev=len(table),
                failures=int(np.sum(table.failed)),
            )
        d = len(saved.logarithmic)
        if len(table) and table.x.shape[1] != d:  # a log of another run
            table, numbers = Evaluations(), Generations()
        complete = bool(len(table)) and table.run[0] == 0 and table.generation[0] == 0
        if complete and len(numbers):
            numbers = numbers.joined(saved.generations.after(int(numbers.nfev[-1])))
        return Recorded(
            name=self.name,
            evaluations=table,
            generations=numbers if complete and len(numbers) else saved.generations,
            names=labels(saved.names, d),
            logarithmic=saved.logarithmic,
            integers=saved.integers,
            best=_best(table, saved.kinds) if complete else saved.best,
            nfev=len(table) if complete else saved.nfev,
            failures=int(np.sum(table.failed)) if complete else saved.failures,
            method=saved.method,
            seed=saved.seed,
            message=saved.message,
            elapsed=saved.elapsed,
            kinds=saved.kinds,
            before=0 if complete else max(0, saved.nfev - len(table)),
        )


def of_result(result: "OptimizeResult") -> Recorded:
    """Return what a result tells of its run."""
    history: History = result.history
    numbers, d = Generations.of_history(history), len(result.x)
    space = result.get("space")
    found = np.flatnonzero(numbers.fun <= result.fun)
    best = Best(result.x, float(result.fun), int(numbers.nfev[found[0]]) if len(found) else result.nfev)
    return Recorded(
        name="result",
        evaluations=Evaluations(),
        generations=numbers,
        names=labels(None if space is None else space.names, d),
        logarithmic=np.broadcast_to(history.space.logarithmic, d),
        integers=np.broadcast_to(history.space.whole_numbers, d),
        best=best._replace(violation=float(result.get("violation", 0.0))) if np.isfinite(result.fun) else None,
        nfev=result.nfev,
        failures=result.failures,
        method=result.get("method"),
        seed=result.get("seed"),
        message=result.message,
    )


def _best(table: Evaluations, kinds: Kinds | None) -> Best | None:
    i = table.best(kinds)
    return None if i is None else Best(table.x[i], float(table.f[i]), i + 1, float(table.violation(kinds)[i]))
