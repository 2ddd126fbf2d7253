"""Experiments that compare how fast algorithms descend, by the best value so far of every run at a grid of evaluations."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thalweg import Optimizer, Strategy, run_many
from thalweg.objectives import translated
from thalweg_studies.common.algorithms import ALGORITHMS, SIGMA0, population
from thalweg_studies.common.experiment import FIRST_SEED, Case, Experiment, SeedBlock
from thalweg_studies.paper import landscapes

POINTS = 60
"""The approximate number of values that are kept of a run."""


class Row(NamedTuple):
    """One row of the tidy table: a run at one number of evaluations."""

    function: str
    dimension: int
    method: str
    seed: int
    evaluations: int
    best_f: float


@dataclass(frozen=True)
class Comparison(Experiment[np.ndarray]):
    """All algorithms from x0 = 0 on the same translated landscapes; a result holds the best values, (seeds, grid)."""

    marks: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Evaluations that are always part of the grid, by dimension."""

    def grid(self, d: int) -> np.ndarray:
        """Return the evaluations at which the best value is kept: whole generations, about evenly spaced on a log axis.

        >>> Comparison("e", ("sphere",), {2: 100}, marks={2: (500,)}).grid(2)[[0, 1, -1]].tolist()
        [20, 40, 2000]
        """
        n, generations = population(d), self.generations[d]
        kept = np.rint(np.geomspace(1, generations, POINTS))
        marked = [mark // n for mark in self.marks.get(d, ()) if n <= mark <= n * generations]
        late = np.ceil(0.9 * generations)  # tells whether a run still improved in its last tenth
        return n * np.unique(np.concatenate([kept, marked, [late]])).astype(int)

    def settings(self) -> dict[str, Any]:
        return {
            "functions": list(self.functions),
            "generations": {str(d): generations for d, generations in self.generations.items()},
            "evaluations": {str(d): self.grid(d).tolist() for d in self.generations},
            "arms": {name: repr(ALGORITHMS[name].strategy(2)) for name in self.algorithms},
            "population": "10 d",
            "x0": 0.0,
            "sigma0": SIGMA0,
            "first_seed": FIRST_SEED,
            "block": self.block,
        }

    def run(self, unit: SeedBlock) -> np.ndarray:
        d, algorithm = unit.dimension, ALGORITHMS[unit.method]
        strategy, generations = algorithm.strategy(d), self.generations[d]
        if not strategy.traceable:
            best = np.stack([best_untraced(strategy, unit.function, d, seed, generations) for seed in unit.seeds])
        else:
            best = run_many(
                strategy,
                landscapes.family(self.functions),
                np.zeros(d),
                SIGMA0,
                seeds=list(unit.seeds),
                generations=generations,
                args=(landscapes.draw(self.functions, unit.function, d, unit.seeds),),
                # side by side, all runs would wait for the one whose L-BFGS takes longest
                batch_size=1 if algorithm.literal else None,
            ).best
        return best[:, self.grid(d) // population(d) - 1]

    def encode(self, unit: SeedBlock, result: np.ndarray) -> bytes:
        grid = self.grid(unit.dimension)
        if result.shape != (len(unit.seeds), len(grid)):
            raise ValueError(f"result must have shape {(len(unit.seeds), len(grid))}, seeds and grid, got {result.shape}")
        return as_csv(rows(unit.case, unit.seeds, grid, result)).encode()

    def decode(self, unit: SeedBlock, content: bytes) -> np.ndarray:
        values = [float(line["best_f"]) for line in csv.DictReader(io.StringIO(content.decode()))]
        return np.array(values).reshape(len(unit.seeds), len(self.grid(unit.dimension)))

    def join(self, blocks: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(blocks)

    def tidy(self, cases: Mapping[Case, np.ndarray]) -> str:
        lines: list[Row] = []
        for case, best in cases.items():
            lines += rows(case, range(FIRST_SEED, FIRST_SEED + len(best)), self.grid(case.dimension), best)
        return as_csv(lines)


@dataclass(frozen=True)
class Curves:
    """The runs of one algorithm, as `convergence_figure` draws them."""

    evaluations: np.ndarray
    """The grid of evaluations, (points,)."""
    best: np.ndarray
    """The best value so far, (seeds, points)."""


def panels(comparison: Comparison, cases: Mapping[Case, np.ndarray]) -> dict[tuple[str, int], dict[str, Curves]]:
    """Return the curves of each algorithm, by function and dimension."""
    return {
        (function, d): {
            method: Curves(comparison.grid(d), cases[Case(function, d, method)]) for method in comparison.algorithms
        }
        for function in comparison.functions
        for d in comparison.generations
    }


def best_untraced(strategy: Strategy, function: str, d: int, seed: int, generations: int) -> np.ndarray:
    """Return the best values (generations,) of one run of a strategy that JAX cannot trace."""
    objective, optimizer = translated(function, d, seed), Optimizer(np.zeros(d), SIGMA0, method=strategy, seed=seed)
    lowest: list[float] = []
    for _ in range(generations):
        points = optimizer.ask()
        values = np.asarray(objective(points))
        optimizer.tell(points, values)
        lowest.append(float(values.min()))
    return np.minimum.accumulate(lowest)


def as_csv(lines: Iterable[Row]) -> str:
    """Return rows as CSV, with numbers to the last digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows((*row[:-1], repr(row.best_f)) for row in lines)
    return out.getvalue()


def rows(case: Case, seeds: range, grid: np.ndarray, best: np.ndarray) -> list[Row]:
    """Return the rows of a case, run by run, evaluations ascending."""
    return [
        Row(*case, seed, evaluations, value)
        for seed, values in zip(seeds, best.tolist(), strict=True)
        for evaluations, value in zip(grid.tolist(), values, strict=True)
    ]
