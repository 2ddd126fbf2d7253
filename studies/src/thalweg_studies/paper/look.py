"""What figures 1 to 3 have in common: runs in dimension 2 that are looked at, and the files of them."""

import csv
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.objectives import OBJECTIVES, Objective
from thalweg_studies.paper.arms import ARMS, population
from thalweg_studies.paper.course import CORNERS, Course, enclosing, follow
from thalweg_studies.paper.experiment import FIRST_SEED, Case, Experiment, Unit

SHOWN = FIRST_SEED
"""The seed of the run that is drawn: the first one that results are reported from. It was not picked."""

MASSES = (0.95, 0.75, 0.5, 0.25)
"""The parts of a search distribution that its lines enclose."""

FEW = 20
"""Fewer runs than these decide nothing."""

Limits = tuple[tuple[float, float], tuple[float, float]]

BROKEN = (OSError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error, struct.error)
"""What the reader of zipped arrays raises, besides a ValueError and the like, at a file that is not whole."""


def unbend(x: Sequence[float]) -> tuple[float, float]:
    """(x1, x2 - x1^2): in these coordinates the valley of the Rosenbrock function is the first axis."""
    return x[0], x[1] - x[0] ** 2


UNBENT = Objective(
    "rosenbrock-unbent",
    lambda u: (1 - u[..., 0]) ** 2 + 100 * u[..., 1] ** 2,
    lambda d: np.array([1.0, 0.0]),
    "the Rosenbrock function of two variables in coordinates in which its valley is straight",
    least_dimension=2,
)
"""What a run costs that need not bend: the control for all that is said of the valley."""


@dataclass(frozen=True)
class Look(Experiment[Course]):
    """Runs on functions of two variables, neither moved nor turned, so that all runs fit one picture: that of the first one.

    Only of the run that is drawn the points and isolines are kept; of the others, what is compared.
    """

    x0: tuple[float, float] = (0.0, 0.0)
    sigma0: float = 1.0
    masses: tuple[float, ...] = MASSES
    iterations: tuple[int, ...] = ()
    """Those that the paper shows; iteration k is the distribution after k updates, with the points that it draws."""
    drawn: int = 60
    """The last iteration in the pictures at most; the runs go on, for what is said of them."""
    limits: Limits = ((-1.0, 1.0), (-1.0, 1.0))
    """What the picture covers, (left, right) and (bottom, top)."""
    contours: int = 6
    """How many heights of the landscape are told apart."""

    suffix = ".npz"

    @property
    def objective(self) -> Objective:
        """The function that is drawn."""
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
            "masses": list(self.masses),
            "drawn": self.drawn,
            "first_seed": FIRST_SEED,
            "block": self.block,
        }

    def run(self, unit: Unit) -> Course:
        strategy, generations = ARMS[unit.method].strategy(2), self.generations[2]
        objective, x0 = (UNBENT, unbend(self.x0)) if unit.function == UNBENT.name else (OBJECTIVES[unit.function], self.x0)
        course = follow(strategy, objective, x0, self.sigma0, seeds=list(unit.seeds), generations=generations, radii=self.radii)
        kept, times = int(SHOWN in unit.seeds), self.drawn + 1  # the run that is drawn is the first of its block
        return course._replace(points=course.points[:kept, :times], isolines=course.isolines[:kept, :times])

    def shapes(self, unit: Unit) -> Course:
        """Of the arrays that a unit yields."""
        kept, runs = (int(SHOWN in unit.seeds), self.drawn + 1), (len(unit.seeds), self.generations[2] + 1)
        return Course((*kept, population(2), 2), (*kept, len(self.masses), CORNERS, 2), (*runs, 2), runs, runs, runs)

    def encode(self, unit: Unit, result: Course) -> bytes:
        found, expected = tuple(np.shape(each) for each in result), tuple(self.shapes(unit))
        if found != expected:
            raise ValueError(f"result must have arrays of the shapes {expected}, got {found}")
        out = io.BytesIO()
        arrays: dict[str, Any] = {name: np.asarray(each, float) for name, each in result._asdict().items()}
        # numpy dates what it zips 1980, so the same arrays give the same bytes; the name tells them from another unit's
        np.savez(out, unit=np.array(unit.stem), **arrays)
        return out.getvalue()

    def decode(self, unit: Unit, content: bytes) -> Course:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                damaged = archive.testzip()  # before any length in it is believed
            if damaged is not None:
                raise ValueError(f"{damaged} is damaged")
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                course = Course(*(arrays[name] for name in Course._fields))
        except BROKEN as error:
            raise ValueError(f"not a file of arrays, or not whole: {error}") from error
        self.encode(unit, course)
        return course

    def join(self, blocks: Sequence[Course]) -> Course:
        return Course(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))

    def tidy(self, cases: Mapping[Case, Course]) -> str:
        """One row a run and iteration; evaluations, best f and cells include the points of the iteration."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEAD)
        for case, course in cases.items():
            columns = np.concatenate([np.stack([course.best, course.entropy, course.cells], -1), course.mean], -1)
            for seed, rows in enumerate(columns.tolist(), FIRST_SEED):
                for k, (best, entropy, cells, *mean) in enumerate(rows):
                    row = (k, population(2) * (k + 1), repr(best), repr(entropy), int(cells), *map(repr, mean))
                    writer.writerow((*case, seed, *row))
        return out.getvalue()


HEAD = (
    "function", "dimension", "method", "seed", "iteration", "evaluations", "best_f", "entropy", "cells", "mean_1", "mean_2",
)  # fmt: skip
