"""The runs behind docs/bbob.md, their ratios, and the format in which tables show them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf, isnan, sqrt
from typing import Any

from bbob_pack import FLOW, LATENT, SIZES, load, with_population

from thalweg_studies.bbob.entrant import Entrant
from thalweg_studies.bbob.plan import DIMENSIONS, FUNCTIONS
from thalweg_studies.bbob.record import SOLVED, Run, rung
from thalweg_studies.bbob.runtime import Runtimes, geometric_mean, hardest
from thalweg_studies.bbob.summary import ALL, AT_ALL, FIXED, Row, compared

HARDEST = "hardest, all"


class Study:
    """The runs of several files; ratios are computed once."""

    def __init__(self, contents: Sequence[Mapping[str, Any]]) -> None:
        self.contents, self.results = contents, load(contents)
        self.rows: Callable[[Entrant, Entrant], list[Row]] = cache(lambda a, b: compared(self.results, a, b))

    def dims(self, *who: Entrant) -> list[int]:
        """Return the dimensions in which all of the entrants were run."""
        return [d for d in DIMENSIONS if all((one, d, FUNCTIONS[0]) in self.results for one in who)]

    def settings(self) -> list[tuple[str, int]]:
        """Return the populations and dimensions in which the flow and the latent were run."""
        return [(size, d) for size in SIZES for d in self.dims(with_population(FLOW, size), with_population(LATENT, size))]

    def pairs(self, who: Entrant, baseline: Entrant, d: int, f: int) -> list[tuple[Run, Run]]:
        """Return the pairs of runs of two entrants with the same seed on the same instance."""
        own, other = (self.results[one, d, f] for one in (who, baseline))
        return [(own[key], other[key]) for key in sorted(own.keys() & other.keys())]

    def hardest(self, who: Entrant, baseline: Entrant, d: int) -> dict[int, Row]:
        """Return ratios by function, `ALL` their mean, at the hardest target that both reach in all runs, else in some."""
        own = [row for row in self.rows(who, baseline) if row.dimension == d]
        found = {row.function: row for row in own if row.rule == AT_ALL}
        return found | {row.function: row for row in own if row.rule == HARDEST}

    def mean(self, who: Entrant, baseline: Entrant, dims: Sequence[int], functions: Sequence[int]) -> str:
        """Format the geometric mean of the ratios of `hardest` over functions and dimensions, with its interval."""
        found = []
        for d in dims:
            for f in functions:
                own, other = zip(*self.pairs(who, baseline, d, f), strict=True)
                found.append(hardest(Runtimes.of(own), Runtimes.of(other), f))
        value, (low, high), _ = geometric_mean([each.ratio for each in found if each is not None])
        return f"{value:.2f} [{low:.2f}, {high:.2f}]"

    def at(self, who: Entrant, baseline: Entrant, d: int, target: float) -> dict[int, Row]:
        """Return ratios at a fixed target, by function."""
        own = (row for row in self.rows(who, baseline) if row.dimension == d and row.rule == FIXED)
        return {row.function: row for row in own if row.target == target}

    def solved(self, who: Entrant, d: int) -> set[tuple[int, tuple[int, int]]]:
        """Return pairs of a function and a (seed, instance) whose run reached 1e-8."""
        i = rung(SOLVED)
        return {(f, k) for f in FUNCTIONS for k, run in self.results[who, d, f].items() if run.hits[i] < inf}

    def runs(self, who: Entrant, d: int) -> int:
        """Return the number of runs of an entrant in a dimension."""
        return sum(len(self.results[who, d, f]) for f in FUNCTIONS)


def short(row: Row | None) -> str:
    """Format a ratio alone, with a star where it is at a target that not all runs reach."""
    return "-" if row is None or isnan(row.ratio) else f"{row.ratio:.2f}{'*' * (row.rule == AT_ALL)}"


def full(row: Row | None) -> str:
    """Format a ratio with its interval."""
    return short(row) if row is None or isnan(row.ratio) else f"{short(row)} [{row.low:.2f}, {row.high:.2f}]"


def with_target(row: Row | None) -> str:
    """Format a ratio with its interval, the target unless it is 1e-8, and the numbers of runs that reach it unless all do."""
    if row is None or row.function == ALL or row.target <= 1.01 * SOLVED:
        return full(row)
    counts = f" ({row.reached}, {row.baseline_reached} of {row.runs})" * (row.rule == AT_ALL)
    return f"{full(row)} at {float(f'{row.target:.1g}'):g}{counts}"


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Return the 95% interval of a share (E. B. Wilson, 1927), as shares.

    >>> [round(end, 3) for end in wilson(5, 10)]
    [0.237, 0.763]
    """
    z, p = 1.959964, successes / n
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def share(successes: int, n: int) -> str:
    """Format a count with its share and interval."""
    low, high = wilson(successes, n)
    return f"{successes} of {n}: {successes / n:.0%} [{low:.0%}, {high:.0%}]"


def verdict(ratio: float, most: float) -> str:
    """Format a ratio beside the largest value aimed at."""
    return f"{ratio:.3f} {'of' if ratio <= most else 'missed'} {most}"
