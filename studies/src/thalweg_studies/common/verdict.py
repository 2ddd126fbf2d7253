"""Verdicts of the experiments on numbers and sentences of the paper."""

from dataclasses import dataclass

AGREES, DIFFERS, UNCLEAR = "agrees", "differs", "not clear"


@dataclass(frozen=True)
class Verdict:
    """One line of the report's summary."""

    item: str
    """The place in the paper, and what it is about."""
    paper: str
    """The paper's number or sentence."""
    ours: str
    """Our number with its 95% interval."""
    verdict: str
    """One of `AGREES`, `DIFFERS` and `UNCLEAR`."""
    why: str = ""
    """The explanation of a difference."""


HEAD = ("in the paper", "it says", "here", "verdict", "why")


def cells(verdict: Verdict) -> tuple[str, ...]:
    """Return the cells of a table row under `HEAD`."""
    return verdict.item, verdict.paper, verdict.ours, verdict.verdict, verdict.why
