"""Experiments that compare how fast arms descend: the best value so far of every run at a grid of evaluations."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thalweg.batch.run_many import run_many
from thalweg.objectives import translated
from thalweg.search.run import Optimizer
from thalweg.strategies.strategy import Strategy
from thalweg_studies.paper import landscapes
from thalweg_studies.paper.arms import ARMS, SIGMA0, population
from thalweg_studies.paper.experiment import FIRST_SEED, Case, Experiment, Unit

POINTS = 60
"""About how many points of a run are kept."""


class Row(NamedTuple):
    """One run at one number of evaluations."""

    function: str
    dimension: int
    method: str
    seed: int
    evaluations: int
    best_f: float


@dataclass(frozen=True)
class Race(Experiment[np.ndarray]):
    """All arms from x0 = 0 on the same translated landscapes; a result is an array of best values (seeds, grid)."""

    marks: Mapping[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Evaluations that are kept whatever else is, by dimension."""

    def grid(self, d: int) -> np.ndarray:
        """The evaluations at which the best value is kept: whole generations, close to evenly spaced on a logarithmic axis.

        >>> Race("e", ("sphere",), {2: 100}, marks={2: (500,)}).grid(2)[[0, 1, -1]].tolist()
        [20, 40, 2000]
        """
        n, generations = population(d), self.generations[d]
        kept = np.rint(np.geomspace(1, generations, POINTS))
        marked = [mark // n for mark in self.marks.get(d, ()) if n <= mark <= n * generations]
        late = np.ceil(0.9 * generations)  # whether a run still improved in its last tenth
        return n * np.unique(np.concatenate([kept, marked, [late]])).astype(int)

    def settings(self) -> dict[str, Any]:
        return {
            "functions": list(self.functions),
            "generations": {str(d): generations for d, generations in self.generations.items()},
            "evaluations": {str(d): self.grid(d).tolist() for d in self.generations},
            "arms": {name: repr(ARMS[name].strategy(2)) for name in self.arms},
            "population": "10 d",
            "x0": 0.0,
            "sigma0": SIGMA0,
            "first_seed": FIRST_SEED,
            "block": self.block,
        }

    def run(self, unit: Unit) -> np.ndarray:
        d, arm = unit.dimension, ARMS[unit.method]
        strategy, generations = arm.strategy(d), self.generations[d]
        if not strategy.traceable:
            best = np.stack([best_by_hand(strategy, unit.function, d, seed, generations) for seed in unit.seeds])
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
                batch_size=1 if arm.literal else None,
            ).best
        return best[:, self.grid(d) // population(d) - 1]

    def encode(self, unit: Unit, result: np.ndarray) -> bytes:
        grid = self.grid(unit.dimension)
        if result.shape != (len(unit.seeds), len(grid)):
            raise ValueError(f"result must have shape {(len(unit.seeds), len(grid))}, seeds and grid, got {result.shape}")
        return as_csv(rows(unit.case, unit.seeds, grid, result)).encode()

    def decode(self, unit: Unit, content: bytes) -> np.ndarray:
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
    """The runs of one arm, as `thalweg.plots.convergence` draws them."""

    evaluations: np.ndarray
    """The grid, (points,)."""
    best: np.ndarray
    """Best value so far, (seeds, points)."""


def panels(race: Race, cases: Mapping[Case, np.ndarray]) -> dict[tuple[str, int], dict[str, Curves]]:
    """Curves by arm, for each function and dimension."""
    return {
        (function, d): {method: Curves(race.grid(d), cases[Case(function, d, method)]) for method in race.arms}
        for function in race.functions
        for d in race.generations
    }


def best_by_hand(strategy: Strategy, function: str, d: int, seed: int, generations: int) -> np.ndarray:
    """The best values (generations,) of one run of a strategy that JAX cannot trace."""
    objective, optimizer = translated(function, d, seed), Optimizer(np.zeros(d), SIGMA0, method=strategy, seed=seed)
    lowest: list[float] = []
    for _ in range(generations):
        points = optimizer.ask()
        values = np.asarray(objective(points))
        optimizer.tell(points, values)
        lowest.append(float(values.min()))
    return np.minimum.accumulate(lowest)


def as_csv(lines: Iterable[Row]) -> str:
    """Tidy rows as text, numbers to the last digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows((*row[:-1], repr(row.best_f)) for row in lines)
    return out.getvalue()


def rows(case: Case, seeds: range, grid: np.ndarray, best: np.ndarray) -> list[Row]:
    """Run by run, evaluations ascending."""
    return [
        Row(*case, seed, evaluations, value)
        for seed, values in zip(seeds, best.tolist(), strict=True)
        for evaluations, value in zip(grid.tolist(), values, strict=True)
    ]
