"""Entrants beside archived algorithms: the average runtimes of both, and their ratios to those of the archived CMA-ES."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, nan
from typing import NamedTuple

import numpy as np

from thalweg_studies.bbob.plan import FUNCTIONS
from thalweg_studies.bbob.record import SOLVED, rung
from thalweg_studies.bbob.reference import Reference, baseline_of_archive
from thalweg_studies.bbob.runtime import Ratio, Runtimes, geometric_mean, ratio_to
from thalweg_studies.bbob.summary import Results
from thalweg_studies.common.statistics import Interval

TARGET = 1e-7
"""The target of the ratios, the hardest of the archived tables."""

MULTIMODAL = (3, 4, *range(15, 25))
ONE_VALLEY = tuple(function for function in FUNCTIONS if function not in MULTIMODAL)
GROUPS = {
    "one valley (f1, f2, f5 to f14)": ONE_VALLEY,
    "multimodal (f3, f4, f15 to f24)": MULTIMODAL,
    "multimodal, not separable (f15 to f24)": MULTIMODAL[2:],
}
"""Groups of functions; f8 and f9 have a second minimum from dimension 4 on, but a single valley."""

Cell = tuple[int, int]
"""A dimension and a function."""


@dataclass(frozen=True)
class Algorithm:
    """An entrant or an archived algorithm."""

    name: str
    art: dict[Cell, dict[int, float]]
    """Average runtimes by the target's index on the ladder; inf if no run reached it."""
    solved: dict[Cell, tuple[int, int] | None]
    """The runs that reached 1e-8, and all runs."""
    runs: dict[Cell, Runtimes] = field(default_factory=dict)
    """The runs of an entrant; empty for an archived algorithm."""

    @property
    def is_archived(self) -> bool:
        """True if its runtimes come from the reference."""
        return not self.runs

    def to(self, cell: Cell, target: float = TARGET) -> float:
        """Return the average runtime to a target; NaN if there is no such number."""
        return self.art.get(cell, {}).get(rung(target), nan)


class Mean(NamedTuple):
    """A geometric mean of ratios over the functions of a group on which both have a runtime."""

    value: float
    interval: Interval
    """The 95% bootstrap interval over instances; NaN for archived algorithms, whose runs are not known."""
    functions: tuple[int, ...]
    """The functions of the mean."""


@dataclass(frozen=True)
class Comparison:
    """All algorithms of a benchmark, on the cells that were run."""

    algorithms: Sequence[Algorithm]
    """Entrants first, then archived ones."""
    baseline: Algorithm | None
    """The archived CMA-ES."""
    cells: Sequence[Cell]

    @property
    def dimensions(self) -> list[int]:
        """The dimensions that were run."""
        return sorted({d for d, _ in self.cells})

    def functions(self, d: int, group: Sequence[int] = FUNCTIONS) -> tuple[int, ...]:
        """Return the functions of a group that were run in a dimension."""
        return tuple(function for function in group if (d, function) in self.cells)

    def ratio(self, who: Algorithm, cell: Cell) -> Ratio:
        """Return the ratio of average runtimes to 1e-7; NaN, 0 or inf where one of the two has none."""
        below = nan if self.baseline is None else self.baseline.to(cell)
        if cell in who.runs:
            return ratio_to(who.runs[cell], below, rung(TARGET), cell[1])
        above = who.to(cell)
        value = nan if above == below == inf else above / below
        return Ratio(value, (nan, nan), np.array([value]))

    def comparable(self, who: Algorithm, d: int, group: Sequence[int]) -> tuple[int, ...]:
        """Return the functions of a group on which an algorithm and the baseline both have a finite runtime."""
        return tuple(f for f in self.functions(d, group) if 0 < self.ratio(who, (d, f)).value < inf)

    def shared(self, d: int, group: Sequence[int]) -> tuple[int, ...]:
        """Return the functions of a group on which all algorithms have a finite runtime."""
        common = set(self.functions(d, group)).intersection(*(self.comparable(who, d, group) for who in self.algorithms))
        return tuple(sorted(common))

    def mean(self, who: Algorithm, d: int, functions: Sequence[int]) -> Mean:
        """Return the geometric mean of the ratios over those of the functions on which both have a runtime."""
        used = self.comparable(who, d, functions)
        value, interval, _ = geometric_mean([self.ratio(who, (d, function)) for function in used])
        return Mean(value, (nan, nan) if who.is_archived else interval, used)


def compare(results: Results, reference: Reference) -> Comparison:
    """Set the runs of a benchmark beside the archived runtimes of the same dimensions and functions."""
    cells = sorted({(d, function) for _, d, function in results})
    own: list[Algorithm] = []
    for entrant in dict.fromkeys(entrant for entrant, _, _ in results):
        mine = {(d, f): Runtimes.of(list(found.values())) for (who, d, f), found in results.items() if who == entrant}
        art = {cell: {i: runs.art(i) for i in range(runs.hits.shape[1])} for cell, runs in mine.items()}
        solved = {cell: (runs.reached(rung(SOLVED)), len(runs.ends)) for cell, runs in mine.items()}
        own.append(Algorithm(entrant.label, art, {**solved}, mine))
    archived = {
        name: Algorithm(
            name,
            {cell: table[cell].art for cell in cells if cell in table},
            {cell: table[cell].solved for cell in cells if cell in table},
        )
        for name, table in reference.items()
    }
    return Comparison([*own, *archived.values()], archived.get(baseline_of_archive(reference) or ""), cells)


def is_ratio(value: float) -> bool:
    """Return True for a ratio of two finite runtimes."""
    return isfinite(value) and value > 0
