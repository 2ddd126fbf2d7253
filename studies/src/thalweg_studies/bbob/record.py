"""The record of a run: the evaluations at which it reached each target of a ladder. All engines write the same."""

import json
from math import inf
from typing import NamedTuple

LADDER = tuple(10.0 ** (k / 5) for k in range(10, -41, -1))
"""Targets for f - f_opt, from 100 down to 1e-8, five a decade: those of COCO's runtime profiles."""

SOLVED = LADDER[-1]
"""The target for f - f_opt at which a problem is solved and the run ends, 1e-8."""


class Run(NamedTuple):
    """One method on one instance of one function, restarts included."""

    evaluations: int
    """The evaluations until the last target or the end of the budget."""
    best: float
    """The lowest f - f_opt."""
    restarts: int
    hits: tuple[float, ...]
    """The evaluations to each target of `LADDER`; inf if it was not reached."""


def encode(run: Run) -> str:
    """Return a run as JSON, with null for targets that were not reached.

    >>> decode(encode(Run(7, 0.5, 0, (3.0, 7.0) + (inf,) * 49))).hits[:3]
    (3.0, 7.0, inf)
    """
    hits = [None if hit == inf else int(hit) for hit in run.hits]
    return json.dumps(run._asdict() | {"hits": hits}) + "\n"


def decode(text: str) -> Run:
    """Return the run that `encode` wrote; raise a ValueError, KeyError or TypeError if it is incomplete."""
    content = json.loads(text)
    hits = tuple(inf if hit is None else float(hit) for hit in content["hits"])
    if len(hits) != len(LADDER):
        raise ValueError(f"a run has {len(LADDER)} hits, got {len(hits)}")
    return Run(int(content["evaluations"]), float(content["best"]), int(content["restarts"]), hits)


def rung(target: float) -> int:
    """Return the index of a target on the ladder.

    >>> rung(1e-8), rung(1e-7)
    (50, 45)
    """
    i = min(range(len(LADDER)), key=lambda i: abs(LADDER[i] / target - 1))
    if abs(LADDER[i] / target - 1) > 1e-9:
        raise ValueError(f"target {target:g} is not on the ladder from {LADDER[0]:g} to {LADDER[-1]:g}, five a decade")
    return i
