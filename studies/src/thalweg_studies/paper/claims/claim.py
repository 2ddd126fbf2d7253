"""A claim of the paper's text: an experiment, and a rule that judges its results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from thalweg_studies.common.experiment import Case
from thalweg_studies.common.verdict import Verdict
from thalweg_studies.paper.comparison import Comparison

Cases = Mapping[Case, np.ndarray]
"""The best values (seeds, grid) of each case."""


@dataclass(frozen=True)
class Finding:
    """The judgement on the results of a claim."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    """The rows of a table under the head."""
    verdicts: Sequence[Verdict]
    remark: str = ""


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper, or one question of its readers."""

    title: str
    sentence: str
    """The paper's statement, and its place."""
    experiment: Comparison
    quick: Comparison
    """The same experiment with fewer algorithms and generations."""
    seeds: int
    judge: Callable[[Comparison, Cases], Finding]
    rows: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The algorithms that the figure shows, by the title of its row."""
    log_x: bool = False
    """True if the figure's evaluations are on a logarithmic axis."""
