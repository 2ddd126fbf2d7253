"""The experiment behind figures 1 to 3: search distributions of runs in dimension 2, and their files."""

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
from thalweg_studies.common.algorithms import ALGORITHMS, population
from thalweg_studies.common.experiment import FIRST_SEED, Case, Experiment, SeedBlock
from thalweg_studies.paper.trajectory import CORNERS, DistributionTrajectory, enclosing, record

SHOWN = FIRST_SEED
"""The seed of the run that is drawn: the first of those for results, not a chosen one."""

MASSES = (0.95, 0.75, 0.5, 0.25)
"""The shares of a search distribution that its isolines enclose."""

FEW = 20
"""The smallest number of runs that allows a verdict."""

Limits = tuple[tuple[float, float], tuple[float, float]]

BROKEN = (OSError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error, struct.error)
"""Errors of the reader of zipped arrays at a damaged file, besides a ValueError and the like."""


def unbend(x: Sequence[float]) -> tuple[float, float]:
    """Return (x1, x2 - x1^2), coordinates in which the valley of the Rosenbrock function is the first axis."""
    return x[0], x[1] - x[0] ** 2


UNBENT = Objective(
    "rosenbrock-unbent",
    lambda u: (1 - u[..., 0]) ** 2 + 100 * u[..., 1] ** 2,
    lambda d: np.array([1.0, 0.0]),
    "the Rosenbrock function of two variables in coordinates in which its valley is straight",
    least_dimension=2,
)
"""The same valley without its bend: the control experiment for what is said of the curved one."""


@dataclass(frozen=True)
class SearchDistributions(Experiment[DistributionTrajectory]):
    """Runs on functions of two variables, neither moved nor turned, so that all runs share one landscape.

    Points and isolines are kept of the run that is drawn only; the other runs keep what is compared.
    """

    x0: tuple[float, float] = (0.0, 0.0)
    sigma0: float = 1.0
    masses: tuple[float, ...] = MASSES
    """The shares of the distribution that its isolines enclose."""
    iterations: tuple[int, ...] = ()
    """The iterations that the paper shows; iteration k is the distribution after k updates, with the points drawn from it."""
    drawn: int = 60
    """The last iteration in the figures; the runs go on, for the numbers."""
    limits: Limits = ((-1.0, 1.0), (-1.0, 1.0))
    """The part of the plane in the figure, (left, right) and (bottom, top)."""
    contours: int = 6
    """The number of contour levels of the landscape."""

    suffix = ".npz"

    @property
    def objective(self) -> Objective:
        """The function that is drawn."""
        return OBJECTIVES[self.functions[0]]

    @property
    def radii(self) -> tuple[float, ...]:
        """The radii of the circles whose images enclose the masses."""
        return tuple(map(enclosing, self.masses))

    @property
    def start(self) -> str:
        """The start in words, for captions."""
        return f"start ({self.x0[0]:g}, {self.x0[1]:g}), sigma0 = {self.sigma0:g}, N = {population(2)} points per iteration"

    def settings(self) -> dict[str, Any]:
        return {
            "functions": list(self.functions),
            "generations": {"2": self.generations[2]},
            "arms": {name: repr(ALGORITHMS[name].strategy(2)) for name in self.algorithms},
            "population": "10 d",
            "x0": list(self.x0),
            "sigma0": self.sigma0,
            "masses": list(self.masses),
            "drawn": self.drawn,
            "first_seed": FIRST_SEED,
            "block": self.block,
        }

    def run(self, unit: SeedBlock) -> DistributionTrajectory:
        strategy, generations = ALGORITHMS[unit.method].strategy(2), self.generations[2]
        objective, x0 = (UNBENT, unbend(self.x0)) if unit.function == UNBENT.name else (OBJECTIVES[unit.function], self.x0)
        trajectory = record(
            strategy, objective, x0, self.sigma0, seeds=list(unit.seeds), generations=generations, radii=self.radii
        )
        kept, times = int(SHOWN in unit.seeds), self.drawn + 1  # the run that is drawn is the first of its block
        return trajectory._replace(points=trajectory.points[:kept, :times], isolines=trajectory.isolines[:kept, :times])

    def shapes(self, unit: SeedBlock) -> DistributionTrajectory:
        """Return the shapes of the arrays of a unit."""
        kept, runs = (int(SHOWN in unit.seeds), self.drawn + 1), (len(unit.seeds), self.generations[2] + 1)
        return DistributionTrajectory(
            (*kept, population(2), 2), (*kept, len(self.masses), CORNERS, 2), (*runs, 2), runs, runs, runs
        )

    def encode(self, unit: SeedBlock, result: DistributionTrajectory) -> bytes:
        found, expected = tuple(np.shape(each) for each in result), tuple(self.shapes(unit))
        if found != expected:
            raise ValueError(f"result must have arrays of the shapes {expected}, got {found}")
        out = io.BytesIO()
        arrays: dict[str, Any] = {name: np.asarray(each, float) for name, each in result._asdict().items()}
        # numpy dates what it zips 1980, so the same arrays give the same bytes; the name tells them from another unit's
        np.savez(out, unit=np.array(unit.stem), **arrays)
        return out.getvalue()

    def decode(self, unit: SeedBlock, content: bytes) -> DistributionTrajectory:
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                damaged = archive.testzip()  # before any length in it is believed
            if damaged is not None:
                raise ValueError(f"{damaged} is damaged")
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                trajectory = DistributionTrajectory(*(arrays[name] for name in DistributionTrajectory._fields))
        except BROKEN as error:
            raise ValueError(f"not a file of arrays, or a damaged one: {error}") from error
        self.encode(unit, trajectory)
        return trajectory

    def join(self, blocks: Sequence[DistributionTrajectory]) -> DistributionTrajectory:
        return DistributionTrajectory(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))

    def tidy(self, cases: Mapping[Case, DistributionTrajectory]) -> str:
        """Return one row for each run and iteration; evaluations, best f and cells include the points of the iteration."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(HEAD)
        for case, trajectory in cases.items():
            columns = np.concatenate(
                [np.stack([trajectory.best, trajectory.entropy, trajectory.cells], -1), trajectory.mean], -1
            )
            for seed, rows in enumerate(columns.tolist(), FIRST_SEED):
                for k, (best, entropy, cells, *mean) in enumerate(rows):
                    row = (k, population(2) * (k + 1), repr(best), repr(entropy), int(cells), *map(repr, mean))
                    writer.writerow((*case, seed, *row))
        return out.getvalue()


HEAD = (
    "function", "dimension", "method", "seed", "iteration", "evaluations", "best_f", "entropy", "cells", "mean_1", "mean_2",
)  # fmt: skip
