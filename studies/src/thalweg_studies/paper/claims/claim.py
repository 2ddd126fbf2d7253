"""What a claim of the paper's text becomes: an experiment, and a rule that judges its results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg_studies.paper.experiment import Case
from thalweg_studies.paper.race import Race
from thalweg_studies.paper.verdict import Verdict

Cases = Mapping[Case, np.ndarray]
"""Best values (seeds, grid) by case."""


@dataclass(frozen=True)
class Finding:
    """What the results say."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    """A table under the head."""
    verdicts: Sequence[Verdict]
    remark: str = ""


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, or one question that its readers have."""

    title: str
    sentence: str
    """What the paper says, and where."""
    experiment: Race
    quick: Race
    """The same with fewer arms and generations."""
    seeds: int
    judge: Callable[[Race, Cases], Finding]
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The arms that the figure shows, by the title of its row."""
    log_x: bool = False
    """Whether the figure's evaluations are on a logarithmic axis."""
