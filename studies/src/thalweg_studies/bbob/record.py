"""What is kept of a run: after how many evaluations it reached each target of a ladder. Every engine yields the same."""

import json
from math import inf
from typing import NamedTuple

LADDER = tuple(10.0 ** (k / 5) for k in range(10, -41, -1))
"""Targets for f - f_opt, from 100 down to 1e-8, five a decade: those of COCO's runtime profiles."""

SOLVED = LADDER[-1]
"""A problem is solved at f_opt + 1e-8, and the run over."""


class Run(NamedTuple):
    """One method on one instance of one function, restarts included."""

    evaluations: int
    """Until the target or the end of the budget."""
    best: float
    """The least f - f_opt."""
    restarts: int
    hits: tuple[float, ...]
    """Evaluations to each target of `LADDER`; inf where it was not reached."""


def encode(run: Run) -> str:
    """A run as JSON; the targets that were not reached are null.

    >>> decode(encode(Run(7, 0.5, 0, (3.0, 7.0) + (inf,) * 49))).hits[:3]
    (3.0, 7.0, inf)
    """
    hits = [None if hit == inf else int(hit) for hit in run.hits]
    return json.dumps(run._asdict() | {"hits": hits}) + "\n"


def decode(text: str) -> Run:
    """What `encode` wrote; raises a ValueError, KeyError or TypeError if it is not whole."""
    content = json.loads(text)
    hits = tuple(inf if hit is None else float(hit) for hit in content["hits"])
    if len(hits) != len(LADDER):
        raise ValueError(f"a run has {len(LADDER)} hits, got {len(hits)}")
    return Run(int(content["evaluations"]), float(content["best"]), int(content["restarts"]), hits)


def rung(target: float) -> int:
    """Where on the ladder a target is.

    >>> rung(1e-8), rung(1e-7)
    (50, 45)
    """
    i = min(range(len(LADDER)), key=lambda i: abs(LADDER[i] / target - 1))
    if abs(LADDER[i] / target - 1) > 1e-9:
        raise ValueError(f"target {target:g} is not on the ladder from {LADDER[0]:g} to {LADDER[-1]:g}, five a decade")
    return i
