"""Experiments that compare algorithms on functions: their settings, units of work, and files."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple

from thalweg._common.checks import as_count
from thalweg.storage.atomic import write_text
from thalweg_studies.common.algorithms import ALGORITHMS, FIGURE
from thalweg_studies.common.progress import OnProgress, silent
from thalweg_studies.common.results import ResultsFolder, open_results
from thalweg_studies.common.study import Result, Study
from thalweg_studies.common.work import execute

FIRST_SEED = 1000
"""The first seed of reported results; lower ones served to choose the constants of the library."""

FORMAT = "thalweg paper results, 2"


class Case(NamedTuple):
    """One algorithm on one function in one dimension."""

    function: str
    dimension: int
    method: str
    """The name of the algorithm."""


class SeedBlock(NamedTuple):
    """The unit of work of an experiment: one algorithm on one function from a block of seeds."""

    experiment: str
    function: str
    dimension: int
    method: str
    """The name of the algorithm."""
    first: int
    """The first seed of the block."""
    stop: int
    """The seed after the last."""

    @property
    def case(self) -> Case:
        """The case that the block is part of."""
        return Case(self.function, self.dimension, self.method)

    @property
    def seeds(self) -> range:
        """The seeds of the block."""
        return range(self.first, self.stop)

    @property
    def stem(self) -> str:
        """The name of its file without the ending."""
        return f"{self.function}-d{self.dimension}-{ALGORITHMS[self.method].slug}-{self.first}-{self.stop - 1}"


@dataclass(frozen=True)
class Experiment(Study[SeedBlock, Result], Generic[Result]):
    """All algorithms on all functions in all dimensions, from the same seeds."""

    name: str
    functions: tuple[str, ...]
    generations: Mapping[int, int]
    """Generations of every run, by dimension; equal for all algorithms, so that all are compared at equal evaluations."""
    algorithms: tuple[str, ...] = FIGURE
    """The names of the algorithms."""
    block: int = 10
    """Seeds per unit. The paper's 10 and 20 seeds are multiples of it, so they are part of a larger set."""

    format = FORMAT
    suffix = ".csv"
    """The ending of the units' files."""

    def units(self, seeds: int) -> list[SeedBlock]:
        """Return the work for that many seeds. Multiples of `block` only add units to those of fewer seeds."""
        stop = FIRST_SEED + as_count(seeds, "seeds")
        units: list[SeedBlock] = []
        for d in self.generations:
            for method in self.algorithms:
                most = ALGORITHMS[method].most_seeds
                end = stop if most is None else min(stop, FIRST_SEED + most)
                for function in self.functions:
                    for first in range(FIRST_SEED, end, self.block):
                        units.append(SeedBlock(self.name, function, d, method, first, min(first + self.block, end)))
        return units

    def recorded(self, manifest: dict[str, Any]) -> dict[str, Any]:
        return manifest.setdefault("experiments", {}).setdefault(self.name, self.settings())

    def part(self, unit: SeedBlock) -> str:
        return f"{unit.experiment}/{unit.stem}{self.suffix}"

    def cost(self, unit: SeedBlock) -> float:
        """Estimate the seconds of one core that a unit takes, with 1 for its share of compiling; from measurements."""
        algorithm, d = ALGORITHMS[unit.method], unit.dimension
        slow = 2.2e-3 * d if algorithm.literal else 1e-4 * d
        generation = 1.5e-2 if algorithm.most_seeds else 1e-5 * d if algorithm.baseline else slow
        return 1.0 + generation * self.generations[d] * len(unit.seeds)

    def program(self, unit: SeedBlock) -> tuple[Any, ...]:
        """Return a key that is equal for units that share a compiled program: one process does them all."""
        return unit.dimension, unit.method

    def groups(self, units: Sequence[SeedBlock]) -> list[list[SeedBlock]]:
        """Group units by program, the most expensive first, so that none is left for the end.

        Equally expensive ones are ordered by seed: after an interruption all algorithms have about as many runs.
        """
        groups: dict[tuple[Any, ...], list[SeedBlock]] = {}
        for unit in units:
            groups.setdefault(self.program(unit), []).append(unit)
        return sorted(groups.values(), key=lambda group: (-sum(map(self.cost, group)), group[0].first))

    @abstractmethod
    def join(self, blocks: Sequence[Result]) -> Result:
        """Join the results of several blocks of seeds."""

    @abstractmethod
    def tidy(self, cases: Mapping[Case, Result]) -> str:
        """Return all results as one tidy CSV table."""


def compute(
    folder: Path, experiment: Experiment[Result], seeds: int, workers: int = 1, report: OnProgress = silent
) -> dict[Case, Result]:
    """Run what a folder lacks of an experiment, write its tidy table, and return its results."""
    results, units = open_results(folder, experiment), experiment.units(seeds)
    execute(results, units, workers, report)
    cases = {case: experiment.join(blocks) for case, blocks in _by_case(results, units).items()}
    write_text(table_path(folder, experiment), experiment.tidy(cases))
    return cases


def table_path(folder: Path, experiment: Experiment[Any]) -> Path:
    """Return the path of an experiment's tidy table."""
    return folder / f"{experiment.name}.csv"


def _by_case(results: ResultsFolder[SeedBlock, Result], units: Iterable[SeedBlock]) -> dict[Case, list[Result]]:
    """Return the results of each case, seeds ascending."""
    parts: dict[Case, list[Result]] = {}
    for unit in sorted(units):
        result = results.read(unit)
        if result is None:
            raise ValueError(f"{results.path(unit)} is missing or damaged; the same command again computes it, and only it")
        parts.setdefault(unit.case, []).append(result)
    return parts
