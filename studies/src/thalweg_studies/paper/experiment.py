"""What an experiment consists of: its settings, the units of work that they make, and what each unit yields."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from thalweg._common.checks import as_count
from thalweg_studies.paper.arms import ARMS, FIGURE

FIRST_SEED = 1000
"""Seeds below it served to choose the constants of the library; no result is reported from them."""

Result = TypeVar("Result")
"""What the runs of a unit yield."""


class Case(NamedTuple):
    """One arm on one function in one dimension."""

    function: str
    dimension: int
    method: str
    """The name of the arm."""


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
    def case(self) -> Case:
        """What all blocks of seeds have in common."""
        return Case(self.function, self.dimension, self.method)

    @property
    def seeds(self) -> range:
        """Of the block."""
        return range(self.first, self.stop)

    @property
    def stem(self) -> str:
        """The name of its file within the experiment's folder, without the ending."""
        return f"{self.function}-d{self.dimension}-{ARMS[self.method].slug}-{self.first}-{self.stop - 1}"


@dataclass(frozen=True)
class Experiment(ABC, Generic[Result]):
    """All arms on all functions in all dimensions, from the same seeds."""

    name: str
    functions: tuple[str, ...]
    generations: Mapping[int, int]
    """Of every run, by dimension: the same for all arms, so that all are seen at the same evaluations."""
    arms: tuple[str, ...] = FIGURE
    block: int = 10
    """Seeds a unit: the paper's 10 and 20 seeds are whole blocks of a larger set."""

    suffix = ".csv"
    """The ending of the units' files."""
    exact = True
    """Whether the same seed must give the same digits: a folder of other versions is then refused."""

    def units(self, seeds: int) -> list[Unit]:
        """The work for that many seeds; more seeds add units and change none, if both numbers are multiples of the block."""
        stop = FIRST_SEED + as_count(seeds, "seeds")
        units: list[Unit] = []
        for d in self.generations:
            for method in self.arms:
                most = ARMS[method].most_seeds
                end = stop if most is None else min(stop, FIRST_SEED + most)
                for function in self.functions:
                    for first in range(FIRST_SEED, end, self.block):
                        units.append(Unit(self.name, function, d, method, first, min(first + self.block, end)))
        return units

    def cost(self, unit: Unit) -> float:
        """About how many seconds of a core the unit takes, to tell the time left; measured, and 1 for its part of compiling."""
        arm, d = ARMS[unit.method], unit.dimension
        generation = 1.5e-2 if arm.most_seeds else 1e-5 * d if arm.baseline else 2.2e-3 * d if arm.literal else 1e-4 * d
        return 1.0 + generation * self.generations[d] * len(unit.seeds)

    def program(self, unit: Unit) -> tuple[Any, ...]:
        """Units that have it in common share a compiled program, and are done by one process."""
        return unit.dimension, unit.method

    def begun(self, unit: Unit) -> float | None:
        """The part of the unit's cost that is spent already, from 0 to 1; None if that is not known before it is finished."""
        return None

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What must be the same for results to belong together, as JSON has it. The number of seeds need not."""

    @abstractmethod
    def run(self, unit: Unit) -> Result:
        """Do the work of a unit."""

    @abstractmethod
    def encode(self, unit: Unit, result: Result) -> bytes:
        """The file of a unit: the same result gives the same bytes."""

    @abstractmethod
    def decode(self, unit: Unit, content: bytes) -> Result:
        """What a unit's file holds; raises a ValueError, KeyError or TypeError if it is not whole."""

    @abstractmethod
    def join(self, blocks: Sequence[Result]) -> Result:
        """Several blocks of seeds as one."""

    @abstractmethod
    def tidy(self, cases: Mapping[Case, Result]) -> str:
        """One tidy file of everything, as CSV."""
