"""The contents of a page: a run as plain JSON, with its columns as typed arrays in base64; also the part that is new."""

import base64
import json
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from thalweg.plots.recorded import Evaluations, Generations, Recorded

VARIABLES = 60
"""Largest number of variables in tables and charts; the best point has all."""
NUMBERS, ROWS = 5_000_000, 500_000
"""Largest numbers of entries and of rows in the table of evaluations; of a longer run it has every second, fourth, ... row."""
ENTRIES, CURVE = 500, 2000
"""Largest numbers of generations, and of points of the curve of the best value."""
ENTRY_NUMBERS = 20_000
"""Largest number of entries in the means of the generations, and in their standard deviations."""


@dataclass(frozen=True)
class Seen:
    """The part of a run that a page has: counts, and the series of rows that they belong to."""

    series: str = ""
    rows: int = 0
    generations: int = 0
    errors: int = 0
    workers: int = 0


def contents(run: Recorded, seen: Seen | None = None, *, most: int | None = None, epoch: int = 0) -> dict[str, Any]:
    """Return what a page shows of a run, without what it has seen.

    Args:
        run: The run.
        seen: What the page has.
        most: Largest number of new rows; `more` tells whether others follow.
        epoch: A number that changes when another run takes the place of the first one.
    """
    every = stride(len(run.evaluations), run.d)
    series = f"{epoch}.{every}"
    seen = seen if seen is not None and seen.series == series else Seen()
    table, shown = run.evaluations, min(run.d, VARIABLES)
    end = len(table) if most is None else min(len(table), seen.rows + most * every)
    best = run.best
    return {
        "series": series,
        "every": every,
        "name": run.name,
        "method": run.method,
        "seed": run.seed,
        "d": run.d,
        "names": list(run.names[:shown]),
        "logarithmic": run.logarithmic[:shown].tolist(),
        "integers": run.integers[:shown].tolist(),
        "nfev": run.nfev,
        "failures": run.failures,
        "message": run.message,
        "elapsed": run.elapsed,
        "constrained": run.constrained,
        "best": None
        if best is None
        else {
            "f": _number(best.f),
            "x": column(best.x),
            "names": list(run.names),
            "nfev": int(best.nfev),
            "violation": _number(best.violation),
        },
        "curve": _curve(run),
        "rows": _rows(run, seen.rows, end, every, shown),
        "end": end,
        "more": end < len(table),
        "workers": list(table.workers[seen.workers :]),
        "errors": list(table.errors[seen.errors :]),
        "tracebacks": [
            {"number": run.before + i + 1, "error": int(table.error[i]) + 1, "text": text}
            for i, text in table.tracebacks.items()
            if seen.rows <= i < end
        ],
        "count": len(run.generations),
        "generations": None if seen.generations == len(run.generations) else _generations(run.generations, shown),
    }


def as_json(value: dict[str, Any]) -> str:
    r"""Return JSON in ASCII that may stand in a script element of HTML.

    >>> as_json({"error": "</script>é"})
    '{"error":"\\u003c/script>\\u00e9"}'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def column(values: np.ndarray) -> dict[str, str]:
    """Return numbers as a little-endian array in base64, whole numbers in as few bytes as they need.

    >>> column(np.array([1, 300]))
    {'type': 'u2', 'data': 'AQAsAQ=='}
    """
    if not len(values) or (np.all(values == np.floor(values)) and np.min(values) >= 0 and np.max(values) < 2**32):
        if not np.any(np.signbit(values) & (values == 0)):  # a negative zero stays one
            values = values.astype(np.min_scalar_type(int(np.max(values, initial=0))))
    elif values.dtype != np.float32:
        values = values.astype(float)
    values = values.astype(values.dtype.newbyteorder("<"))
    kind = f"{values.dtype.kind}{values.dtype.itemsize}"
    return {"type": kind, "data": base64.b64encode(values.tobytes()).decode()}


def stride(rows: int, d: int) -> int:
    """Return the power of two such that a page has every so many of these rows.

    >>> stride(100_000, 10), stride(1_000_000, 10), stride(1_000_000, 1)
    (1, 4, 2)
    """
    most, every = min(ROWS, NUMBERS // (min(d, VARIABLES) + 8)), 1
    while rows > every * most:
        every *= 2
    return every


def _rows(run: Recorded, start: int, end: int, every: int, shown: int) -> dict[str, Any]:
    """Return the rows of these places: every so many, and all that improve the best value or have a traceback."""
    table: Evaluations = run.evaluations
    best = run.best_so_far
    places = np.arange(start, end)
    before = np.where(places > 0, best[places - 1], np.inf) if len(places) else np.empty(0)
    improved = best[start:end] < before
    kept = improved | (places % every == 0) | np.isin(places, list(table.tracebacks))
    places, improved = places[kept], improved[kept]
    given = {
        "number": run.number[places],
        "run": table.run[places],
        "generation": table.generation[places],
        "f": table.f[places],
        "seconds": table.seconds[places].astype(np.float32),
        "worker": table.worker[places] + 1,
        "error": table.error[places] + 1,
        "attempts": table.attempts[places],
        "improved": improved.astype(int),
    }
    if run.constrained:
        given["violation"] = run.violation[places]
    x = [column(table.x[places, i]) for i in range(shown)] if len(places) else []
    return {"n": len(places), "x": x, **{name: column(values) for name, values in given.items()}}


def _curve(run: Recorded) -> dict[str, Any]:
    """Return the best value so far: the evaluations that improved it, and what the generations tell of those before."""
    best, numbers = run.best_so_far, run.generations
    improved = np.flatnonzero(best < np.concatenate([[np.inf], best[:-1]])) if len(best) else np.empty(0, int)
    nfev, f = run.number[improved], best[improved]
    earlier = (numbers.nfev <= run.before) if len(best) else np.full(len(numbers), True)
    earlier &= np.isfinite(numbers.fun) & (numbers.nfev > 0)
    nfev, f = np.concatenate([numbers.nfev[earlier], nfev]), np.concatenate([numbers.fun[earlier], f])
    kept = _thinned(len(f), CURVE)
    return {"nfev": column(nfev[kept]), "f": column(f[kept])}


def _generations(numbers: Generations, shown: int) -> dict[str, Any]:
    kept = _thinned(len(numbers), ENTRIES)
    found = {"nfev": numbers.nfev, "sigma": numbers.sigma, "longest": numbers.axes[:, 0], "shortest": numbers.axes[:, 1]}
    found |= {"bend": numbers.bend, "tau": numbers.tau, "evaluated": numbers.evaluated}
    told = {name: column(values[kept]) for name, values in found.items() if values is not None and _tells(values)}
    few = kept[_thinned(len(kept), max(2, ENTRY_NUMBERS // max(1, shown)))]
    width = min(shown, numbers.mean.shape[1])
    places: dict[str, Any] = {"nfev": column(numbers.nfev[few])}
    for name in ("mean", "std"):
        values = getattr(numbers, name)[few].astype(np.float32)
        places[name] = [column(values[:, i]) for i in range(width)]
    return {**told, "places": places}


def _tells(values: np.ndarray) -> bool:
    return len(values) > 0 and not bool(np.all(np.isnan(values)))


def _thinned(count: int, most: int) -> np.ndarray:
    """Return the places of at most so many of `count` things, with the first and the last."""
    return np.arange(count) if count <= most else np.unique(np.linspace(0, count - 1, most).round().astype(int))


def _number(value: float) -> float | str | None:
    return None if isnan(value) else float(value) if np.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
