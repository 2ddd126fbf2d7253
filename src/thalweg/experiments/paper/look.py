"""What figures 1 to 3 have in common: runs in dimension 2 that are looked at, and the tidy file of them."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from thalweg.experiments.paper.arms import ARMS, population
from thalweg.experiments.paper.course import Course, enclosing, follow
from thalweg.experiments.paper.experiment import FIRST_SEED, Experiment
from thalweg.objectives import OBJECTIVES, Objective
from thalweg.validation import as_count

SHOWN = FIRST_SEED
"""The seed of the run that is drawn: the first one that results are reported from. It was not picked."""

MASSES = (0.95, 0.75, 0.5, 0.25)
"""The parts of a search distribution that its lines enclose."""

Limits = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Look(Experiment):
    """Runs on one function of two variables, which is neither moved nor turned, so that all runs fit one picture."""

    x0: tuple[float, float] = (0.0, 0.0)
    sigma0: float = 1.0
    masses: tuple[float, ...] = MASSES
    iterations: tuple[int, ...] = ()
    """Those that the paper shows; iteration k is the distribution after k updates, with the points that it draws."""
    limits: Limits = ((-1.0, 1.0), (-1.0, 1.0))
    """What the picture covers, (left, right) and (bottom, top)."""
    contours: int = 9
    """How many lines of the landscape are drawn."""

    @property
    def objective(self) -> Objective:
        """The function."""
        return OBJECTIVES[self.functions[0]]

    @property
    def radii(self) -> tuple[float, ...]:
        """Of the circles whose images enclose the masses."""
        return tuple(map(enclosing, self.masses))

    @property
    def start(self) -> str:
        """The setting, for people."""
        return f"start ({self.x0[0]:g}, {self.x0[1]:g}), sigma0 = {self.sigma0:g}, N = {population(2)} points per iteration"

    def settings(self) -> dict[str, Any]:
        return {
            "functions": list(self.functions),
            "generations": {"2": self.generations[2]},
            "arms": {name: repr(ARMS[name].strategy(2)) for name in self.arms},
            "population": "10 d",
            "x0": list(self.x0),
            "sigma0": self.sigma0,
            "first_seed": FIRST_SEED,
        }

    def run(self, seeds: int) -> dict[str, Course]:
        """All arms from that many seeds, by name; the first run is the one to be drawn."""
        chosen = range(SHOWN, SHOWN + as_count(seeds, "seeds"))
        run = partial(follow, objective=self.objective, x0=self.x0, sigma0=self.sigma0, seeds=chosen, radii=self.radii)
        return {name: run(ARMS[name].strategy(2), generations=self.generations[2]) for name in self.arms}


HEAD = ("function", "dimension", "method", "seed", "iteration", "evaluations", "entropy", "best_f", "mean_1", "mean_2")


def tidy(look: Look, courses: Mapping[str, Course]) -> str:
    """One row a run and iteration, as CSV; `evaluations` and `best_f` include the points of the iteration."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    n = population(2)
    for name, course in courses.items():
        for run, (entropy, best, mean) in enumerate(_rows(course)):
            for k, (each, value, centre) in enumerate(zip(entropy, best, mean, strict=True)):
                row = (look.functions[0], 2, name, SHOWN + run, k, n * (k + 1), repr(each), repr(value), *map(repr, centre))
                writer.writerow(row)
    return out.getvalue()


def _rows(course: Course) -> Sequence[tuple[list[float], list[float], list[list[float]]]]:
    return list(zip(course.entropy.tolist(), course.best.tolist(), course.mean.tolist(), strict=True))
