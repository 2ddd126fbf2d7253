"""The summary of a benchmark: average runtimes of every entrant, and their ratios to its baseline."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite, nan
from typing import Any, NamedTuple

from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.plan import Trial
from thalweg_studies.bbob.record import LADDER, SOLVED, Run, rung
from thalweg_studies.bbob.runtime import Ratio, Runtimes, geometric_mean, hardest, ratio

TARGETS = (1e-1, 1e-3, 1e-5, 1e-7)
"""The targets of the tables."""

SHARES = {"hardest, all": 1.0, "hardest, half": 0.5}
"""The share of the instances in which both must reach the hardest target, by rule."""

FIXED, AT_ALL = "target", "hardest, once"
ALL = 0
"""The number that stands for all functions together."""

Results = Mapping[tuple[Entrant, int, int], Mapping[int, Run]]
"""Runs by instance, for each entrant, dimension and function."""


class Row(NamedTuple):
    """One row of the table `summary.csv`."""

    dimension: int
    function: int
    """The number of the function; 0 for the geometric mean over all."""
    method: str
    baseline: str
    """The label of the baseline; empty if there is none."""
    rule: str
    """`target`: a fixed target; `hardest, all` or `half`: the hardest that both reach in all or half of the instances;
    `hardest, once`: in place of either, the hardest that both reach at all."""
    target: float
    """The target; NaN in a geometric mean over functions with different targets."""
    art: float
    baseline_art: float
    ratio: float
    low: float
    high: float
    reached: int
    baseline_reached: int
    runs: int
    """The number of instances; in a geometric mean, of functions."""


def gather(trials: Iterable[Trial], runs: Iterable[Run | None]) -> dict[tuple[Entrant, int, int], dict[int, Run]]:
    """Sort the records of trials, without missing ones."""
    results: dict[tuple[Entrant, int, int], dict[int, Run]] = {}
    for trial, run in zip(trials, runs, strict=True):
        if run is not None:
            results.setdefault((trial.entrant, trial.dimension, trial.function), {})[trial.instance] = run
    return results


def alone(results: Results) -> list[Row]:
    """Return the average runtimes to the targets of the tables and to 1e-8."""
    rows: list[Row] = []
    for (entrant, d, function), found in results.items():
        runs = Runtimes.of(list(found.values()))
        for target in (*TARGETS, SOLVED):
            i = rung(target)
            values = (runs.art(i), nan, nan, nan, nan, runs.reached(i), 0, len(found))
            rows.append(Row(d, function, entrant.label, "", FIXED, target, *values))
    return rows


def compared(results: Results, method: Entrant, baseline: Entrant) -> list[Row]:
    """Return ratios over the instances that both have run, and their geometric means over the functions."""
    rows: list[Row] = []
    for d in sorted({d for entrant, d, _ in results if entrant == method}):
        ratios: dict[tuple[str, float | None], list[Ratio]] = {}  # None: each function has its own target
        for function in sorted({f for entrant, dd, f in results if entrant == method and dd == d}):
            pair = [results.get((entrant, d, function), {}) for entrant in (method, baseline)]
            shared = sorted(pair[0].keys() & pair[1].keys())
            if not shared:
                continue
            own, other = (Runtimes.of([runs[instance] for instance in shared]) for runs in pair)
            found = [(FIXED, FIXED, target, ratio(own, other, rung(target), function)) for target in (*TARGETS, SOLVED)]
            for rule, share in SHARES.items():
                best = hardest(own, other, function, share)
                if best is not None:
                    found.append((rule, rule if best.everywhere else AT_ALL, best.target, best.ratio))
            for rule, marked, target, r in found:
                ratios.setdefault((rule, target if rule == FIXED else None), []).append(r)
                i = rung(target)
                counts = (own.reached(i), other.reached(i), len(shared))
                values = (own.art(i), other.art(i), r.value, *r.interval)
                rows.append(Row(d, function, method.label, baseline.label, marked, target, *values, *counts))
        for (rule, target), each in ratios.items():
            mean, ends, count = geometric_mean(each)
            values = (nan, nan, mean, *ends)
            rows.append(
                Row(d, ALL, method.label, baseline.label, rule, nan if target is None else target, *values, 0, 0, count)
            )
    return rows


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as CSV; missing numbers are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: float | str) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.6g}" if isfinite(value) or value == inf else ""


def as_json(results: Results, settings: Mapping[str, Any]) -> str:
    """Return all runs as JSON."""
    runs = [
        {
            "method": entrant.label,
            "dimension": d,
            "function": function,
            "instance": instance,
            **run._asdict(),
            "hits": [None if hit == inf else int(hit) for hit in run.hits],
        }
        for (entrant, d, function), found in results.items()
        for instance, run in sorted(found.items())
    ]
    return json.dumps({"settings": settings, "targets": LADDER, "runs": runs}) + "\n"
