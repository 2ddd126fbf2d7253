"""Logs of evaluations, as JSON Lines or Parquet: readable while a run goes on, and read again when it is resumed."""

import os
from pathlib import Path

from thalweg.storage import Target
from thalweg.storage.log.base import EvaluationLog
from thalweg.storage.log.lines import LinesLog, read_lines
from thalweg.storage.log.row import Evaluation

__all__ = ["Evaluation", "EvaluationLog", "open_log", "read_log"]


def open_log(path: Target, *, resume: bool, since: tuple[int, int] = (0, 0)) -> EvaluationLog:
    """Open a log for appending: a file of JSON Lines, or a folder of Parquet files if the name ends in .parquet.

    Args:
        path: Name of the log.
        resume: True if the log may have evaluations already, as that of a run that continues.
        since: First (run, generation) whose earlier evaluations `EvaluationLog.known` returns.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"log {os.fspath(path)!r} lies in a directory that does not exist; make it first")
    if path.suffix == ".parquet":
        from thalweg.storage.log.parquet import ParquetLog as Kind
    elif path.is_dir():
        raise ValueError(f"log {os.fspath(path)!r} is a directory; pass a file, or a name that ends in .parquet")
    else:
        Kind = LinesLog
    log = Kind(path, since)
    if log.found and not resume:
        log.close()
        raise ValueError(
            f"log {os.fspath(path)!r} holds {log.found} evaluations of another run; pass another log, remove this one, or "
            "continue that run from its checkpoint"
        )
    return log


def read_log(path: Target) -> list[Evaluation]:
    """Return all evaluations in a log, in the order in which they ended, also while the run goes on.

    `pandas.read_json(path, lines=True)` reads JSON Lines too, but rounds some floats in the last place. A DataFrame of this
    list is exact.

    >>> import numpy as np
    >>> path = getfixture("tmp_path") / "run.jsonl"
    >>> with open_log(path, resume=False) as log:
    ...     log.append([Evaluation(0, 0, 0, np.array([1.0, 2.0]), 5.0, None, None, 0.1, 1)])
    >>> read_log(path)[0].f
    5.0
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"log {os.fspath(path)!r} is no file; pass the name of one")
    if path.suffix == ".parquet":
        from thalweg.storage.log.parquet import read_parquet

        return list(read_parquet(path))
    return list(read_lines(path))
