"""What an experiment says of a number or a sentence of the paper."""

from dataclasses import dataclass

AGREES, DIFFERS, UNCLEAR = "agrees", "differs", "not clear"


@dataclass(frozen=True)
class Verdict:
    """One line of the report's summary."""

    item: str
    """Where it stands in the paper, and what it is about."""
    paper: str
    """The paper's number, or what it says."""
    ours: str
    """Our number with its 95% interval."""
    verdict: str
    """`AGREES`, `DIFFERS` or `UNCLEAR`."""
    why: str = ""
    """What explains a difference."""


HEAD = ("in the paper", "it says", "here", "verdict", "why")


def cells(verdict: Verdict) -> tuple[str, ...]:
    """For a table under `HEAD`."""
    return verdict.item, verdict.paper, verdict.ours, verdict.verdict, verdict.why
