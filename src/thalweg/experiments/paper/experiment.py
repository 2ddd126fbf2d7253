"""What an experiment consists of: its settings, and the units of work that they make."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from thalweg.experiments.paper.arms import ARMS, SIGMA0, population
from thalweg.validation import as_count

FIRST_SEED = 1000
"""Seeds below it served to choose the constants of the library; no result is reported from them."""

POINTS = 60
"""About how many points of a run are kept."""


class Unit(NamedTuple):
    """The smallest piece of work, and one file: one arm on one function from a block of seeds."""

    experiment: str
    function: str
    dimension: int
    method: str
    """The name of the arm."""
    first: int
    """The first seed."""
    stop: int
    """The seed after the last."""

    @property
    def seeds(self) -> range:
        """Of the block."""
        return range(self.first, self.stop)

    @property
    def program(self) -> tuple[str, int, str]:
        """Units that have it in common share a compiled program."""
        return self.experiment, self.dimension, self.method

    @property
    def filename(self) -> str:
        """Where its results lie, within the experiment's folder."""
        return f"{self.function}-d{self.dimension}-{ARMS[self.method].slug}-{self.first}-{self.stop - 1}.csv"


@dataclass(frozen=True)
class Experiment:
    """All arms on all functions in all dimensions, from the same seeds on the same landscapes."""

    name: str
    functions: tuple[str, ...]
    generations: Mapping[int, int]
    """Of every run, by dimension: the same for all arms, so that all are seen at the same evaluations."""
    marks: Mapping[int, tuple[int, ...]]
    """Evaluations that are kept whatever else is, by dimension."""
    arms: tuple[str, ...] = tuple(ARMS)
    literal_seeds: Mapping[int, int] = field(default_factory=dict[int, int])
    """By dimension, how many seeds at most the paper's literal algorithm runs from, where it is too expensive for all."""
    block: int = 10
    """Seeds a unit: the paper's 10 and 20 seeds are whole blocks of a larger set."""

    def units(self, seeds: int) -> list[Unit]:
        """The work for that many seeds; more seeds add units and change none, if both numbers are multiples of the block."""
        stop = FIRST_SEED + as_count(seeds, "seeds")
        units: list[Unit] = []
        for d in self.generations:
            for method in self.arms:
                most = self.literal_seeds.get(d) if ARMS[method].literal else None
                end = stop if most is None else min(stop, FIRST_SEED + most)
                for function in self.functions:
                    for first in range(FIRST_SEED, end, self.block):
                        units.append(Unit(self.name, function, d, method, first, min(first + self.block, end)))
        return units

    def grid(self, d: int) -> np.ndarray:
        """The evaluations at which the best value is kept: whole generations, close to evenly spaced on a logarithmic axis.

        >>> Experiment("e", ("sphere",), {2: 100}, {2: (500,)}).grid(2)[[0, 1, -1]].tolist()
        [20, 40, 2000]
        """
        n, generations = population(d), self.generations[d]
        kept = np.rint(np.geomspace(1, generations, POINTS))
        marked = [mark // n for mark in self.marks.get(d, ()) if n <= mark <= n * generations]
        late = np.ceil(0.9 * generations)  # whether a run still improved in its last tenth
        return n * np.unique(np.concatenate([kept, marked, [late]])).astype(int)

    def cost(self, unit: Unit) -> float:
        """About how many seconds of a core the unit takes, to tell the time left; measured, and 1 for its part of compiling."""
        arm, d = ARMS[unit.method], unit.dimension
        generation = 1e-5 * d if arm.baseline else 2.5e-3 * d**1.5 if arm.literal else 1e-4 * d
        return 1.0 + generation * self.generations[d] * len(unit.seeds)

    def settings(self) -> dict[str, Any]:
        """What must be the same for results to belong together, as JSON has it. The number of seeds need not."""
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
